// reprise: a launch for a GPU whose leader is a contraction or a convolution
#include "ContractionLaunch.h"

#include "ChannelsLast.h"
#include "ConvolutionLayout.h"
#include "LibraryConvolution.h"
#include "LibraryProduct.h"
#include "PlainContraction.h"
#include "SplitContraction.h"
#include "TensorContraction.h"
#include "TiledContraction.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Support/ByteSize.h"
#include "reprise/Target/Target.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace reprise {

/// Scratch is aligned, whatever places have.
static int64_t alignmentOf(const BufferSlot &slot, int64_t ofPlaces) {
  int64_t own = slot.offset == 0 ? widestAccess : slot.offset & -slot.offset;
  return slot.kind == BufferSlot::Shared ? own : std::min(own, ofPlaces);
}

static FailureOr<LaunchOperand> findFramed(LaunchOperands &operands, Value image,
                                           const Frame &frame) {
  if (frame.isEmpty())
    return operands.find(image);
  size_t spatial = cast<RankedTensorType>(image.getType()).getRank() - 2;
  SmallVector<int64_t> low = {0, 0}, high = {0, 0};
  llvm::append_range(low, ArrayRef(frame.low).take_back(spatial));
  llvm::append_range(high, ArrayRef(frame.high).take_back(spatial));
  return operands.findPadded(image, low, high);
}

/// Builds a function of the ops behind the leader. Its arguments are a value of type `given`, from
/// which `makeResult` computes the leader's result, and the body's arguments.
static OwningOpRef<func::FuncOp>
buildBehind(Operation *leader, Type given,
            llvm::function_ref<Value(ImplicitLocOpBuilder &, Value)> makeResult) {
  Block &body = *leader->getBlock();
  SmallVector<Type> inputs = {given};
  llvm::append_range(inputs, body.getArgumentTypes());
  auto type = FunctionType::get(leader->getContext(), inputs,
                                TypeRange(body.getTerminator()->getOperands()));
  OwningOpRef<func::FuncOp> function = func::FuncOp::create(leader->getLoc(), "behind", type);
  auto b = ImplicitLocOpBuilder::atBlockEnd(leader->getLoc(), function->addEntryBlock());
  Value made = makeResult(b, function->getArgument(0));
  IRMapping mapping;
  mapping.map(body.getArguments(), function->getArguments().drop_front());
  mapping.map(leader->getResult(0), ReshapeOp::create(b, leader->getResult(0).getType(), made));
  SmallVector<Operation *> copies;
  for (Operation &op : body.without_terminator())
    if (&op != leader)
      copies.push_back(b.clone(op, mapping));
  func::ReturnOp::create(b, llvm::map_to_vector(body.getTerminator()->getOperands(),
                                                [&](Value v) { return mapping.lookup(v); }));
  // The leader's operands.
  for (Operation *copy : llvm::reverse(copies))
    if (copy->use_empty())
      copy->erase();
  return function;
}

namespace {
/// Emitter of contractions of two operands, which chooses the kernel.
class ContractionEmitter {
public:
  ContractionEmitter(Operation *leader, StringRef name, ModuleOp kernels, LaunchOperands &operands,
                     Contractions contractions)
      : leader(leader), name(name), kernels(kernels), operands(operands),
        contractions(contractions) {}

  LogicalResult findOperands(const ConvolutionOperands &found, ConvolutionLayout layout = {}) {
    FailureOr<LaunchOperand> left =
        layout.lhs ? copyChannelsLast(operands, kernels, name, found.lhs, Frame::none(found.lhs))
                   : operands.find(found.lhs);
    FailureOr<LaunchOperand> right =
        layout.rhs ? copyChannelsLast(operands, kernels, name, found.rhs, found.frame)
                   : findFramed(operands, found.rhs, found.frame);
    if (failed(left) || failed(right))
      return failure();
    lhs = *left, rhs = *right;
    return success();
  }

  LogicalResult emit(DotGeneralOp dot) {
    if (failed(makeMatrices(dot)))
      return failure();
    auto spec = ContractionSpec::of(dot, lhs.strides, rhs.strides);
    return callLibrary(spec, std::nullopt) ? success() : addWhole(spec);
  }

