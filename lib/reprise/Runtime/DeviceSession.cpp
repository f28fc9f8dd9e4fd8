// reprise: training steps of one device program
#include "DeviceSession.h"

#include "reprise/Support/Wording.h"

#include <algorithm>
#include <cstring>

using namespace reprise::runtime;

DeviceSession::DeviceSession(Executable &executable)
    : executable(executable), bundle(executable.bundle()), uploads(executable) {
  given.resize(bundle.arguments.size());
  for (size_t i = 0; i < bundle.arguments.size(); ++i)
    late.push_back(bundle.isLate(uint32_t(i)));
  std::string offsetName;
  for (const Argument &argument : bundle.arguments)
    if (argument.role == Role::Offset)
      offsetName = argument.name;
  for (size_t i = 0; i < bundle.results.size(); ++i) {
    const Result &result = bundle.results[i];
    if (result.name == offsetName) {
      offsetResult = i;
    } else {
      arrays.push_back({arrayName(result), result.dtype, result.shape, nullptr, result.rows.first,
                        result.rows.of});
      arrayResults.push_back(i);
    }
    if (result.argument >= 0 && bundle.arguments[result.argument].role == Role::Input)
      carried.push_back({size_t(result.argument), std::vector<uint8_t>(result.buffer.bytes)});
  }
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

Error DeviceSession::fail(const std::string &why) const {
  return Error::make(executable.name() + ": " + why);
}

std::vector<size_t> DeviceSession::find(const std::string &name) const {
  std::vector<size_t> found;
  for (size_t i = 0; i < bundle.arguments.size(); ++i)
    if (bundle.arguments[i].role < Role::Seed && arrayName(bundle.arguments[i]) == name)
      found.push_back(i);
  return found;
}

Error DeviceSession::give(size_t index, const std::string &source,
                          const std::vector<int64_t> &shape, Given value) {
  const Argument &argument = bundle.arguments[index];
  std::vector<int64_t> expected = arrayShape(argument);
  if (shape != expected) {
    bool rows = argument.role == Role::Input && shape.size() == expected.size() + 1 &&
                std::equal(expected.begin(), expected.end(), shape.begin() + 1);
    if (!rows)
      return Error::make(source + ": shape " + shapeText(shape) + ", expected " +
                         shapeText(expected) + " for '" + arrayName(argument) + "'");
    value.rows = shape[0];
  }
  given[index] = std::move(value);
  uploads.drop(index);
  return Error::success();
}

Error DeviceSession::giveArray(size_t index, const std::string &path,
                               std::shared_ptr<const NpyFile> &file) {
  const Argument &argument = bundle.arguments[index];
  if (executable.isBound(index))
    return fail("'" + arrayName(argument) + "' is bound to memory of the caller");
  if (!file) {
    Expected<NpyFile> opened = NpyFile::open(path, argument.dtype);
    if (!opened)
      return opened.error();
    file = std::make_shared<const NpyFile>(std::move(*opened));
  }
  return give(index, "cannot read '" + path + "'", file->shape(), {file, {}, -1});
}

Error DeviceSession::giveValue(size_t index, const ArrayRef &value) {
  if (executable.isBound(index))
    return fail("'" + value.name + "' is bound to memory of the caller");
  std::string source = executable.name() + ": cannot take a value";
  DType wanted = bundle.arguments[index].dtype;
  if (value.dtype != wanted)
    return Error::make(source + ": type " + dtypeName(value.dtype) + ", expected " +
                       dtypeName(wanted) + " for '" + value.name + "'");
  Given given{nullptr, {}, -1};
  if (Error error = give(index, source, value.shape, std::move(given)))
    return error;
  this->given[index]->bytes = takeRows(index, value);
  return Error::success();
}

/// What belongs to the argument, of one value or of one per step.
std::vector<uint8_t> DeviceSession::takeRows(size_t index, const ArrayRef &value) const {
  const Argument &argument = bundle.arguments[index];
  const uint8_t *data = static_cast<const uint8_t *>(value.data) + offsetInArray(argument);
  uint64_t whole = arrayBytes(argument), bytes = argument.bytes;
  std::vector<uint8_t> taken;
  for (uint64_t at = 0; bytes != 0 && at < value.bytes(); at += whole)
    taken.insert(taken.end(), data + at, data + at + bytes);
  return taken;
}

Error DeviceSession::bind(size_t index, void *data, uint64_t bytes) {
  const Argument &argument = bundle.arguments[index];
  if (argument.rows.of && bytes == arrayBytes(argument)) {
    data = static_cast<uint8_t *>(data) + offsetInArray(argument);
    bytes = argument.bytes;
  }
  if (Error error = executable.bind(index, data, bytes))
    return error;
  given[index].reset();
  return Error::success();
}

bool DeviceSession::hasValue(size_t argument) const {
  return given[argument].has_value() || executable.isBound(argument);
}

std::vector<std::string> DeviceSession::inputFiles() const {
  std::vector<std::string> files;
  for (const std::optional<Given> &value : given)
    if (value && value->file)
      files.push_back(value->file->path());
  return files;
}

Error DeviceSession::tooFewRows(size_t argument, int64_t needed) const {
  const Given &source = *given[argument];
  std::string what =
      source.file ? "cannot read '" + source.file->path() + "'"
                  : executable.name() + ": input '" + arrayName(bundle.arguments[argument]) + "'";
  return Error::make(what + ": holds " + amount(source.rows, "step") + ", the run needs " +
                     groupDigits(needed));
}

Error DeviceSession::checkValue(size_t index) const {
  const Argument &argument = bundle.arguments[index];
  return hasValue(index) || argument.hasInitializer
             ? Error::success()
             : fail(std::string(roleName(argument.role)) + " '" + arrayName(argument) +
                    "' has no initializer and was given no value");
}

Error DeviceSession::checkLate() const {
  for (size_t i = 0; i < late.size(); ++i)
    if (late[i])
      if (Error error = checkValue(i))
        return error;
  return Error::success();
}

Error DeviceSession::check(int64_t steps) {
  first = true;
  paused = false;
  if (__builtin_add_overflow(next.step, steps, &endStep))
    return fail("the number of the last step is out of range");
  for (size_t i = 0; i < given.size(); ++i) {
    if (bundle.arguments[i].role >= Role::Seed)
      continue;
    if (!late[i])
      if (Error error = checkValue(i))
        return error;
    if (given[i] && given[i]->rows >= 0 && given[i]->rows < next.step + steps)
      return tooFewRows(i, next.step + steps);
  }
  return Error::success();
}

Error DeviceSession::start() {
  if (Error error = setScalars())
    return error;
  if (Error error = executable.run("init_parameters"))
    return fail(error.message());
  for (size_t i = 0; i < given.size(); ++i)
    if (given[i] && bundle.arguments[i].role != Role::Input)
      if (Error error = readGiven(i))
        return error;
  return Error::success();
}

Error DeviceSession::setScalars() {
  for (size_t i = 0; i < bundle.arguments.size(); ++i) {
    Role role = bundle.arguments[i].role;
    int64_t value = role == Role::Seed ? next.seed : role == Role::Offset ? next.offset : next.step;
    if (role >= Role::Seed)
      if (Error error = executable.writeMemory(executable.argument(i), &value, sizeof value))
        return fail(error.message());
  }
  return Error::success();
}

Error DeviceSession::readRow(size_t argument, int64_t step, void *to) const {
  const Given &source = *given[argument];
  const Argument &own = bundle.arguments[argument];
  uint64_t row = source.rows >= 0 ? uint64_t(step) : 0;
  if (source.file)
    return source.file->read(to, row * arrayBytes(own) + offsetInArray(own), own.bytes);
  if (own.bytes != 0)
    std::memcpy(to, source.bytes.data() + row * own.bytes, own.bytes);
  return Error::success();
}

Error DeviceSession::readGiven(size_t argument) {
  const Given &source = *given[argument];
  uint64_t bytes = bundle.arguments[argument].bytes;
  // A value given between steps has not been seen by start().
  if (source.rows >= 0 && source.rows <= next.step)
    return tooFewRows(argument, next.step + 1);
  if (uploads.has(argument, source.rows >= 0 ? next.step : InputUploads::everyStep))
    return uploads.take(argument);
  void *place = executable.argument(argument);
  if (executable.device().hasHostMemory())
    return readRow(argument, next.step, place);
  staging.resize(std::max<uint64_t>(staging.size(), bytes));
  if (Error error = readRow(argument, next.step, staging.data()))
    return error;
  return executable.writeMemory(place, staging.data(), bytes);
}

Error DeviceSession::uploadNext() {
  if (!executable.device().copiesBeside())
    return Error::success();
  int64_t step = next.step + 1;
  for (size_t i = 0; i < given.size() && step < endStep; ++i) {
    if (!given[i] || bundle.arguments[i].role != Role::Input || isCarried(i))
      continue;
    int64_t rows = given[i]->rows, which = rows < 0 ? InputUploads::everyStep : step;
    if ((rows >= 0 && rows <= step) || uploads.has(i, which))
      continue;
    auto read = [&](void *to) { return readRow(i, step, to); };
    if (Error error = uploads.begin(i, which, read))
      return error;
  }
  return Error::success();
}

bool DeviceSession::isCarried(size_t argument) const {
  bool replaced = std::any_of(carried.begin(), carried.end(),
                              [&](const Carried &input) { return input.argument == argument; });
  // One value per step was asked for: it outranks what the step before returned.
  return replaced && !(given[argument] && given[argument]->rows >= 0);
}

/// The values that results have given to inputs, before initializers write others there.
Error DeviceSession::keepCarried() {
  for (Carried &input : carried)
    if (Error error = executable.readMemory(input.value.data(), executable.argument(input.argument),
                                            input.value.size()))
      return fail(error.message());
  return Error::success();
}

Error DeviceSession::prepareInputs() {
  if (Error error = setScalars())
    return error;
  if (Error error = keepCarried())
    return error;
  if (Error error = executable.run("init_inputs"))
    return fail(error.message());
  for (Carried &input : carried)
    if (!first && !executable.isBound(input.argument))
      if (Error error = executable.writeMemory(executable.argument(input.argument),
                                               input.value.data(), input.value.size()))
        return fail(error.message());
  return readInputs(/*areLate=*/false);
}

/// Of a step that does not stop.
Error DeviceSession::prepareWhole() {
  if (Error error = checkLate())
    return error;
  if (Error error = prepareInputs())
    return error;
  return readInputs(/*areLate=*/true);
}

Error DeviceSession::readInputs(bool areLate) {
  for (size_t i = 0; i < given.size(); ++i)
    if (given[i] && bundle.arguments[i].role == Role::Input && late[i] == areLate &&
        (first || !isCarried(i)))
      if (Error error = readGiven(i))
        return error;
  return Error::success();
}

Error DeviceSession::step() { return tell(takeStep()); }

Error DeviceSession::begin() {
  Error error = tell(takeFirstPart());
  paused = !error;
  return error;
}

Error DeviceSession::goOn() { return tell(takeLastPart()); }

/// Peers learn of an error.
Error DeviceSession::tell(Error error) {
  paused = false;
  if (error)
    executable.fail(error.message());
  return error;
}

Error DeviceSession::inStep(const Error &error) const {
  return error ? fail("step " + std::to_string(next.step) + ", " + error.message())
               : Error::success();
}

Error DeviceSession::takeStep() {
  if (Error error = prepareWhole())
    return error;
  Error error = inStep(executable.run("step", [this] { return uploadNext(); }));
  return error ? error : finishStep();
}

Error DeviceSession::takeFirstPart() {
  if (Error error = prepareInputs())
    return error;
  return inStep(executable.runToPause([this] { return uploadNext(); }));
}

Error DeviceSession::takeLastPart() {
  if (Error error = checkLate())
    return error;
  if (Error error = readInputs(/*areLate=*/true))
    return error;
  Error error = inStep(executable.runOn());
  return error ? error : finishStep();
}

Error DeviceSession::finishStep() {
  if (offsetResult)
    if (Error error = executable.readMemory(&next.offset, executable.result(*offsetResult),
                                            sizeof next.offset))
      return fail(error.message());
  if (next.offset < 0)
    return fail("step " + std::to_string(next.step) + ", the random offset is out of range");
  next.step += 1;
  first = false;
  return Error::success();
}

uint64_t DeviceSession::highestChange(uint8_t paint) const {
  uint64_t end = executable.arenaCapacity();
  while (end != 0 && executable.arena()[end - 1] == paint)
    --end;
  return end;
}

Expected<uint64_t> DeviceSession::executedArenaBytes() {
  if (!executable.device().hasHostMemory())
    return fail("the arena of device '" + executable.device().name() + "' cannot be painted");
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
    std::memset(executable.arena(), paint, executable.arenaCapacity());
    if (Error error = executable.run("step"))
      return fail(error.message());
    highest = std::max(highest, highestChange(paint));
    for (size_t i = 0; i < saved.size(); ++i)
      std::copy(saved[i].begin(), saved[i].end(), static_cast<uint8_t *>(executable.argument(i)));
  }
  return highest;
}
