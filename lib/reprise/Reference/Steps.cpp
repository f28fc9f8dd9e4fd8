// reprise: training steps in the interpreter; the counterpart of the runtime's Session.
#include "reprise/Reference/Steps.h"

#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
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
  explicit Steps(std::vector<func::FuncOp> programs) : programs(std::move(programs)) {}

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
  Error readArguments(func::FuncOp program);
  Error readResults(func::FuncOp program);
  Argument *find(StringRef name);
  Error giveArray(StringRef name, const std::string &path);
  Error giveFolder(const std::string &path);
  Error checkValues(int64_t steps) const;
  Error readFile(Argument &argument) const;
  Error setInput(Argument &argument, bool first) const;
  runtime::RunInterface interface() const;
  runtime::OutputFolder outputFolder(const StepsOptions &options) const;
  Error checkFolders(const StepsOptions &options) const;

  bool isOffset(size_t result) const;

  std::vector<func::FuncOp> programs; // by device
  std::vector<Argument> arguments;    // of all programs, those of one name once
  std::vector<std::vector<size_t>> taken; // by program, what it takes
  std::vector<std::string> names;         // of the results, one program's after another's
  std::vector<Type> types;                // of the results
  std::vector<Tensor> results;
  std::optional<runtime::RunRecord> record; // of the input folder
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

std::string textOf(StringAttr name) { return name ? name.str() : std::string(); }

Error Steps::readSignature() {
  for (func::FuncOp program : programs)
    if (Error error = readArguments(program))
      return error;
  for (func::FuncOp program : programs)
    if (Error error = readResults(program))
      return error;
  return Error::success();
}

Error Steps::readArguments(func::FuncOp program) {
  EntrySignature signature(program);
  std::vector<size_t> &own = taken.emplace_back();
  for (auto [i, type] : llvm::enumerate(program.getArgumentTypes())) {
    std::string name = textOf(signature.getArgumentName(i));
    std::optional<Role> role = parseRole(signature.getRole(i));
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (name.empty() || !role || !tensor)
      return Error::make("argument " + std::to_string(i) + " of '" + program.getName().str() +
                         "' has no name or no role; run the import phase first");
    if (Argument *known = find(name); known && programs.size() > 1) {
      own.push_back(known - arguments.data());
      continue;
    }
    own.push_back(arguments.size());
    Argument &argument = arguments.emplace_back();
    argument.name = name;
    argument.role = *role;
    argument.type = tensor;
    argument.init = signature.getInit(i);
  }
  return Error::success();
}

Error Steps::readResults(func::FuncOp program) {
  EntrySignature signature(program);
  for (unsigned i = 0; i < program.getNumResults(); ++i) {
    names.push_back(textOf(signature.getResultName(i)));
    types.push_back(program.getResultTypes()[i]);
    if (names.back().empty())
      return Error::make("result " + std::to_string(i) + " of '" + program.getName().str() +
                         "' has no name; run the import phase first");
    Argument *argument = find(names.back());
    if (argument && argument->type != types.back())
      return Error::make("result '" + names.back() + "' has another type than the argument");
    if (argument && argument->role != Role::Offset)
      argument->result = static_cast<int>(names.size() - 1);
  }
  return Error::success();
}

/// Whether the result is the next offset, which each program may return.
bool Steps::isOffset(size_t result) const {
  return llvm::any_of(arguments, [&](const Argument &argument) {
    return argument.role == Role::Offset && argument.name == names[result];
  });
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
  SmallVector<Type> all;
  for (const Argument &argument : arguments)
    all.push_back(argument.type);
  if (!fitsMemory(all))
    return Error::make("the arguments of '" + programs.front().getName().str() +
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
  }
  std::vector<ProgramCall> calls;
  for (auto [program, own] : llvm::zip(programs, taken)) {
    ProgramCall &call = calls.emplace_back();
    call.program = program;
    for (size_t argument : own)
      call.arguments.push_back(arguments[argument].value);
  }
  FailureOr<std::vector<std::vector<Tensor>>> returned = interpretPrograms(calls);
  if (failed(returned))
    return Error::make("");
  results.clear();
  for (std::vector<Tensor> &own : *returned)
    llvm::append_range(results, std::move(own));
  for (Argument &argument : arguments)
    if (argument.result >= 0)
      argument.value = results[argument.result];
  // The largest of those that programs return.
  std::optional<int64_t> offset;
  for (size_t i = 0; i < names.size(); ++i)
    if (isOffset(i))
      offset = std::max(offset.value_or(INT64_MIN), results[i].data<int64_t>()[0]);
  state.offset = offset.value_or(state.offset);
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
  func::FuncOp first = programs.front(); // a handle, whose own functions are not const
  runtime::RunInterface own{first.getName().str(), {}, {}};
  for (const Argument &argument : arguments)
    if (!isScalarRole(argument.role))
      own.arguments.push_back({argument.name, argument.role,
                               dtypeOf(argument.type.getElementType()),
                               argument.type.getShape().vec()});
  for (auto [i, type] : llvm::enumerate(types))
    if (auto tensor = dyn_cast<RankedTensorType>(type); tensor && !isOffset(i))
      own.results.push_back(
          {names[i], Role::Input, dtypeOf(tensor.getElementType()), tensor.getShape().vec()});
  return own;
}

std::vector<runtime::ArrayRef> Steps::arrays() const {
  std::vector<runtime::ArrayRef> shown;
  for (size_t i = 0; i < results.size(); ++i)
    if (!isOffset(i))
      shown.push_back({names[i], dtypeOf(results[i].type.getElementType()),
                       results[i].type.getShape().vec(), results[i].bytes.data()});
  return shown;
}

Error Steps::write(const StepsOptions &options) const {
  return runtime::writeRunFolder(outputFolder(options), arrays(), state);
}

/// The device programs, by device, or the one function that import leaves.
std::vector<func::FuncOp> findEntries(ModuleOp module) {
  SmallVector<func::FuncOp> functions = findPrograms(module);
  llvm::stable_sort(functions,
                    [](func::FuncOp a, func::FuncOp b) { return *getDevice(a) < *getDevice(b); });
  if (functions.empty())
    functions = llvm::to_vector(module.getOps<func::FuncOp>());
  bool areEntries = functions.size() == 1 || (!functions.empty() && getDevice(functions.front()));
  if (!areEntries || llvm::any_of(functions, [](func::FuncOp each) { return each.isExternal(); }))
    return {};
  return {functions.begin(), functions.end()};
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
  std::vector<func::FuncOp> programs = findEntries(module);
  if (programs.empty()) {
    error = "expected one function in the module; run the import phase first";
    return failure();
  }
  Steps steps(std::move(programs));
  if (Error failed = runSteps(steps, options)) {
    error = failed.message();
    return failure();
  }
  return StepsReport{steps.state, runtime::hashArrays(steps.arrays()), steps.loss};
}

} // namespace reprise
