// reprise: from command lists to a bundle
#include "reprise/Conversion/ExecToBundle.h"

#include "ConstantTable.h"
#include "ExplicitCommands.h"
#include "IndexChecks.h"
#include "ProgramOrder.h"
#include "TargetKernels.h"
#include "reprise/Dialect/Exec/IR/Arena.h"
#include "reprise/Dialect/Exec/IR/Storage.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/Dialect/Reprise/IR/Loops.h"
#include "reprise/Dialect/Reprise/IR/Pause.h"
#include "reprise/Reference/Tensor.h"
#include "reprise/Support/ByteSize.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace reprise {

namespace {

/// Adds the programs of one device.
class BundleBuilder {
public:
  BundleBuilder(runtime::Bundle &bundle, ConstantTable &constants, uint32_t device, ProgramOp step,
                const TargetKernels &kernels)
      : bundle(bundle), constants(constants), device(device), step(step), kernels(kernels) {}

  /// Describes an argument of the step that no device has yet.
  void describe(unsigned argument) { addArgument(describeArgument(argument)); }

  void describeArguments() {
    numbers.clear();
    for (unsigned i = 0; i < step.getNumArguments(); ++i)
      addArgument(describeArgument(i));
    runtime::Argument number;
    number.name = "step";
    number.role = runtime::Role::Step;
    number.dtype = runtime::DType::I64;
    number.bytes = 8;
    addArgument(std::move(number));
  }

  void describeDevice() {
    runtime::DeviceEntry entry{step.getName().str(), {numbers.begin(), numbers.end()}};
    llvm::sort(entry.arguments);
    bundle.devices.push_back(std::move(entry));
  }

  void addProgram(StringRef name, ProgramOp function) {
    runtime::Program program;
    program.name = name.str();
    program.device = device;
    program.arenaBytes = exec::getArenaBytes(function).value_or(0);
    program.hostBytes = exec::getHostBytes(function).value_or(0);
    events.clear();
    addBlock(function.getBody().front(), program);
    bundle.programs.push_back(std::move(program));
  }

  void describeResults() {
    EntrySignature signature(step);
    for (auto [i, value] : llvm::enumerate(returned())) {
      StringAttr name = signature.getResultName(i);
      if (!name) {
        addReplayCheck(i);
        continue;
      }
      runtime::Result result;
      auto type = cast<RankedTensorType>(value.getType());
      result.name = name.getValue().str();
      result.dtype = dtypeOf(type.getElementType());
      result.shape.assign(type.getShape().begin(), type.getShape().end());
      result.device = device;
      result.rows = describeRows(signature.getResultRows(i));
      int64_t replaced = signature.getReplacedArguments()[i];
      result.argument = replaced < 0 ? -1 : static_cast<int32_t>(numbers[replaced]);
      result.buffer = result.argument < 0 ? placeOf(value) : wholeArgument(result.argument);
      bundle.results.push_back(std::move(result));
    }
  }

private:
  /// Adds an argument; an argument of an earlier device with this name is the same argument.
  void addArgument(runtime::Argument argument) {
    auto found = llvm::find_if(bundle.arguments, [&](const runtime::Argument &other) {
      return other.name == argument.name;
    });
    numbers.push_back(static_cast<uint32_t>(found - bundle.arguments.begin()));
    if (found == bundle.arguments.end())
      bundle.arguments.push_back(std::move(argument));
  }

  OperandRange returned() { return step.getBody().front().getTerminator()->getOperands(); }

  /// Returns the buffer of an argument, into which commands have stored the next value.
  runtime::BufferRef wholeArgument(int32_t argument) const {
    runtime::BufferRef place;
    place.space = runtime::Space::Argument;
    place.index = argument;
    place.bytes = bundle.arguments[argument].bytes;
    return place;
  }

  /// A result without a name is a replay, to be compared with another result, or only the original
  /// of one.
  void addReplayCheck(unsigned result) {
    EntrySignature signature(step);
    std::optional<int64_t> original = signature.getReplayOf(result);
    if (!original)
      return;
    runtime::ReplayCheck check;
    check.name = signature.getCheck(result).str();
    check.dtype = dtypeOf(cast<RankedTensorType>(returned()[result].getType()).getElementType());
    check.device = device;
    check.original = placeOf(returned()[*original]);
    check.replayed = placeOf(returned()[result]);
    bundle.replayChecks.push_back(std::move(check));
  }

  runtime::Argument describeArgument(unsigned i) {
    auto type = cast<RankedTensorType>(step.getArgument(i).getType());
    EntrySignature signature(step);
    runtime::Argument argument;
    argument.name = signature.getArgumentName(i).str();
    argument.role = llvm::StringSwitch<runtime::Role>(signature.getRole(i))
                        .Case("parameter", runtime::Role::Parameter)
                        .Case("state", runtime::Role::State)
                        .Case("seed", runtime::Role::Seed)
                        .Case("offset", runtime::Role::Offset)
                        .Default(runtime::Role::Input);
    argument.dtype = dtypeOf(type.getElementType());
    argument.shape.assign(type.getShape().begin(), type.getShape().end());
    argument.batchDim = signature.getBatchDim(i).value_or(-1);
    argument.bytes = getByteSize(type);
    argument.hasInitializer = signature.getInit(i) != nullptr;
    argument.rows = describeRows(signature.getArgumentRows(i));
    return argument;
  }