  /// Emits a contraction with bias: as a library call, or otherwise as a contraction and a sum.
  LogicalResult emit(DotBiasOp dot) {
    FailureOr<LaunchOperand> bias = operands.find(dot.getBias(), /*dense=*/true);
    if (failed(bias) || failed(makeMatrices(dot)))
      return failure();
    auto spec = ContractionSpec::of(dot, lhs.strides, rhs.strides);
    if (callLibrary(spec, *bias))
      return success();
    if (failed(addWhole(spec)))
      return failure();
    Type inputs[] = {dot.getType(), dot.getBias().getType()};
    auto type = FunctionType::get(dot.getContext(), inputs, dot.getType());
    OwningOpRef<func::FuncOp> sum = func::FuncOp::create(dot.getLoc(), "sum", type);
    Block *body = sum->addEntryBlock();
    auto b = ImplicitLocOpBuilder::atBlockEnd(dot.getLoc(), body);
    Value made = DotBiasOp::buildSum(b, body->getArgument(0), body->getArgument(1));
    func::ReturnOp::create(b, made);
    return operands.emitBehind(*sum, {{BufferSlot::Output, 0, 0}, bias->slot});
  }

  /// Emits a contraction that continues sums, always as one chain per thread.
  LogicalResult emit(DotAccumulateOp dot) {
    FailureOr<LaunchOperand> sums = operands.find(dot.getSums(), /*dense=*/true);
    if (failed(sums))
      return failure();
    auto spec = ContractionSpec::of(dot, lhs.strides, rhs.strides);
    EmittedCommand command =
        emitPlainContraction(kernels, name, spec, ResultStrides::rowMajor(spec), nullptr);
    command.buffers = {lhs.slot, rhs.slot, {BufferSlot::Output, 0, 0}, sums->slot};
    operands.launch.commands.push_back(command);
    return success();
  }

  LogicalResult emitParts() {
    std::vector<ConvolutionPart> parts = partsOf(leader, lhs.strides, rhs.strides);
    if (isa<ConvolutionFilterOp>(leader))
      return addWhole(parts.front().spec);
    for (auto [i, part] : llvm::enumerate(parts))
      if (failed(addFinished(i == 0 ? name.str() : (name + "_" + Twine(i)).str(), part.spec,
                             part.result)))
        return failure();
    return success();
  }

private:
  /// Copies operands that are no matrices, as a library needs: heads between rows and columns.
  template <typename OpT> LogicalResult makeMatrices(OpT dot) {
    if (contractions != Contractions::Library)
      return success();
    auto spec = ContractionSpec::of(dot, lhs.strides, rhs.strides);
    if (!suitsTensorCores(spec, contractions))
      return success();
    if (!isMatrix(spec, true) && failed(makeMatrix(dot.getLhs(), lhs, dot.getLhsBatch(),
                                                   dot.getLhsFree(), dot.getLhsContracting())))
      return failure();
    if (!isMatrix(spec, false))
      return makeMatrix(dot.getRhs(), rhs, dot.getRhsBatch(), dot.getRhsFree(),
                        dot.getRhsContracting());
    return success();
  }

  /// Neighbours in memory stay neighbours, so that the copy reads and writes whole lines.
  LogicalResult makeMatrix(Value value, LaunchOperand &operand, ArrayRef<int64_t> batch,
                           ArrayRef<int64_t> free, ArrayRef<int64_t> terms) {
    bool isInnermost = llvm::any_of(terms, [&](int64_t dim) { return operand.strides[dim] == 1; });
    SmallVector<int64_t> order(batch);
    llvm::append_range(order, isInnermost ? free : terms);
    llvm::append_range(order, isInnermost ? terms : free);
    FailureOr<LaunchOperand> copy = operands.findOrdered(value, order);
    if (succeeded(copy))
      operand = *copy;
    return copy;
  }

  bool callLibrary(const ContractionSpec &spec, const std::optional<LaunchOperand> &bias) {
    return contractions == Contractions::Library &&
           emitLibraryProduct(leader, spec, lhs, rhs, bias, operands.launch);
  }

  /// The result is row-major. Where blocks share out the terms, parts of sums lie in scratch.
  LogicalResult addWhole(const ContractionSpec &spec) {
    bool isCanonical = !suitsTensorCores(spec, contractions);
    std::optional<SplitContraction> split;
    if (!isCanonical || suitsTiles(spec))
      split = splitContraction(spec, isCanonical ? PartsOrder::Canonical : PartsOrder::Rows);
    if (!split)
      return addFinished(name, spec, ResultStrides::rowMajor(spec));
    BufferSlot sums{BufferSlot::Shared, 0, operands.launch.addShared(split->scratchBytes())};
    ContractionSpec ofParts = split->spec;
    ResultStrides result = ResultStrides::rowMajor(ofParts);
    layOut(ofParts, result);
    add(name, ofParts, result, sums, nullptr);
    return finish(split->typeOfParts(), sums,
                  [&](ImplicitLocOpBuilder &b, Value parts) { return split->buildSum(b, parts); });
  }

