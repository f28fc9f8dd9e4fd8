// reprise: the files of training steps in the interpreter: values that are read, the folder that is
// written
#include "StepsImpl.h"

#include "reprise/Runtime/File.h"

using namespace mlir;

namespace reprise::steps {

Error Steps::giveArray(StringRef name, const std::string &path) {
  Argument *argument = find(name);
  if (!argument || isScalarRole(argument->role))
    return Error::make("there is no argument '" + name.str() + "' to take from '" + path + "'");
  auto file = runtime::NpyFile::open(path, dtypeOf(argument->type.getElementType()));
  if (!file)
    return file.error();
  std::vector<int64_t> own = argument->type.getShape().vec(), given = file->shape();
  bool perStep = given != own;
  bool rows = argument->role == Role::Input && !given.empty() &&
              ArrayRef<int64_t>(given).drop_front() == ArrayRef<int64_t>(own);
  if (perStep && !rows)
    return Error::make("cannot read '" + path + "': it has shape " + runtime::shapeText(given) +
                       ", expected " + runtime::shapeText(own) + " for '" + name.str() + "'");
  argument->file = std::move(*file);
  argument->perStep = perStep;
  return Error::success();
}

Error Steps::giveFolder(const std::string &path) {
  std::vector<std::string> names;
  for (const Argument &argument : arguments)
    names.push_back(argument.name);
  auto mayBeGiven = [&](size_t argument) { return !isScalarRole(arguments[argument].role); };
  auto found = runtime::openRunFolder(path, names, mayBeGiven);
  if (!found)
    return found.error();
  record = std::move(found->record);
  if (record)
    state = record->state;
  for (const auto &[argument, file] : found->arrays)
    if (Error error = giveArray(names[argument], file))
      return error;
  return Error::success();
}

runtime::OutputFolder Steps::outputFolder(const StepsOptions &options) const {
  runtime::OutputFolder output{options.outputDir, interface(), {}, options.inputDir};
  for (const Argument &argument : arguments)
    if (argument.file)
      output.inputs.push_back(argument.file->path());
  return output;
}

/// Nothing that the run goes on from is missing, and nothing that it reads is replaced.
Error Steps::checkFolders(const StepsOptions &options) const {
  if (!options.outputDir.empty())
    if (Error error = runtime::checkRunFolder(outputFolder(options)))
      return error;
  std::vector<bool> has;
  for (const Argument &argument : arguments)
    if (!isScalarRole(argument.role))
      has.push_back(argument.file.has_value());
  return options.inputDir.empty()
             ? Error::success()
             : runtime::checkRecord(options.inputDir, record, interface(), has);
}

Error Steps::checkValues(int64_t steps) const {
  for (const Argument &argument : arguments) {
    if (isScalarRole(argument.role))
      continue;
    if (!argument.file && !argument.init)
      return Error::make(std::string(runtime::roleName(argument.role)) + " '" + argument.name +
                         "' has no initializer and was given no value");
    int64_t needed = state.step + steps;
    if (argument.file && argument.perStep && argument.file->shape()[0] < needed)
      return Error::make("cannot read '" + argument.file->path() + "': it has " +
                         std::to_string(argument.file->shape()[0]) + " rows, step " +
                         std::to_string(needed - 1) + " needs " + std::to_string(needed));
  }
  return Error::success();
}

/// The file's elements, or its row for this step.
Error Steps::readFile(Argument &argument) const {
  argument.value = Tensor(argument.type);
  uint64_t bytes = argument.value.bytes.size();
  uint64_t row = argument.perStep ? static_cast<uint64_t>(state.step) : 0;
  return argument.file->read(argument.value.bytes.data(), row * bytes, bytes);
}

} // namespace reprise::steps
