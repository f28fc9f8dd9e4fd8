// reprise: checkpoint problems from their files: defaults and checks
#include "ProblemDraft.h"
#include "reprise/Planning/Checkpoint/Problem/JoinLabels.h"
#include "reprise/Planning/Checkpoint/Problem/Validate.h"

#include <algorithm>
#include <set>

using namespace reprise::checkpoint;
using Operation = Problem::Operation;
using Value = Problem::Value;

namespace {

/// Bytes together, with those of all replays that may be there at once.
constexpr int64_t kMostBytes = int64_t(1) << 61;
/// Launches that no operation of the problem runs in: ten for each that does, and these.
constexpr int64_t kMoreLaunches = 1000;

class Finisher {
public:
  Finisher(const ProblemDraft &draft, ProblemFile &file)
      : draft(draft), file(file), problem(file.problem), footprint(file.footprint) {}

  std::string run();

private:
  /// The first thing that is wrong.
  void refuse(const std::string &what) {
    if (wrong.empty())
      wrong = what;
  }
  void numberLaunches();
  void countLaunches(int64_t used);
  void checkLaunches();
  void placeUnits();
  void findOutsideReaders();
  void findTimes();
  void findRoots();
  void joinMemories();
  void checkSums();
  void linkLaunches();
  void linkOperations();
  void addLink(int before, int after);

  const ProblemDraft &draft;
  ProblemFile &file;
  Problem &problem;
  Footprint &footprint;
  std::vector<std::vector<int>> outside; // per value: launches outside the problem that read it
  std::string wrong;
};

} // namespace

std::string reprise::checkpoint::describeOperation(const ProblemFile &file, size_t index) {
  const std::string &name = file.operationNames[index];
  return "operation " + std::to_string(index) + (name.empty() ? "" : " '" + name + "'") + ": ";
}

/// Gives each operation a launch, in their order, unless the file gives launches.
void Finisher::numberLaunches() {
  bool isNumbered =
      std::any_of(draft.launchOf.begin(), draft.launchOf.end(),
                  [](const ProblemDraft::Launch &launch) { return launch.number.has_value(); });
  int64_t next = 0, last = 0;
  for (size_t i = 0; i < draft.launchOf.size(); ++i) {
    if (isNumbered && !draft.launchOf[i].isGiven)
      refuse(describeOperation(file, i) + "expected 'launch', as other operations have one");
    bool isFree = draft.launchOf[i].isNone();
    int64_t launch = isFree ? kNoLaunch : draft.launchOf[i].number.value_or(next++);
    footprint.launches.push_back(static_cast<int>(launch));
    last = std::max(last, launch + 1);
  }
  for (const Neighbour &other : footprint.neighbours)
    last = std::max<int64_t>(last, other.last);
  for (const auto &readers : draft.readers)
    for (int64_t reader : readers.value_or(std::vector<int64_t>()))
      last = std::max(last, reader);
  if (draft.waits)
    last = std::max(last, static_cast<int64_t>(draft.waits->size()));
  int64_t count = std::max<int64_t>(1, draft.launches.value_or(last));
  int64_t most = kMoreLaunches + 10 * static_cast<int64_t>(draft.launchOf.size());
  if (last > count)
    refuse("launch " + std::to_string(last - 1) + " is named, but there are " +
           std::to_string(count));
  if (count > most)
    refuse("there are " + std::to_string(count) + " launches, more than " + std::to_string(most));
  footprint.numLaunches = static_cast<int>(std::min(count, most));
}

/// A launch runs after those that it reads from; what has no launch is there with its operand.
void Finisher::checkLaunches() {
  std::vector<int> ready; // per value
  for (size_t i = 0; i < problem.operations.size(); ++i) {
    const Operation &op = problem.operations[i];
    int launch = footprint.launches[i], latest = 0;
    for (int operand : op.operands)
      latest = std::max(latest, operand == kAvailable ? 0 : ready[operand]);
    if (launch != kNoLaunch && latest > launch)
      refuse(describeOperation(file, i) + "runs in launch " + std::to_string(launch) +
             ", but reads from launch " + std::to_string(latest));
    ready.insert(ready.end(), op.numResults, launch == kNoLaunch ? latest : launch);
  }
  for (const Neighbour &other : footprint.neighbours)
    if (other.first >= footprint.numLaunches)
      refuse("an other buffer is there from launch " + std::to_string(other.first) +
             ", but there are " + std::to_string(footprint.numLaunches));
}