  /// The commands of a loop stand once, below a repeat; their operands move row by row.
  void addBlock(Block &block, runtime::Program &program) {
    for (Operation &op : block) {
      if (auto launch = dyn_cast<exec::LaunchOp>(op))
        addCommands(launch, program);
      else if (auto copy = dyn_cast<exec::CopyOp>(op))
        addCopy(copy, program);
      else if (auto loop = dyn_cast<LoopOp>(op))
        addLoop(loop, program);
      else if (isa<PauseOp>(op))
        program.pause = static_cast<int64_t>(program.commands.size());
      else if (exec::isExplicit(&op))
        addExplicit(&op, program);
    }
  }

  void addLoop(LoopOp loop, runtime::Program &program) {
    size_t at = program.commands.size();
    runtime::Command repeat;
    repeat.kind = runtime::CommandKind::Repeat;
    repeat.items = loop.getTrip();
    program.commands.push_back(std::move(repeat));
    around.push_back(loop);
    addBlock(loop.getBlock(), program);
    around.pop_back();
    size_t body = program.commands.size() - at - 1;
    program.commands[at].body = static_cast<uint32_t>(body);
    if (body == 0 || loop.getTrip() == 0)
      program.commands.resize(at);
  }

  void addCopy(exec::CopyOp copy, runtime::Program &program) {
    runtime::Command command;
    command.kind = runtime::CommandKind::Copy;
    command.label = "copy";
    command.operands = {placeIn(copy.getValue(), runtime::Read), {}};
    runtime::BufferRef &to = command.operands[1].buffer;
    to.space = runtime::Space::Argument;
    to.index = numbers[copy.getArgument()];
    to.bytes = getByteSize(copy.getValue().getType());
    command.operands[1].access = runtime::Write;
    command.bytes = 2 * to.bytes;
    if (to.bytes != 0)
      program.commands.push_back(std::move(command));
  }

  /// A call, transfer, record or wait.
  void addExplicit(Operation *op, runtime::Program &program) {
    program.commands.push_back(describeExplicit(
        op, [&](Value value, runtime::Access access) { return placeIn(value, access); }, events));
  }

  /// Returns the buffer that holds a value between launches: its place in the first iteration of
  /// the loops around, and its move per iteration. A reverse loop starts at its last row.
  runtime::Operand placeIn(Value value, runtime::Access access) {
    exec::Storage storage = exec::findStorage(value);
    runtime::Operand operand;
    operand.access = access;
    operand.buffer = placeOfRoot(storage.root);
    operand.buffer.bytes = getByteSize(value.getType());
    operand.buffer.offset += storage.offset;
    for (auto [loop, bytes] : storage.rows) {
      size_t level = llvm::find(around, loop) - around.begin();
      assert(level < around.size() && "a row outside of its loop");
      operand.strides.resize(std::max(operand.strides.size(), level + 1));
      operand.strides[level] += loop.getReverse() ? -bytes : bytes;
      if (loop.getReverse())
        operand.buffer.offset += (loop.getTrip() - 1) * bytes;
    }
    return operand;
  }

  /// Returns the buffer of a value outside of loops.
  runtime::BufferRef placeOf(Value value) { return placeIn(value, runtime::Read).buffer; }

  runtime::BufferRef placeOfRoot(Value value) {
    runtime::BufferRef place;
    place.bytes = getByteSize(value.getType());
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      place.space = runtime::Space::Argument;
      place.index = numbers[argument.getArgNumber()];
    } else if (auto maker = value.getDefiningOp<exec::StoringOpInterface>()) {
      unsigned result = cast<OpResult>(value).getResultNumber();
      int64_t argument = (*maker.getArguments())[result];
      place.space = argument < 0 ? runtime::Space::Arena : runtime::Space::Argument;
      place.index = argument < 0 ? 0 : numbers[argument];
      place.offset = (*maker.getOffsets())[result];
    } else if (auto loop = value.getDefiningOp<LoopOp>()) {
      place.offset = loop->getAttrOfType<DenseI64ArrayAttr>(
          exec::kOffsetsAttr)[cast<OpResult>(value).getResultNumber()];
    } else {
      place.space = runtime::Space::Constant;
      place.offset = constants.offsetOf(value.getDefiningOp<ConstantOp>().getValue());
    }
    return place;
  }