  /// Adds a contraction of all terms, and the ops behind it: in the same kernel, unless these do
  /// not follow its dimensions.
  LogicalResult addFinished(StringRef own, ContractionSpec spec, ResultStrides result) {
    layOut(spec, result);
    if (isAlone(*leader->getBlock(), leader)) {
      add(own, spec, result, {BufferSlot::Output, 0, 0}, nullptr);
      return success();
    }
    if (auto epilogue = TileEpilogue::get(*leader->getBlock(), leader, spec, result)) {
      add(own, spec, result, {}, &*epilogue);
      return success();
    }
    auto type = cast<RankedTensorType>(leader->getResult(0).getType());
    BufferSlot made{BufferSlot::Shared, 0, operands.launch.addShared(getByteSize(type))};
    add(own, spec, result, made, nullptr);
    return finish(type, made, [](ImplicitLocOpBuilder &, Value value) { return value; });
  }

  /// Emits the ops behind the leader as loop nests, which first compute its result from values in
  /// scratch.
  LogicalResult finish(Type given, BufferSlot slot,
                       llvm::function_ref<Value(ImplicitLocOpBuilder &, Value)> makeResult) {
    SmallVector<BufferSlot> inputs = {slot};
    for (unsigned i = 0; i < leader->getBlock()->getNumArguments(); ++i)
      inputs.push_back({BufferSlot::Input, i, 0});
    return operands.emitBehind(*buildBehind(leader, given, makeResult), inputs);
  }

  void layOut(ContractionSpec &spec, ResultStrides &result) {
    bool isHalf = !spec.lhsType.isF32() && suitsTensorCores(spec, contractions);
    if (isHalf && isa<ConvolutionOpInterface>(leader))
      putChannelsLast(leader, spec, result);
  }

  /// The result goes to `to`, or, with an epilogue, where that stores its results.
  void add(StringRef own, const ContractionSpec &spec, const ResultStrides &result,
           const BufferSlot &to, const TileEpilogue *epilogue) {
    int64_t places = getPlaceAlignment(*leader->getBlock());
    int64_t ofLhs = alignmentOf(lhs.slot, places), ofRhs = alignmentOf(rhs.slot, places);
    auto push = [&](EmittedCommand command) {
      command.buffers = {lhs.slot, rhs.slot};
      llvm::append_range(command.buffers, epilogue ? epilogue->buffers() : ArrayRef(to));
      operands.launch.commands.push_back(command);
    };
    if (suitsTensorCores(spec, contractions))
      return push(emitTensorContraction(kernels, own, spec, result, ofLhs, ofRhs, epilogue));
    if (!suitsTiles(spec))
      return push(emitPlainContraction(kernels, own, spec, result, epilogue));
    for (auto [i, part] : llvm::enumerate(planTiles(spec, result)))
      push(emitTiledContraction(kernels, i == 0 ? own.str() : (own + "_rest").str(), part, ofLhs,
                                ofRhs, epilogue));
  }

  Operation *leader;
  StringRef name;
  ModuleOp kernels;
  LaunchOperands &operands;
  Contractions contractions;
  LaunchOperand lhs, rhs;
};
} // namespace

FailureOr<EmittedLaunch> cuda::emitContractionLaunch(Block &body, StringRef name, ModuleOp kernels,
                                                     LaunchOperands operands,
                                                     Contractions contractions) {
  Operation *leader = findLeader(body);
  bool isDot = isa<ContractionOpInterface>(leader);
  if (!isDot && contractions == Contractions::Library) {
    FailureOr<bool> isCalled = emitLibraryConvolution(leader, operands);
    if (failed(isCalled))
      return failure();
    if (*isCalled)
      return operands.launch;
  }
  ContractionEmitter emitter(leader, name, kernels, operands, contractions);
  LogicalResult isFound = success();
  if (isDot) {
    isFound = emitter.findOperands({leader->getOperand(0), leader->getOperand(1), {}});
  } else {
    ConvolutionOperands found = operandsOf(leader);
    isFound = emitter.findOperands(found, chooseLayout(leader, found, contractions));
  }
  if (failed(isFound))
    return failure();
  LogicalResult emitted = success();
  if (auto dot = dyn_cast<DotGeneralOp>(leader))
    emitted = emitter.emit(dot);
  else if (auto biased = dyn_cast<DotBiasOp>(leader))
    emitted = emitter.emit(biased);
  else if (auto accumulated = dyn_cast<DotAccumulateOp>(leader))
    emitted = emitter.emit(accumulated);
  else
    emitted = emitter.emitParts();
  if (failed(emitted))
    return failure();
  return operands.launch;
}

} // namespace reprise