/// Each operation is a unit, unless the file gives them: then replays may be made for any reader.
void Finisher::placeUnits() {
  bool isGiven =
      draft.units || std::any_of(draft.unitOf.begin(), draft.unitOf.end(),
                                 [](std::optional<int64_t> unit) { return unit.has_value(); });
  auto most = static_cast<int64_t>(draft.units ? draft.units->size() : draft.unitOf.size());
  int64_t count = draft.units ? most : 0;
  for (size_t i = 0; i < draft.unitOf.size(); ++i) {
    if (isGiven && !draft.unitOf[i])
      return refuse(describeOperation(file, i) + "expected 'unit', as there are units");
    int64_t unit = draft.unitOf[i].value_or(static_cast<int64_t>(i));
    if (unit >= most)
      return refuse(describeOperation(file, i) + "is in unit " + std::to_string(unit) +
                    ", but there are at most " + std::to_string(most));
    problem.operations[i].container = static_cast<int>(unit) + 1;
    count = std::max(count, unit + 1);
  }
  problem.containers.emplace_back();
  for (int64_t unit = 0; unit < count; ++unit)
    problem.containers.push_back({draft.units ? static_cast<int>((*draft.units)[unit]) + 1 : 0});
}

/// Who reads a view reads the buffer behind it.
void Finisher::findOutsideReaders() {
  for (size_t value = 0; value < problem.values.size(); ++value) {
    if (draft.readers[value])
      outside.emplace_back(draft.readers[value]->begin(), draft.readers[value]->end());
    else
      outside.emplace_back(problem.values[value].outlives, footprint.numLaunches);
  }
  for (size_t i = problem.operations.size(); i-- > 0;) {
    const Operation &op = problem.operations[i];
    if (footprint.launches[i] != kNoLaunch || op.operands.empty() || op.operands[0] == kAvailable)
      continue;
    std::vector<int> &readers = outside[op.operands[0]];
    for (int value = op.firstResult; value < op.firstResult + op.numResults; ++value)
      readers.insert(readers.end(), outside[value].begin(), outside[value].end());
  }
  for (std::vector<int> &readers : outside) {
    std::sort(readers.begin(), readers.end());
    readers.erase(std::unique(readers.begin(), readers.end()), readers.end());
    footprint.lastOutside.push_back(readers.empty() ? -1 : readers.back());
  }
}

/// Finds the launch that makes each operation: its own, or else the first one that reads it.
void Finisher::findTimes() {
  footprint.times = footprint.launches;
  for (size_t i = problem.operations.size(); i-- > 0;) {
    int &time = footprint.times[i];
    if (time == kNoLaunch)
      time = footprint.numLaunches - 1;
    for (int operand : problem.operations[i].operands) {
      int definition = operand == kAvailable ? -1 : problem.values[operand].operation;
      if (definition < 0 || footprint.launches[definition] != kNoLaunch)
        continue;
      int &earliest = footprint.times[definition];
      earliest = earliest == kNoLaunch ? time : std::min(earliest, time);
    }
  }
}

void Finisher::findRoots() {
  for (Value &value : problem.values) {
    const Operation &op = problem.operations[value.operation];
    if (op.kind == Kind::View)
      value.root = op.operands.empty() || op.operands[0] == kAvailable
                       ? kAvailable
                       : problem.values[op.operands[0]].root;
  }
}

/// Joins memories: an operation without a launch shows its first operand.
void Finisher::joinMemories() {
  std::vector<bool> shows = findViews(problem);
  for (size_t i = 0; i < shows.size(); ++i)
    shows[i] = shows[i] || footprint.launches[i] == kNoLaunch;
  std::optional<LabelClash> clash = joinLabels(problem, shows);
  if (!clash)
    return;
  auto describe = [&](int value) {
    return "'" + std::string(getText(problem.values[value].label)) + "' of value " +
           std::to_string(value);
  };
  refuse(describeOperation(file, problem.values[clash->value].operation) + describe(clash->value) +
         " contradicts " + describe(clash->other) + ", which shows the same memory");
}