  void addCommands(exec::LaunchOp launch, runtime::Program &program) {
    const CompiledLaunch &compiled = kernels.table.lookup(launch);
    SmallVector<runtime::Operand> inputs, outputs;
    for (Value input : launch.getInputs())
      inputs.push_back(placeIn(input, runtime::Read));
    for (Value result : launch.getResults())
      outputs.push_back(placeIn(result, runtime::Write));
    runtime::Operand scratch = scratchAt(launch.getScratch().value_or(ArrayRef<int64_t>{0, 0}));
    size_t first = program.commands.size();
    // Commands other than the one with the launch's name, such as packing, are a small part of the
    // work.
    StringRef main = findMainKernel(compiled.emitted);
    for (const EmittedCommand &emitted : compiled.emitted.commands) {
      runtime::Command command;
      if (emitted.function.empty()) {
        command.kernel = kernels.firstKernel + kernels.table.indexOf(emitted.kernel);
        command.items = emitted.items;
      } else {
        command.kind = runtime::CommandKind::Call;
        command.function = emitted.function;
        command.numbers = emitted.numbers;
      }
      command.label = compiled.label;
      command.bytes = emitted.bytes;
      for (const BufferSlot &slot : emitted.buffers)
        command.operands.push_back(slot.kind == BufferSlot::Stream
                                       ? streamOperand(compiled.streams[slot.index])
                                       : operandOf(slot, inputs, outputs, scratch));
      if (emitted.kernel == main)
        describeWork(launch, command);
      program.commands.push_back(std::move(command));
    }
    addIndexChecks(launch, compiled.emitted, MutableArrayRef(program.commands).drop_front(first));
  }

  runtime::Operand streamOperand(int64_t stream) {
    auto type = RankedTensorType::get({}, IntegerType::get(step.getContext(), 64));
    runtime::Operand operand;
    operand.buffer.space = runtime::Space::Constant;
    operand.buffer.offset = constants.offsetOf(DenseElementsAttr::get(type, stream));
    operand.buffer.bytes = sizeof(int64_t);
    operand.access = runtime::Read;
    return operand;
  }

  static runtime::Operand operandOf(const BufferSlot &slot, ArrayRef<runtime::Operand> inputs,
                                    ArrayRef<runtime::Operand> outputs,
                                    const runtime::Operand &scratch) {
    runtime::Operand operand = slot.kind == BufferSlot::Shared  ? scratch
                               : slot.kind == BufferSlot::Input ? inputs[slot.index]
                                                                : outputs[slot.index];
    operand.buffer.offset += slot.offset;
    operand.buffer.bytes -= slot.offset;
    return operand;
  }

  void describeWork(exec::LaunchOp launch, runtime::Command &command) {
    for (Operation &op : launch.getBody().front())
      if (auto cost = dyn_cast<CostOpInterface>(op))
        command.flops += cost.getFlops();
    for (Value value : llvm::concat<Value>(SmallVector<Value>(launch.getInputs()),
                                           SmallVector<Value>(launch.getResults())))
      command.bytes += getByteSize(value.getType());
  }

  runtime::Bundle &bundle;
  ConstantTable &constants;
  uint32_t device;
  ProgramOp step;
  const TargetKernels &kernels;
  /// Numbers in the bundle of the step's arguments and its step number.
  SmallVector<uint32_t> numbers;
  DenseMap<Value, uint32_t> events; ///< events of the current program
  SmallVector<LoopOp> around;       ///< loops around the current command, outermost first
};

} // namespace

FailureOr<runtime::Bundle> buildBundle(ArrayRef<BundlePrograms> devices) {
  std::vector<std::unique_ptr<TargetKernels>> targets;
  SmallVector<TargetKernels *> targetOf;
  for (BundlePrograms device : devices) {
    auto found = llvm::find_if(targets, [&](const std::unique_ptr<TargetKernels> &kernels) {
      return kernels->target.getName() == device.target->getName();
    });
    if (found == targets.end())
      found = targets.insert(
          found, std::make_unique<TargetKernels>(device.step.getContext(), *device.target));
    targetOf.push_back(found->get());
    if (failed((*found)->add(device)))
      return failure();
  }
  runtime::Bundle bundle;
  for (std::unique_ptr<TargetKernels> &kernels : targets)
    if (failed(kernels->addTo(bundle)))
      return failure();
  ConstantTable constants;
  std::vector<BundleBuilder> builders;
  for (auto [i, device] : llvm::enumerate(devices))
    builders.emplace_back(bundle, constants, static_cast<uint32_t>(i), device.step, *targetOf[i]);
  for (auto [device, argument] : listArguments(devices))
    builders[device].describe(argument);
  for (auto [builder, device] : llvm::zip(builders, devices)) {
    builder.describeArguments();
    for (auto [name, function] : listPrograms(device))
      builder.addProgram(name, function);
    builder.describeResults();
    if (devices.size() > 1)
      builder.describeDevice();
  }
  bundle.constants = std::move(constants.bytes);
  sortResults(bundle, devices);
  bundle.entry = getEntryName(devices.front().step).str();
  return bundle;
}

} // namespace reprise
