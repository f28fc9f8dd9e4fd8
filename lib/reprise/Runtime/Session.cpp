// reprise: training steps: initial values, inputs of each step, results, and the state of the run
#include "reprise/Runtime/Session.h"
#include "Loss.h"
#include "reprise/Runtime/File.h"
#include "reprise/Runtime/Hash.h"
#include "reprise/Support/Wording.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

using namespace reprise::runtime;

using Parts = std::vector<std::unique_ptr<DeviceSession>>;

static Error fail(const std::string &name, const std::string &why) {
  return Error::make(name + ": " + why);
}

/// Sorts arrays and their sources into the order of the bundle.
static void sortArrays(const Bundle &bundle, std::vector<ArrayRef> &arrays,
                       std::vector<ResultSource> &sources) {
  std::map<std::string, size_t> numbers;
  for (size_t i = 0; i < arrays.size(); ++i)
    numbers[sources[i].part->resultName(sources[i].array)] = i;
  std::vector<ArrayRef> sortedArrays;
  std::vector<ResultSource> sortedSources;
  for (const Result &result : bundle.results)
    if (auto found = numbers.find(result.name); found != numbers.end()) {
      sortedArrays.push_back(arrays[found->second]);
      sortedSources.push_back(sources[found->second]);
    }
  arrays = std::move(sortedArrays);
  sources = std::move(sortedSources);
}

Session::Session(const Bundle &bundle, const std::string &name) : bundle(bundle), name(name) {}

Session::Session(Executable &executable) : Session(executable.bundle(), executable.name()) {
  add(executable);
}

Session::Session(ProgramGroup &group) : Session(group.bundle(), group.name()) {
  for (size_t i = 0; i < group.size(); ++i)
    add(group.executable(i));
  sortArrays(bundle, arrays, sources);
  this->group = &group;
  ranks = group.ranks();
}

Session::~Session() = default;

void Session::add(Executable &executable) {
  parts.push_back(std::make_unique<DeviceSession>(executable));
  const std::vector<ArrayRef> &own = parts.back()->results();
  for (size_t i = 0; i < own.size(); ++i)
    sources.push_back({parts.back().get(), i});
  arrays.insert(arrays.end(), own.begin(), own.end());
}

const std::vector<ArrayRef> &Session::results() const {
  for (size_t i = 0; i < arrays.size(); ++i)
    arrays[i].data = sources[i].part->read(sources[i].array);
  return arrays;
}

Error Session::setState(const RunState &state) {
  if (Error error = checkRunState(state))
    return error;
  next = state;
  for (auto &part : parts)
    part->setState(state);
  return Error::success();
}

std::optional<size_t> Session::find(const std::string &argument) const {
  for (size_t i = 0; i < bundle.arguments.size(); ++i)
    if (bundle.arguments[i].role < Role::Seed && arrayName(bundle.arguments[i]) == argument)
      return i;
  return std::nullopt;
}

/// ", did you mean 'NAME'?" if the step has an argument of nearly the given name.
static std::string hint(const Bundle &bundle, const std::string &given) {
  std::vector<std::string> names;
  for (const Argument &argument : bundle.arguments)
    if (argument.role < Role::Seed)
      names.push_back(arrayName(argument));
  std::string nearest = reprise::findNearest(given, names);
  return nearest.empty() ? "" : ", did you mean '" + nearest + "'?";
}

template <typename Visit> Error Session::forEachPart(const std::string &argument, Visit visit) {
  bool isKnown = find(argument).has_value();
  for (auto &part : parts)
    for (size_t index : part->find(argument))
      if (Error error = visit(*part, index))
        return error;
  return isKnown
             ? Error::success()
             : fail(name, "the step takes no argument '" + argument + "'" + hint(bundle, argument));
}

Error Session::giveArray(const std::string &argument, const ArraySource &given) {
  // An unknown argument is a better error than a missing tensor.
  Expected<ArraySource> source = find(argument) ? findArray(given, argument, names) : given;
  if (!source)
    return source.error();
  if (ranks)
    elsewhere[argument] = *source;
  std::shared_ptr<const ArrayFile> file; // file of all parts
  return forEachPart(argument, [&](DeviceSession &part, size_t index) {
    return part.values().giveArray(index, *source, file);
  });
}

Error Session::giveValue(const ArrayRef &value) {
  if (ranks)
    elsewhere[value.name] = {};
  return forEachPart(value.name, [&](DeviceSession &part, size_t index) {
    return part.values().giveValue(index, value);
  });
}

Error Session::bind(const std::string &argument, void *data, uint64_t bytes) {
  return forEachPart(
      argument, [&](DeviceSession &part, size_t index) { return part.bind(index, data, bytes); });
}