/// Each unit may have a replay of every value, beside the one for all.
void Finisher::checkSums() {
  std::set<std::pair<int, int64_t>> sessions;
  for (const Operation &op : problem.operations)
    sessions.emplace(op.container, op.order);
  int64_t room = kMostBytes / static_cast<int64_t>(sessions.size() + 2);
  auto take = [&](int64_t bytes) {
    room = bytes > room ? -1 : room - bytes;
    if (room < 0)
      refuse("there are too many bytes");
  };
  for (const Value &value : problem.values)
    take(value.bytes);
  for (const Neighbour &other : footprint.neighbours)
    take(other.bytes);
  for (int64_t bytes : footprint.scratch)
    take(bytes);
  double sum = 0;
  for (double cost : footprint.seconds)
    sum += cost;
  file.totalCost = draft.totalCost.value_or(sum);
  // Each replay may have a launch, and each operand and result may move.
  double moved = 0, launches = 0;
  for (const Operation &op : problem.operations) {
    launches += 1;
    for (int value = op.firstResult; value < op.firstResult + op.numResults; ++value)
      moved += static_cast<double>(problem.values[value].bytes);
    for (int operand : op.operands)
      moved += operand == kAvailable ? 0 : static_cast<double>(problem.values[operand].bytes);
  }
  sum += launches * footprint.launchSeconds + moved * footprint.byteSeconds;
  if (sum > kMostCost)
    refuse("the costs are more than 1e30 together");
}

void Finisher::addLink(int before, int after) {
  if (before == kNoLaunch || before == after || after >= footprint.numLaunches)
    return;
  if (before > after)
    return refuse("launch " + std::to_string(after) + " waits for launch " +
                  std::to_string(before) + ", which runs after it");
  file.links->next[before].push_back(after);
}

/// Launches wait for those that they read from, also by way of what has no launch.
void Finisher::linkOperations() {
  LaunchLinks &links = *file.links;
  for (size_t i = problem.operations.size(); i-- > 0;) {
    const Operation &op = problem.operations[i];
    int own = footprint.launches[i];
    for (int value = op.firstResult; value < op.firstResult + op.numResults; ++value)
      for (int reader : outside[value])
        addLink(own, std::max(own, reader));
    std::vector<int> readers = own == kNoLaunch ? links.readers[i] : std::vector<int>{own};
    for (int operand : op.operands) {
      if (operand == kAvailable)
        continue;
      int maker = problem.values[operand].operation, made = footprint.launches[maker];
      for (int reader : readers)
        addLink(made, reader);
      if (made == kNoLaunch)
        links.readers[maker].insert(links.readers[maker].end(), readers.begin(), readers.end());
    }
  }
}

void Finisher::linkLaunches() {
  if (!draft.waits)
    return;
  LaunchLinks &links = file.links.emplace();
  links.next.resize(footprint.numLaunches);
  links.readers.resize(problem.operations.size());
  linkOperations();
  for (size_t i = 0; i < footprint.neighbours.size(); ++i) {
    const Neighbour &other = footprint.neighbours[i];
    const auto &given = draft.bufferReaders[i];
    links.neighbourReaders.emplace_back(1, other.last);
    if (given)
      links.neighbourReaders.back().assign(given->begin(), given->end());
    for (int reader : links.neighbourReaders.back())
      addLink(other.first, std::max(other.first, reader));
  }
  for (size_t launch = 0; launch < draft.waits->size(); ++launch)
    for (int64_t before : (*draft.waits)[launch])
      addLink(static_cast<int>(before), static_cast<int>(launch));
  links.outside = std::move(outside);
  for (std::vector<int> &next : links.next) {
    std::sort(next.begin(), next.end());
    next.erase(std::unique(next.begin(), next.end()), next.end());
  }
}

std::string Finisher::run() {
  for (void (Finisher::*step)() :
       {&Finisher::numberLaunches, &Finisher::checkLaunches, &Finisher::placeUnits,
        &Finisher::findOutsideReaders, &Finisher::findTimes, &Finisher::findRoots,
        &Finisher::joinMemories, &Finisher::checkSums, &Finisher::linkLaunches})
    if (wrong.empty())
      (this->*step)();
  if (wrong.empty())
    if (auto defect = validate(problem))
      wrong = defect->message;
  if (wrong.empty())
    if (auto defect = validate(problem, footprint))
      wrong = defect->message;
  return std::move(wrong);
}

std::string reprise::checkpoint::finishProblem(const ProblemDraft &draft, ProblemFile &file) {
  return Finisher(draft, file).run();
}
