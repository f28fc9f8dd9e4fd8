// reprise: the files of training steps in the interpreter: input arrays, and the output folder
#include "StepsImpl.h"

#include "reprise/Runtime/File.h"
#include "reprise/Support/Wording.h"

using namespace mlir;

namespace reprise::steps {

Error Steps::giveArray(StringRef name, const runtime::ArraySource &source) {
  std::shared_ptr<const runtime::ArrayFile> file; // file of all its parts
  for (Argument &argument : arguments) {
    if (nameOfArray(argument.name, argument.rows) != name || isScalarRole(argument.role))
      continue;
    if (!file) {
      auto opened = runtime::openArray(source, dtypeOf(argument.type.getElementType()));
      if (!opened)
        return opened.error();
      file = std::make_shared<const runtime::ArrayFile>(std::move(*opened));
    }
    std::vector<int64_t> own = shapeOfArray(argument.type, argument.rows), given = file->shape();
    bool perStep = given != own;
    bool rows = argument.role == Role::Input && !given.empty() &&
                ArrayRef<int64_t>(given).drop_front() == ArrayRef<int64_t>(own);
    if (perStep && !rows)
      return Error::make("cannot read " + file->label() + ": shape " + runtime::shapeText(given) +
                         ", expected " + runtime::shapeText(own) + " for '" + name.str() + "'");
    argument.file = file;
    argument.perStep = perStep;
  }
  return file ? Error::success()
              : Error::make("there is no argument '" + name.str() + "' to take from '" +
                            source.path + "'");
}

Error Steps::giveFolder(const std::string &path) {
  std::vector<std::string> names;
  std::vector<bool> areScalars;
  for (const Argument &argument : arguments) {
    if (!beginsArray(argument.rows))
      continue;
    names.push_back(nameOfArray(argument.name, argument.rows));
    areScalars.push_back(isScalarRole(argument.role));
  }
  auto mayBeGiven = [&](size_t argument) { return !areScalars[argument]; };
  auto found = runtime::openRunFolder(path, names, mayBeGiven);
  if (!found)
    return found.error();
  record = std::move(found->record);
  if (record)
    state = record->state;
  for (const auto &[argument, source] : found->arrays)
    if (Error error = giveArray(names[argument], source))
      return error;
  return Error::success();
}

runtime::OutputFolder Steps::outputFolder(const StepsOptions &options) const {
  runtime::OutputFolder output{options.outputDir, interface(), {}, options.inputDir};
  for (const Argument &argument : arguments)
    if (argument.file) {
      output.inputs.push_back(argument.file->path());
      if (!argument.file->tensor().empty())
        output.tensors[argument.file->path()].push_back(nameOfArray(argument.name, argument.rows));
    }
  return output;
}

/// Checks that the input folder is complete, and that the output replaces no input.
Error Steps::checkFolders(const StepsOptions &options) const {
  if (!options.outputDir.empty())
    if (Error error = runtime::checkRunFolder(outputFolder(options)))
      return error;
  std::vector<bool> has;
  for (const Argument &argument : arguments)
    if (!isScalarRole(argument.role) && beginsArray(argument.rows))
      has.push_back(argument.file != nullptr);
  return options.inputDir.empty()
             ? Error::success()
             : runtime::checkRecord(options.inputDir, record, interface(), has);
}

Error Steps::checkValues(int64_t steps) const {
  for (const Argument &argument : arguments) {
    if (isScalarRole(argument.role))
      continue;
    if (!argument.file && !argument.init)
      return Error::make(std::string(runtime::roleName(argument.role)) + " '" +
                         nameOfArray(argument.name, argument.rows) +
                         "' has no initializer and was given no value");
    int64_t needed = state.step + steps;
    if (argument.file && argument.perStep && argument.file->shape()[0] < needed)
      return Error::make("cannot read " + argument.file->label() + ": holds " +
                         amount(argument.file->shape()[0], "step") + ", the run needs " +
                         groupDigits(needed));
  }
  return Error::success();
}

/// The file's elements, or its row for this step.
Error Steps::readFile(Argument &argument) const {
  argument.value = Tensor(argument.type);
  runtime::ArrayRef part = describePart(argument.name, argument.type, argument.rows);
  uint64_t step = argument.perStep ? static_cast<uint64_t>(state.step) : 0;
  return argument.file->readRuns(argument.value.bytes.data(), step * part.wholeBytes(),
                                 part.runsInWhole());
}

} // namespace reprise::steps
