// reprise: training steps in the interpreter; the counterpart of the runtime's Session.
#include "reprise/Reference/Steps.h"

#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Reference/Initial.h"
#include "reprise/Reference/Interpreter.h"
#include "reprise/Reference/Numbers.h"
#include "reprise/Runtime/File.h"
#include "reprise/Runtime/Progress.h"
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

using namespace mlir;

namespace reprise {
namespace {

using runtime::Error;
using runtime::Role;

struct Argument {
  std::string name;
  Role role;
  RankedTensorType type;
  Attribute init;
  Tensor value;
  std::optional<runtime::NpyFile> file;
  bool perStep = false; // the file has one leading row per absolute step
  int result = -1;      // the result that is the next value
};

class Steps {
public:
  explicit Steps(func::FuncOp entry) : entry(entry) {}

  Error readSignature();
  Error prepare(const StepsOptions &options);
  Error write(const StepsOptions &options) const;
  /// One step; an error without text if diagnostics have told.
  Error step();

  runtime::RunState state;
  std::vector<double> loss;
  /// The last step's results but for the next offset.
  std::vector<runtime::ArrayRef> arrays() const;

private:
  Argument *find(StringRef name);
  Error giveArray(StringRef name, const std::string &path);
  Error giveFolder(const std::string &path);
  Error checkValues(int64_t steps) const;
  Error readFile(Argument &argument) const;
  Error setInput(Argument &argument, bool first) const;
  runtime::RunInterface interface() const;
  runtime::OutputFolder outputFolder(const StepsOptions &options) const;
  Error checkFolders(const StepsOptions &options) const;

