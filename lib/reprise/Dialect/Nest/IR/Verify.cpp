// reprise: the verifiers of the dialect of launches as loop nests
#include "reprise/Dialect/Nest/IR/Nest.h"

using namespace mlir;
using namespace reprise;
using namespace reprise::nests;

LogicalResult nests::verifyPlace(Operation *op, ValueRange indices,
                                 ArrayRef<int64_t> coefficients) {
  if (coefficients.size() == indices.size() + 1)
    return success();
  return op->emitOpError() << "expected a coefficient per index, and an offset, got "
                           << coefficients.size() << " numbers for " << indices.size()
                           << " indices";
}

static LogicalResult verifySlots(Operation *op, ArrayRef<int64_t> slots, size_t buffers) {
  if (slots.size() != 3 * buffers)
    return op->emitOpError() << "expected three numbers for each of " << buffers << " buffers, got "
                             << slots.size();
  for (const BufferSlot &slot : readSlots(slots))
    if (slot.kind < BufferSlot::Input || slot.kind > BufferSlot::Stream || slot.index < 0 ||
        slot.offset < 0)
      return op->emitOpError("has a buffer of an unknown kind, or with a negative index or offset");
  return success();
}

/// An op of the model in a kernel computes one element from others.
static LogicalResult verifyArithmetic(Operation *op) {
  if (!isa<ElementwiseOpInterface>(op) && !op->hasTrait<OpTrait::ConstantLike>())
    return op->emitOpError("is no arithmetic on elements, so a kernel cannot hold it");
  if (!llvm::all_of(op->getResultTypes(), isElement))
    return op->emitOpError(
        "expected results of rank 0, since ops in a kernel compute single elements");
  return success();
}

LogicalResult KernelOp::verify() {
  Block &block = getBlock();
  size_t loops = getShape().factors().size();
  if (getColumns().empty())
    return emitOpError("expected at least one column");
  if (!getStrides().empty() && getStrides().size() != loops)
    return emitOpError() << "expected a stride for each of " << loops << " loops, got "
                         << getStrides().size();
  if (block.getNumArguments() < loops)
    return emitOpError() << "expected an argument for each of " << loops << " loops, got "
                         << block.getNumArguments();
  for (auto [i, type] : llvm::enumerate(block.getArgumentTypes()))
    if (i < loops ? !type.isIndex() : !isa<BufferType>(type))
      return emitOpError() << "expected indices of loops, then buffers, as arguments, got " << type
                           << " as number " << i;
  if (failed(verifySlots(*this, getSlots(), block.getNumArguments() - loops)))
    return failure();
  WalkResult result = block.walk([&](Operation *op) {
    bool isOwn = isa<NestDialect>(op->getDialect()) || isa<DrawOp>(op->getParentOp());
    return isOwn || succeeded(verifyArithmetic(op)) ? WalkResult::advance()
                                                    : WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult AloneOp::verify() {
  Block &block = getBody().front();
  if (!llvm::hasSingleElement(block) || !isa<AloneOpInterface>(block.front()))
    return emitOpError("expected one op that runs alone");
  Operation *op = getOp();
  if (op->getOperands() != block.getArguments() || getStored().size() != op->getNumResults())
    return emitOpError("expected an argument per operand of its op, and a word per result");
  return verifySlots(*this, getSlots(), op->getNumOperands() + llvm::count(getStored(), true));
}

LogicalResult DrawOp::verify() {
  Block &block = getBody().front();
  if (!llvm::hasSingleElement(block) || !isa<RandomOpInterface>(block.front()) ||
      block.front().getResultTypes() != getOperation()->getResultTypes() ||
      getOp().getSeedOperand())
    return emitOpError("expected one op that draws an element of its type, without a seed");
  size_t rank = getGlobal() ? getGlobal()->size() : 0;
  if (getOrigin().size() != rank)
    return emitOpError() << "expected a number per dimension of what is drawn, " << rank << ", got "
                         << getOrigin().size();
  return verifyPlace(*this, getIndices(), getCoefficients());
}

LogicalResult SequenceOp::verify() {
  Block &block = getBody().front();
  if (block.getNumArguments() != getSizes().size() ||
      !llvm::all_of(block.getArgumentTypes(), [](Type type) { return type.isIndex(); }))
    return emitOpError("expected an index per size as arguments");
  if (getElement().getType() != getType())
    return emitOpError() << "expected an element of " << getType() << ", got "
                         << getElement().getType();
  return success();
}

LogicalResult StoreOp::verify() {
  if (isParts() == getFold().has_value())
    return success();
  return emitOpError(isParts() ? "expected 'by' and a fold for a store of parts"
                               : "expected no fold for a store that has no parts");
}

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t width,
                                   bool, int64_t rows, int64_t columns, int64_t threads,
                                   int64_t block, int64_t together, RowMemory) {
  constexpr int64_t mostLanes = 64;
  if (width > mostLanes || !llvm::isPowerOf2_64(width))
    return emitError() << "expected a width that is a power of two up to " << mostLanes;
  if (rows < 1 || columns < 1)
    return emitError() << "expected at least one row and one column";
  if (threads < 0 || block < 0 || together < 0 || (threads != 0 && block % threads != 0))
    return emitError() << "expected a block that is a multiple of the threads of an item";
  return success();
}
