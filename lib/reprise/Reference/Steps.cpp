// reprise: training steps in the interpreter; the counterpart of the runtime's Session.
#include "StepsImpl.h"

#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Reference/Initial.h"
#include "reprise/Reference/Interpreter.h"
#include "reprise/Reference/Numbers.h"
#include "reprise/Runtime/Progress.h"
#include "reprise/Support/StableSort.h"

#include <numeric>

using namespace mlir;

namespace reprise::steps {

static std::optional<Role> parseRole(StringRef text) {
  for (unsigned i = 0; i < runtime::numRoles; ++i)
    if (text == runtime::roleName(static_cast<Role>(i)))
      return static_cast<Role>(i);
  return std::nullopt;
}

static std::string textOf(StringAttr name) { return name ? name.str() : std::string(); }

Error Steps::readSignature() {
  for (FunctionOpInterface program : programs)
    if (Error error = readArguments(program))
      return error;
  for (FunctionOpInterface program : programs)
    if (Error error = readResults(program))
      return error;
  order.resize(names.size());
  std::iota(order.begin(), order.end(), size_t(0));
  sortStably(order, [&](size_t a, size_t b) { return positions[a] < positions[b]; });
  return Error::success();
}

Error Steps::readArguments(FunctionOpInterface program) {
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
    argument.position = signature.getArgumentPosition(i);
    argument.rows = signature.getArgumentRows(i);
  }
  return Error::success();
}

Error Steps::readResults(FunctionOpInterface program) {
  EntrySignature signature(program);
  for (unsigned i = 0; i < program.getNumResults(); ++i) {
    names.push_back(textOf(signature.getResultName(i)));
    types.push_back(program.getResultTypes()[i]);
    resultRows.push_back(signature.getResultRows(i));
    positions.push_back(signature.getResultPosition(i));
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

/// Returns whether the result is the next offset, which each program may return.
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

Tensor Steps::makeInitial(const Argument &argument, int64_t step) const {
  RowsOf rows;
  if (argument.rows)
    rows = {argument.rows->first, argument.rows->of, argument.rows->dim};
  return initialValue(argument.type, nameOfArray(argument.name, argument.rows), argument.init,
                      state.seed, step, argument.role == Role::Input, rows);
}

//===-- Steps ---------------------------------------------------------------------------------===//

Error Steps::prepare(const StepsOptions &options) {
  if (!options.inputDir.empty())
    if (Error error = giveFolder(options.inputDir))
      return error;
  for (const auto &[name, path] : options.inputs) {
    auto source = find(name) ? runtime::findArray(path, name, {}) : runtime::ArraySource{path};
    if (!source)
      return source.error();
    if (Error error = giveArray(name, *source))
      return error;
  }
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
      argument.value = makeInitial(argument, 0);
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
  argument.value = makeInitial(argument, state.step);
  return Error::success();
}

static std::optional<double> scalarOf(const Tensor &tensor) {
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
  // The next offset is the largest that programs return.
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
  runtime::RunInterface own{getEntryName(programs.front()).str(), {}, {}};
  std::vector<const Argument *> sorted;
  for (const Argument &argument : arguments)
    sorted.push_back(&argument);
  sortStably(sorted,
             [](const Argument *a, const Argument *b) { return a->position < b->position; });
  for (const Argument *argument : sorted)
    if (!isScalarRole(argument->role) && beginsArray(argument->rows))
      own.arguments.push_back({nameOfArray(argument->name, argument->rows), argument->role,
                               dtypeOf(argument->type.getElementType()),
                               shapeOfArray(argument->type, argument->rows)});
  for (size_t i : order)
    if (auto tensor = dyn_cast<RankedTensorType>(types[i]);
        tensor && !isOffset(i) && beginsArray(resultRows[i]))
      own.results.push_back({nameOfArray(names[i], resultRows[i]), Role::Input,
                             dtypeOf(tensor.getElementType()),
                             shapeOfArray(tensor, resultRows[i])});
  return own;
}

std::vector<runtime::ArrayRef> Steps::arrays() const {
  std::vector<runtime::ArrayRef> shown;
  for (size_t i : order) {
    if (isOffset(i))
      continue;
    shown.push_back(describePart(names[i], results[i].type, resultRows[i]));
    shown.back().data = results[i].bytes.data();
  }
  return shown;
}

Error Steps::write(const StepsOptions &options) const {
  return runtime::writeRunFolder(outputFolder(options), arrays(), state);
}

/// The device programs, by device, or the one function that import leaves.
static std::vector<FunctionOpInterface> findEntries(ModuleOp module) {
  SmallVector<ProgramOp> programs = findPrograms(module);
  sortStably(programs,
             [](ProgramOp a, ProgramOp b) { return findOnlyDevice(a) < findOnlyDevice(b); });
  if (!programs.empty())
    return {programs.begin(), programs.end()};
  auto functions = llvm::to_vector(module.getOps<func::FuncOp>());
  if (functions.size() != 1 || functions.front().isExternal())
    return {};
  return {functions.front()};
}

static Error runSteps(Steps &steps, const StepsOptions &options) {
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

} // namespace reprise::steps

namespace reprise {

FailureOr<StepsReport> interpretSteps(ModuleOp module, const StepsOptions &options,
                                      std::string &error) {
  error.clear();
  std::vector<FunctionOpInterface> programs = steps::findEntries(module);
  if (programs.empty()) {
    error = "expected one function in the module; run the import phase first";
    return failure();
  }
  steps::Steps run(std::move(programs));
  if (runtime::Error failed = steps::runSteps(run, options)) {
    error = failed.message();
    return failure();
  }
  return StepsReport{run.state, runtime::hashArrays(run.arrays()), run.loss};
}

} // namespace reprise
