// reprise: the values that a caller has given to the arguments of one device program
#include "GivenValues.h"

#include "reprise/Support/Wording.h"

#include <algorithm>
#include <cstring>

using namespace reprise::runtime;

GivenValues::GivenValues(Executable &executable)
    : executable(executable), bundle(executable.bundle()), values(bundle.arguments.size()),
      uploads(executable) {}

Error GivenValues::give(size_t index, const std::string &source, const std::vector<int64_t> &shape,
                        GivenValue value) {
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
  values[index] = std::move(value);
  uploads.drop(index);
  return Error::success();
}

static Error fail(const Executable &executable, const std::string &why) {
  return Error::make(executable.name() + ": " + why);
}

Error GivenValues::giveArray(size_t index, const ArraySource &source,
                             std::shared_ptr<const ArrayFile> &file) {
  const Argument &argument = bundle.arguments[index];
  if (executable.isBound(index))
    return fail(executable, "'" + arrayName(argument) + "' is bound to memory of the caller");
  if (!file) {
    Expected<ArrayFile> opened = openArray(source, argument.dtype);
    if (!opened)
      return opened.error();
    file = std::make_shared<const ArrayFile>(std::move(*opened));
  }
  return give(index, "cannot read " + file->label(), file->shape(), {file, {}, -1});
}

/// Returns the rows that belong to the argument, of one value or of one per step.
static std::vector<uint8_t> takeRows(const Argument &argument, const ArrayRef &value) {
  Runs runs = findRuns(argument);
  const uint8_t *data = static_cast<const uint8_t *>(value.data) + runs.begin;
  uint64_t whole = arrayBytes(argument);
  std::vector<uint8_t> taken;
  for (uint64_t at = 0; argument.bytes != 0 && at < value.bytes(); at += whole)
    for (uint64_t run = 0; run < runs.count; ++run) {
      const uint8_t *begin = data + at + run * runs.stride;
      taken.insert(taken.end(), begin, begin + runs.bytes);
    }
  return taken;
}

Error GivenValues::giveValue(size_t index, const ArrayRef &value) {
  if (executable.isBound(index))
    return fail(executable, "'" + value.name + "' is bound to memory of the caller");
  std::string source = executable.name() + ": cannot take a value";
  DType wanted = bundle.arguments[index].dtype;
  if (value.dtype != wanted)
    return Error::make(source + ": type " + dtypeName(value.dtype) + ", expected " +
                       dtypeName(wanted) + " for '" + value.name + "'");
  if (Error error = give(index, source, value.shape, {nullptr, {}, -1}))
    return error;
  values[index]->bytes = takeRows(bundle.arguments[index], value);
  return Error::success();
}

Error GivenValues::checkRows(size_t argument, int64_t steps) const {
  if (!hasPerStep(argument) || values[argument]->rows >= steps)
    return Error::success();
  const GivenValue &source = *values[argument];
  std::string what =
      source.file ? "cannot read " + source.file->label()
                  : executable.name() + ": input '" + arrayName(bundle.arguments[argument]) + "'";
  return Error::make(what + ": holds " + amount(source.rows, "step") + ", the run needs " +
                     groupDigits(steps));
}

Error GivenValues::copyRow(size_t argument, int64_t step, void *to) const {
  const GivenValue &source = *values[argument];
  const Argument &own = bundle.arguments[argument];
  uint64_t row = source.rows >= 0 ? uint64_t(step) : 0;
  if (source.file)
    return source.file->readRuns(to, row * arrayBytes(own), findRuns(own));
  if (own.bytes != 0)
    std::memcpy(to, source.bytes.data() + row * own.bytes, own.bytes);
  return Error::success();
}

Error GivenValues::read(size_t argument, int64_t step) {
  uint64_t bytes = bundle.arguments[argument].bytes;
  // Values that were given between steps were not part of the check before the first step.
  if (Error error = checkRows(argument, step + 1))
    return error;
  if (uploads.has(argument, hasPerStep(argument) ? step : InputUploads::everyStep))
    return uploads.take(argument);
  void *place = executable.argument(argument);
  if (executable.device().hasHostMemory())
    return copyRow(argument, step, place);
  staging.resize(std::max<uint64_t>(staging.size(), bytes));
  if (Error error = copyRow(argument, step, staging.data()))
    return error;
  return executable.writeMemory(place, staging.data(), bytes);
}

Error GivenValues::upload(size_t argument, int64_t step) {
  int64_t which = hasPerStep(argument) ? step : InputUploads::everyStep;
  bool isMissing = hasPerStep(argument) && values[argument]->rows <= step;
  if (isMissing || uploads.has(argument, which))
    return Error::success();
  auto read = [&](void *to) { return copyRow(argument, step, to); };
  return uploads.begin(argument, which, read);
}