static bool isBound(const Parts &parts, const std::string &argument) {
  return std::any_of(parts.begin(), parts.end(), [&](const auto &part) {
    std::vector<size_t> own = part->find(argument);
    return !own.empty() && part->isBound(own.front());
  });
}

static bool hasValue(const Parts &parts, const std::string &argument) {
  return std::any_of(parts.begin(), parts.end(), [&](const auto &part) {
    std::vector<size_t> own = part->find(argument);
    return !own.empty() && part->hasValue(own.front());
  });
}

Error Session::giveFolder(const std::string &path) {
  std::vector<std::string> arguments;
  std::vector<Role> roles;
  for (const Argument &argument : bundle.arguments)
    if (beginsArray(argument)) {
      arguments.push_back(arrayName(argument));
      roles.push_back(argument.role);
    }
  auto mayBeGiven = [&](size_t argument) {
    return roles[argument] < Role::Seed && !isBound(parts, arguments[argument]);
  };
  Expected<InputFolder> found = openRunFolder(path, arguments, mayBeGiven, names);
  if (!found)
    return found.error();
  folders.push_back(path);
  if (found->record) {
    record = std::move(found->record);
    if (Error error = setState(record->state))
      return error;
  }
  for (const auto &[argument, source] : found->arrays)
    if (Error error = giveArray(arguments[argument], source))
      return error;
  return Error::success();
}

OutputFolder Session::outputFolder(const std::string &path) const {
  OutputFolder output{path, describeInterface(bundle), {}, "", {}, names, 0};
  for (const std::string &folder : folders)
    if (output.inputDir.empty() || isSameFile(folder, path))
      output.inputDir = folder;
  auto add = [&](const std::string &file, bool isTensor, const std::string &argument) {
    if (std::find(output.inputs.begin(), output.inputs.end(), file) == output.inputs.end())
      output.inputs.push_back(file);
    if (isTensor)
      output.tensors[file].push_back(argument);
  };
  for (auto &part : parts)
    for (size_t i = 0; i < part->manifest().arguments.size(); ++i)
      if (const ArrayFile *file = part->values().file(i))
        add(file->path(), !file->tensor().empty(), arrayName(part->manifest().arguments[i]));
  for (const auto &[argument, source] : elsewhere)
    if (!source.path.empty())
      add(source.path, source.file != nullptr, argument);
  return output;
}

/// A run that goes on does not start afresh in any of its parts.
Error Session::checkFolder() const {
  if (folders.empty())
    return Error::success();
  std::vector<bool> has;
  for (const Argument &argument : bundle.arguments)
    if (argument.role < Role::Seed && beginsArray(argument))
      has.push_back(elsewhere.count(arrayName(argument)) || hasValue(parts, arrayName(argument)));
  return checkRecord(folders.back(), record, describeInterface(bundle), has);
}

/// Returns the size and a hash of the first bytes: reading a whole file with the inputs of many
/// steps would take long.
static std::string digestOf(const std::string &path) {
  struct stat status{};
  std::vector<char> bytes(1 << 16);
  std::FILE *file = std::fopen(path.c_str(), "rb");
  size_t length = file ? std::fread(bytes.data(), 1, bytes.size(), file) : 0;
  if (file)
    std::fclose(file);
  Hasher hasher;
  hasher.update(bytes.data(), length);
  return stat(path.c_str(), &status) == 0
             ? reprise::groupDigits(status.st_size) + " bytes with hash " + hashText(hasher.value())
             : "missing";
}

/// Fails if processes were given different values, so that all processes run the same steps.
static Error checkAlike(Ranks &ranks, const std::string &name, const RunState &state, int64_t steps,
                        const std::map<std::string, ArraySource> &sources) {
  Ranks::Facts facts = {{"the seed", std::to_string(state.seed)},
                        {"the random offset", std::to_string(state.offset)},
                        {"the first step", std::to_string(state.step)},
                        {"the number of steps", std::to_string(steps)}};
  std::map<std::string, std::string> digests = {{"", "in memory"}}; // by file
  for (const auto &[argument, source] : sources) {
    auto [digest, isNew] = digests.try_emplace(source.path);
    if (isNew)
      digest->second = digestOf(source.path);
    facts.push_back({"the value of '" + argument + "'", digest->second});
  }
  return ranks.checkAlike(name, facts);
}

Error Session::start(int64_t steps) {
  if (!ranks)
    return startParts(steps);
  if (Error error = checkAlike(*ranks, name, next, steps, elsewhere))
    return error;
  return ranks->agree(startParts(steps));
}

Error Session::startParts(int64_t steps) {
  if (Error error = checkFolder())
    return error;
  for (auto &part : parts)
    if (Error error = part->check(steps))
      return error;
  for (auto &part : parts)
    if (Error error = part->start())
      return error;
  return Error::success();
}