  func::FuncOp entry;
  std::vector<Argument> arguments;
  std::vector<std::string> names; // of the results
  std::vector<Tensor> results;
  std::optional<runtime::RunRecord> record; // of the input folder
  int offsetResult = -1;
};

bool isScalarRole(Role role) {
  return role == Role::Seed || role == Role::Offset || role == Role::Step;
}

std::optional<Role> parseRole(StringRef text) {
  for (unsigned i = 0; i < runtime::numRoles; ++i)
    if (text == runtime::roleName(static_cast<Role>(i)))
      return static_cast<Role>(i);
  return std::nullopt;
}

Error Steps::readSignature() {
  EntrySignature signature(entry);
  auto text = [](StringAttr name) { return name ? name.str() : std::string(); };
  for (auto [i, type] : llvm::enumerate(entry.getArgumentTypes())) {
    std::string name = text(signature.getArgumentName(i));
    std::optional<Role> role = parseRole(signature.getRole(i));
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (name.empty() || !role || !tensor)
      return Error::make("argument " + std::to_string(i) + " of '" + entry.getName().str() +
                         "' has no name or no role; run the import phase first");
    Argument &argument = arguments.emplace_back();
    argument.name = name;
    argument.role = *role;
    argument.type = tensor;
    argument.init = signature.getInit(i);
  }
  for (unsigned i = 0; i < entry.getNumResults(); ++i) {
    names.push_back(text(signature.getResultName(i)));
    if (names.back().empty())
      return Error::make("result " + std::to_string(i) + " of '" + entry.getName().str() +
                         "' has no name; run the import phase first");
    Argument *argument = find(names.back());
    if (argument && argument->type != entry.getResultTypes()[i])
      return Error::make("result '" + names.back() + "' has another type than the argument");
    if (argument && argument->role == Role::Offset)
      offsetResult = i;
    else if (argument)
      argument->result = i;
  }
  return Error::success();
}

Argument *Steps::find(StringRef name) {
  for (Argument &argument : arguments)
    if (argument.name == name)
      return &argument;
  return nullptr;
}

//===-- Files ---------------------------------------------------------------------------------===//

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
  struct stat status{};
  if (stat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
    return Error::make("cannot read '" + path + "': it is no folder");
  std::vector<std::string> own;
  for (const Argument &argument : arguments)
    own.push_back(argument.name);
  if (Error error = runtime::checkFileNames("argument", own))
    return Error::make("cannot read '" + path + "': " + error.message());
  auto found = runtime::readRunRecord(path);
  if (!found)
    return found.error();
  record = std::move(*found);
  if (record)
    state = record->state;
  bool isEmpty = true;
  for (Argument &argument : arguments) {
    std::string file = path + "/" + runtime::arrayFileName(argument.name);
    if (isScalarRole(argument.role) || access(file.c_str(), F_OK) != 0)
      continue;
    if (Error error = giveArray(argument.name, file))
      return error;
    isEmpty = false;
  }
  if (isEmpty && !record)
    return Error::make("cannot go on from '" + path +
                       "': it holds neither run.json nor an argument");
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

//===-- Steps ---------------------------------------------------------------------------------===//

Error Steps::prepare(const StepsOptions &options) {
  if (!options.inputDir.empty())
    if (Error error = giveFolder(options.inputDir))
      return error;
  for (const auto &[name, path] : options.inputs)
    if (Error error = giveArray(name, path))
      return error;
  state.seed = options.seed.value_or(state.seed);
  state.offset = options.offset.value_or(state.offset);
  if (Error error = runtime::checkRunState(state))
    return error;
  if (Error error = checkFolders(options))
    return error;
  if (int64_t last; __builtin_add_overflow(state.step, options.steps, &last))
    return Error::make("the number of the last step is out of range");
  if (Error error = checkValues(options.steps))
    return error;
  if (!fitsMemory(entry.getArgumentTypes()))
    return Error::make("the arguments of '" + entry.getName().str() +
                       "' exceed this machine's memory");
  for (Argument &argument : arguments) {
    if (argument.role != Role::Parameter && argument.role != Role::State)
      continue;
    if (!argument.file)
      argument.value =
          initialValue(argument.type, argument.name, argument.init, state.seed, 0, false);
    else if (Error error = readFile(argument))
      return error;
  }
  return Error::success();
}

/// The input's value for this step. One that a result replaces keeps that after the first step,
/// unless a file has one value per step.
Error Steps::setInput(Argument &argument, bool first) const {
  bool carried = argument.result >= 0 && !(argument.file && argument.perStep);
  if (!first && carried)
    return Error::success();
  if (argument.file)
    return readFile(argument);
  argument.value =
      initialValue(argument.type, argument.name, argument.init, state.seed, state.step, true);
  return Error::success();
}

std::optional<double> scalarOf(const Tensor &tensor) {
  Type type = tensor.type.getElementType();
  if (tensor.size() != 1 || !isa<FloatType>(type))
    return std::nullopt;
  if (type.isF64())
    return tensor.data<double>()[0];
  if (type.isF32())
    return tensor.data<float>()[0];
  uint16_t bits = tensor.data<uint16_t>()[0];
  return type.isBF16() ? reference::fromBf16(bits) : reference::fromF16(bits);
}

Error Steps::step() {
  bool first = results.empty();
  std::vector<Tensor> values;
  for (Argument &argument : arguments) {
    if (isScalarRole(argument.role)) {
      argument.value = Tensor(argument.type);
      argument.value.data<int64_t>()[0] = argument.role == Role::Seed     ? state.seed
                                          : argument.role == Role::Offset ? state.offset
                                                                          : state.step;
    } else if (argument.role == Role::Input) {
      if (Error error = setInput(argument, first))
        return error;
    }
    values.push_back(argument.value);
  }
  FailureOr<std::vector<Tensor>> returned = interpret(entry, values);
  if (failed(returned))
    return Error::make("");
  results = std::move(*returned);
  for (Argument &argument : arguments)
    if (argument.result >= 0)
      argument.value = results[argument.result];
  if (offsetResult >= 0)
    state.offset = results[offsetResult].data<int64_t>()[0];
  if (state.offset < 0)
    return Error::make("step " + std::to_string(state.step) +
                       ", the random offset is out of range");
  state.step += 1;
  for (size_t i = 0; i < names.size(); ++i)
    if (std::optional<double> value = scalarOf(results[i]); value && names[i] == "loss")
      loss.push_back(*value);
  return Error::success();
}

runtime::RunInterface Steps::interface() const {
  func::FuncOp function = entry; // a handle, whose own functions are not const
  runtime::RunInterface own{function.getName().str(), {}, {}};
  for (const Argument &argument : arguments)
    if (!isScalarRole(argument.role))
      own.arguments.push_back({argument.name, argument.role,
                               dtypeOf(argument.type.getElementType()),
                               argument.type.getShape().vec()});
  for (auto [i, type] : llvm::enumerate(function.getResultTypes()))
    if (auto tensor = dyn_cast<RankedTensorType>(type);
        tensor && static_cast<int>(i) != offsetResult)
      own.results.push_back(
          {names[i], Role::Input, dtypeOf(tensor.getElementType()), tensor.getShape().vec()});
  return own;
}

std::vector<runtime::ArrayRef> Steps::arrays() const {
  std::vector<runtime::ArrayRef> shown;
  for (size_t i = 0; i < results.size(); ++i)
    if (static_cast<int>(i) != offsetResult)
      shown.push_back({names[i], dtypeOf(results[i].type.getElementType()),
                       results[i].type.getShape().vec(), results[i].bytes.data()});
  return shown;
}

Error Steps::write(const StepsOptions &options) const {
  return runtime::writeRunFolder(outputFolder(options), arrays(), state);
}

/// The one function that import leaves.
func::FuncOp findEntry(ModuleOp module) {
  auto functions = llvm::to_vector(module.getOps<func::FuncOp>());
  return functions.size() == 1 && !functions[0].isExternal() ? functions[0] : func::FuncOp();
}

Error runSteps(Steps &steps, const StepsOptions &options) {
  if (Error error = steps.readSignature())
    return error;
  if (Error error = steps.prepare(options))
    return error;
  Progress progress("step", options.steps);
  for (int64_t i = 0; i < options.steps; ++i) {
    if (Error error = steps.step())
      return error;
    progress.update(i + 1);
  }
  if (options.outputDir.empty())
    return Error::success();
  return steps.write(options);
}

} // namespace

FailureOr<StepsReport> interpretSteps(ModuleOp module, const StepsOptions &options,
                                      std::string &error) {
  error.clear();
  func::FuncOp entry = findEntry(module);
  if (!entry) {
    error = "expected one function in the module; run the import phase first";
    return failure();
  }
  Steps steps(entry);
  if (Error failed = runSteps(steps, options)) {
    error = failed.message();
    return failure();
  }
  return StepsReport{steps.state, runtime::hashArrays(steps.arrays()), steps.loss};
}

} // namespace reprise
