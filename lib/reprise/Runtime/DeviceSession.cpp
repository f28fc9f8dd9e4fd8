// reprise: training steps of one device program
#include "DeviceSession.h"

#include <algorithm>
#include <cstring>

using namespace reprise::runtime;

DeviceSession::DeviceSession(Executable &executable)
    : executable(executable), bundle(executable.bundle()), given(executable) {
  for (size_t i = 0; i < bundle.arguments.size(); ++i)
    late.push_back(bundle.isLate(uint32_t(i)));
  std::string offsetName = bundle.offsetName();
  for (size_t i = 0; i < bundle.results.size(); ++i) {
    const Result &result = bundle.results[i];
    if (result.name == offsetName) {
      offsetResult = i;
    } else {
      arrays.push_back(describeArray(result));
      arrayResults.push_back(i);
    }
    if (result.argument >= 0 && bundle.arguments[result.argument].role == Role::Input)
      carried.push_back({size_t(result.argument), std::vector<uint8_t>(result.buffer.bytes)});
  }
}

static Error fail(const Executable &executable, const std::string &why) {
  return Error::make(executable.name() + ": " + why);
}

static Error inStep(const Executable &executable, int64_t step, const Error &error) {
  return error ? fail(executable, "step " + std::to_string(step) + ", " + error.message())
               : Error::success();
}

/// Tells peers of an error.
static Error tell(Executable &executable, Error error) {
  if (error)
    executable.fail(error.message());
  return error;
}

const void *DeviceSession::read(size_t array) {
  const void *data = executable.result(arrayResults[array]);
  if (executable.device().hasHostMemory())
    return data;
  copies.resize(arrays.size());
  copies[array].resize(std::max<uint64_t>(arrays[array].bytes(), 1));
  return executable.readMemory(copies[array].data(), data, arrays[array].bytes())
             ? nullptr
             : copies[array].data();
}

std::vector<size_t> DeviceSession::find(const std::string &name) const {
  std::vector<size_t> found;
  for (size_t i = 0; i < bundle.arguments.size(); ++i)
    if (bundle.arguments[i].role < Role::Seed && arrayName(bundle.arguments[i]) == name)
      found.push_back(i);
  return found;
}

Error DeviceSession::bind(size_t index, void *data, uint64_t bytes) {
  const Argument &argument = bundle.arguments[index];
  if (argument.rows.of && bytes == arrayBytes(argument)) {
    Runs runs = findRuns(argument);
    if (runs.count != 1)
      return fail(executable, "'" + arrayName(argument) +
                                  "' cannot be bound: its columns lie on several devices");
    data = static_cast<uint8_t *>(data) + runs.begin;
    bytes = argument.bytes;
  }
  if (Error error = executable.bind(index, data, bytes))
    return error;
  given.drop(index);
  return Error::success();
}

bool DeviceSession::hasValue(size_t argument) const {
  return given.has(argument) || executable.isBound(argument);
}

static Error checkValue(const Executable &executable, size_t index, bool hasValue) {
  const Argument &argument = executable.bundle().arguments[index];
  return hasValue || argument.hasInitializer
             ? Error::success()
             : fail(executable, std::string(roleName(argument.role)) + " '" + arrayName(argument) +
                                    "' has no initializer and was given no value");
}

Error DeviceSession::checkLate() const {
  for (size_t i = 0; i < late.size(); ++i)
    if (late[i])
      if (Error error = checkValue(executable, i, hasValue(i)))
        return error;
  return Error::success();
}

Error DeviceSession::check(int64_t steps) {
  first = true;
  paused = false;
  if (__builtin_add_overflow(next.step, steps, &endStep))
    return fail(executable, "the number of the last step is out of range");
  for (size_t i = 0; i < bundle.arguments.size(); ++i) {
    if (bundle.arguments[i].role >= Role::Seed)
      continue;
    if (!late[i])
      if (Error error = checkValue(executable, i, hasValue(i)))
        return error;
    if (Error error = given.checkRows(i, next.step + steps))
      return error;
  }
  return Error::success();
}

static Error setScalars(Executable &executable, const RunState &state) {
  const std::vector<Argument> &arguments = executable.bundle().arguments;
  for (size_t i = 0; i < arguments.size(); ++i) {
    Role role = arguments[i].role;
    int64_t value = role == Role::Seed     ? state.seed
                    : role == Role::Offset ? state.offset
                                           : state.step;
    if (role >= Role::Seed)
      if (Error error = executable.writeMemory(executable.argument(i), &value, sizeof value))
        return fail(executable, error.message());
  }
  return Error::success();
}