static Error stepAll(Parts &parts, ProgramGroup *group) {
  if (parts.size() == 1)
    return parts.front()->step();
  return group->runAll(
      [](void *context, size_t number) { return (*static_cast<Parts *>(context))[number]->step(); },
      &parts);
}

/// The next offset is the largest that a program returns.
Error Session::step() {
  if (Error error = stepAll(parts, group))
    return error;
  return finishStep();
}

Error Session::beginStep() {
  if (!bundle.pauses() || parts.size() != 1)
    return fail(name, "the step has no pause");
  return parts.front()->begin();
}

bool Session::isPaused() const { return parts.front()->isPaused(); }

Error Session::endStep() {
  if (!isPaused())
    return fail(name, "no step waits at its pause");
  if (Error error = parts.front()->goOn())
    return error;
  return finishStep();
}

Error Session::finishStep() {
  next = parts.front()->state();
  for (auto &part : parts)
    next.offset = std::max(next.offset, part->state().offset);
  for (auto &part : parts)
    part->setState(next);
  return ranks ? meet() : Error::success();
}

namespace {
/// Message about a step between processes.
struct StepNote {
  int64_t offset, step;
  int32_t signal, hasLoss;
  double loss;
};
} // namespace

/// Combines the results of this process with those of the programs of other processes.
Error Session::meet() {
  std::optional<double> own = findLoss(arrays, sources);
  StepNote note{next.offset, next.step, stopWanted, own.has_value(), own.value_or(0)};
  auto all = ranks->exchange(std::string(reinterpret_cast<const char *>(&note), sizeof note));
  if (!all)
    return all.error();
  toldLoss = std::nullopt;
  for (const std::string &text : *all) {
    if (text.size() != sizeof note)
      return fail(name, "a process did not report its step");
    std::memcpy(&note, text.data(), sizeof note);
    if (note.step != next.step)
      return fail(name, "processes have made different numbers of steps, " +
                            std::to_string(note.step) + " and " + std::to_string(next.step));
    next.offset = std::max(next.offset, note.offset);
    stopTold = std::max(stopTold, int(note.signal));
    if (note.hasLoss)
      toldLoss = note.loss;
  }
  for (auto &part : parts)
    part->setState(next);
  return Error::success();
}

/// Hashes the results of all processes. Each process sums the elements of its own.
Expected<uint64_t> Session::hash() const {
  if (isPaused())
    return fail(name, "the step waits at its pause: only some of its results are there");
  Error unread = checkData(results());
  if (!ranks)
    return unread ? Expected<uint64_t>(fail(name, unread.message())) : hashArrays(arrays);
  if (Error error = ranks->agree(unread))
    return error;
  std::map<std::string, ArrayRef> own;
  for (size_t i = 0; i < arrays.size(); ++i)
    own[sources[i].part->resultName(sources[i].array)] = arrays[i];
  std::string offset = bundle.offsetName();
  std::vector<ArrayRef> every;
  std::vector<uint64_t> sums;
  for (const Result &result : bundle.results) {
    if (result.name == offset)
      continue;
    every.push_back(describeArray(result));
    auto found = own.find(result.name);
    sums.push_back(found == own.end() ? 0 : sumElements(found->second));
  }
  auto all = ranks->exchange(
      std::string(reinterpret_cast<const char *>(sums.data()), sums.size() * sizeof(uint64_t)));
  if (!all)
    return all.error();
  std::fill(sums.begin(), sums.end(), 0);
  for (const std::string &text : *all) {
    if (text.size() != sums.size() * sizeof(uint64_t))
      return fail(name, "a process did not report the sums of its results");
    for (size_t i = 0; i < sums.size(); ++i) {
      uint64_t told;
      std::memcpy(&told, text.data() + i * sizeof told, sizeof told);
      sums[i] += told;
    }
  }
  return hashArrays(every, sums);
}

std::optional<double> Session::loss() const { return ranks ? toldLoss : findLoss(arrays, sources); }

Expected<std::vector<uint64_t>> Session::executedArenaBytes() {
  if (ranks)
    return fail(name, "the arenas of other processes cannot be painted");
  std::vector<uint64_t> bytes(parts.size());
  auto paint = [&](size_t number) {
    Expected<uint64_t> own = parts[number]->executedArenaBytes();
    if (own)
      bytes[number] = *own;
    return own ? Error::success() : own.error();
  };
  // Programs that exchange values run their painted steps together.
  Error error = !group ? paint(0)
                       : group->runAll(
                             [](void *context, size_t number) {
                               return (*static_cast<decltype(paint) *>(context))(number);
                             },
                             &paint);
  if (error)
    return error;
  return bytes;
}