Error DeviceSession::start() {
  if (Error error = setScalars(executable, next))
    return error;
  if (Error error = executable.run("init_parameters"))
    return fail(executable, error.message());
  for (size_t i = 0; i < bundle.arguments.size(); ++i)
    if (given.has(i) && bundle.arguments[i].role != Role::Input)
      if (Error error = given.read(i, next.step))
        return error;
  return Error::success();
}

Error DeviceSession::uploadNext() {
  if (!executable.device().copiesBeside() || next.step + 1 >= endStep)
    return Error::success();
  for (size_t i = 0; i < bundle.arguments.size(); ++i)
    if (given.has(i) && bundle.arguments[i].role == Role::Input && !isCarried(i))
      if (Error error = given.upload(i, next.step + 1))
        return error;
  return Error::success();
}

bool DeviceSession::isCarried(size_t argument) const {
  bool replaced = std::any_of(carried.begin(), carried.end(),
                              [&](const Carried &input) { return input.argument == argument; });
  // A value per step was given, so it takes precedence over the previous step's result.
  return replaced && !given.hasPerStep(argument);
}

Error DeviceSession::prepareInputs() {
  if (Error error = setScalars(executable, next))
    return error;
  for (Carried &input : carried) // before initializers overwrite the values
    if (Error error = executable.readMemory(input.value.data(), executable.argument(input.argument),
                                            input.value.size()))
      return fail(executable, error.message());
  if (Error error = executable.run("init_inputs"))
    return fail(executable, error.message());
  for (Carried &input : carried)
    if (!first && !executable.isBound(input.argument))
      if (Error error = executable.writeMemory(executable.argument(input.argument),
                                               input.value.data(), input.value.size()))
        return fail(executable, error.message());
  return readInputs(/*areLate=*/false);
}

/// Prepares a step that does not pause.
Error DeviceSession::prepareWhole() {
  if (Error error = checkLate())
    return error;
  if (Error error = prepareInputs())
    return error;
  return readInputs(/*areLate=*/true);
}

Error DeviceSession::readInputs(bool areLate) {
  for (size_t i = 0; i < bundle.arguments.size(); ++i)
    if (given.has(i) && bundle.arguments[i].role == Role::Input && late[i] == areLate &&
        (first || !isCarried(i)))
      if (Error error = given.read(i, next.step))
        return error;
  return Error::success();
}

Error DeviceSession::step() {
  paused = false;
  Error error = prepareWhole();
  if (!error)
    error = inStep(executable, next.step, executable.run("step", [this] { return uploadNext(); }));
  if (!error)
    error = finishStep();
  return tell(executable, error);
}

Error DeviceSession::begin() {
  Error error = prepareInputs();
  if (!error)
    error = inStep(executable, next.step, executable.runToPause([this] { return uploadNext(); }));
  paused = !error;
  return tell(executable, error);
}

Error DeviceSession::goOn() {
  paused = false;
  Error error = checkLate();
  if (!error)
    error = readInputs(/*areLate=*/true);
  if (!error)
    error = inStep(executable, next.step, executable.runOn());
  if (!error)
    error = finishStep();
  return tell(executable, error);
}

Error DeviceSession::finishStep() {
  // A step in memory of the caller may still run: its caller sets the next offset.
  if (offsetResult && !executable.device().isBorrowed())
    if (Error error = executable.readMemory(&next.offset, executable.result(*offsetResult),
                                            sizeof next.offset))
      return fail(executable, error.message());
  if (next.offset < 0)
    return fail(executable,
                "step " + std::to_string(next.step) + ", the random offset is out of range");
  next.step += 1;
  first = false;
  return Error::success();
}

static uint64_t highestChange(const Executable &executable, uint8_t paint) {
  uint64_t end = executable.arenaMemory().size();
  while (end != 0 && executable.arena()[end - 1] == paint)
    --end;
  return end;
}

Expected<uint64_t> DeviceSession::executedArenaBytes() {
  if (!executable.device().hasHostMemory())
    return fail(executable,
                "the arena of device '" + executable.device().name() + "' cannot be painted");
  if (Error error = prepareWhole())
    return error;
  std::vector<std::vector<uint8_t>> saved;
  for (size_t i = 0; i < bundle.arguments.size(); ++i) {
    const uint8_t *data = static_cast<const uint8_t *>(executable.argument(i));
    saved.emplace_back(data, data + bundle.arguments[i].bytes);
  }
  uint64_t highest = 0;
  // A byte that is written with one pattern's value is changed under the other.
  for (uint8_t paint : {0xa5, 0x5a}) {
    std::memset(executable.arena(), paint, executable.arenaMemory().size());
    if (Error error = executable.run("step"))
      return fail(executable, error.message());
    highest = std::max(highest, highestChange(executable, paint));
    for (size_t i = 0; i < saved.size(); ++i)
      std::copy(saved[i].begin(), saved[i].end(), static_cast<uint8_t *>(executable.argument(i)));
  }
  return highest;
}
