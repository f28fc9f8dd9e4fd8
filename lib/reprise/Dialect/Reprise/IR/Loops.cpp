// reprise: changes of loops by passes: rows become stacks, stacks become slices.
#include "reprise/Dialect/Reprise/IR/Loops.h"

#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace reprise;

LoopOp reprise::getLoop(Block *block) {
  return dyn_cast_or_null<LoopOp>(block ? block->getParentOp() : nullptr);
}

BlockArgument reprise::addSlice(LoopOp loop, Value stack) {
  for (auto [argument, known] : llvm::zip(loop.getSliceArguments(), loop.getXs()))
    if (known == stack)
      return argument;
  auto type = cast<RankedTensorType>(stack.getType());
  loop.getXsMutable().append(stack);
  return loop.getBlock().addArgument(type.clone(type.getShape().drop_front()), loop.getLoc());
}

OpResult reprise::addStack(Block *body, Value row) {
  LoopOp loop = getLoop(body);
  unsigned carries = loop.getNumCarries();
  for (auto [i, known] : llvm::enumerate(loop.getYield()->getOperands()))
    if (i >= carries && known == row)
      return loop->getResult(i);
  auto type = cast<RankedTensorType>(row.getType());
  SmallVector<int64_t> shape = {static_cast<int64_t>(loop.getTrip())};
  llvm::append_range(shape, type.getShape());
  SmallVector<Type> types(loop.getResultTypes());
  types.push_back(type.clone(shape));
  loop.getYield()->insertOperands(types.size() - 1, row);
  OpBuilder builder(loop);
  OperationState state(loop.getLoc(), loop->getName(), loop->getOperands(), types, {}, {});
  state.addRegion();
  Operation *wider = builder.create(state);
  wider->copyProperties(loop->getPropertiesStorage());
  wider->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  wider->getRegion(0).takeBody(loop.getBody());
  loop->replaceAllUsesWith(wider->getResults().drop_back());
  loop->erase();
  return wider->getResults().back();
}

SmallVector<Value> reprise::collectReads(Operation *op) {
  SmallVector<Value> reads(op->getOperands());
  llvm::SetVector<Value> captured;
  for (Region &region : op->getRegions())
    region.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (operand.getParentRegion()->isProperAncestor(&region))
          captured.insert(operand);
    });
  llvm::append_range(reads, captured);
  return reads;
}

bool reprise::readsNothing(Operation *op) { return op->getNumOperands() == 0 && !isa<LoopOp>(op); }

Value reprise::findRow(Value value) {
  for (;;) {
    auto argument = dyn_cast<BlockArgument>(value);
    LoopOp loop = argument ? getLoop(argument.getOwner()) : LoopOp();
    if (!loop || argument.getArgNumber() < loop.getNumCarries())
      return value;
    Value stack = findRow(loop->getOperand(argument.getArgNumber()));
    auto made = dyn_cast<OpResult>(stack);
    LoopOp maker = made ? dyn_cast<LoopOp>(made.getOwner()) : LoopOp();
    if (!maker || made.getResultNumber() < maker.getNumCarries())
      return stack;
    value = maker.getYield()->getOperand(made.getResultNumber());
  }
}

/// The block around `block` that lies in `depth` loops; null if no block does.
static Block *findAncestor(Block *block, unsigned depth) {
  SmallVector<Block *> path = {block};
  while (LoopOp loop = getLoop(path.back()))
    path.push_back(loop->getBlock());
  return depth < path.size() ? path[path.size() - 1 - depth] : nullptr;
}

static unsigned countLoops(Block *block) {
  unsigned depth = 0;
  for (; LoopOp loop = getLoop(block); block = loop->getBlock())
    ++depth;
  return depth;
}

/// Returns whether ops of `block` can read values of `home`: `home` is no loop's body, or it is
/// around `block`, possibly with a gradient in between.
static bool isVisible(Block *home, Block *block) {
  return !getLoop(home) || home->getParent()->isAncestor(block->getParent());
}

Value reprise::bringInto(Value value, Block *block, function_ref<void(Operation *)> onClone) {
  Block *home = value.getParentBlock();
  if (isVisible(home, block))
    return value;
  Block *reader = findAncestor(block, countLoops(home));
  Operation *definition = value.getDefiningOp();
  if (definition && (readsNothing(definition) || isa<ViewOpInterface>(definition))) {
    SmallVector<Value> operands;
    for (Value operand : definition->getOperands())
      operands.push_back(bringInto(operand, reader, onClone));
    Operation *clone = OpBuilder::atBlockBegin(reader).clone(*definition);
    // Clones of views of views must stand behind their operands.
    for (auto [i, operand] : llvm::enumerate(operands)) {
      clone->setOperand(i, operand);
      if (Operation *before = operand.getDefiningOp(); before && before->getBlock() == reader)
        clone->moveAfter(before);
    }
    onClone(clone);
    return clone->getResult(cast<OpResult>(value).getResultNumber());
  }
  return stackInto(value, block, onClone);
}

/// Returns the view of a split loop's stack for `reader`, its own. The cotangents of the whole
/// stack are then added reader by reader, as without the split.
static Value viewFor(Value stack, LoopOp reader, function_ref<void(Operation *)> onClone) {
  auto isMarked = [](Operation *op) { return op && op->hasAttr(kSplitAttr); };
  Operation *view = stack.getDefiningOp();
  bool isTaken = isMarked(view); // otherwise the view may be reused
  for (Operation *user : stack.getUsers())
    if (!isTaken && isMarked(user) && user->getBlock() == reader->getBlock())
      view = user;
  if (!isMarked(view))
    return stack;
  Value whole = isTaken ? view->getOperand(0) : view->getResult(0);
  for (Value x : reader.getXs())
    if (isMarked(x.getDefiningOp()) && x.getDefiningOp()->getOperand(0) == whole &&
        x.getType() == stack.getType())
      return x;
  OpBuilder builder(reader);
  auto made = ReshapeOp::create(builder, reader.getLoc(), stack.getType(), whole);
  made->setDiscardableAttrs(view->getDiscardableAttrDictionary());
  onClone(made);
  made->setDiscardableAttr(kSplitAttr, builder.getUnitAttr());
  return made;
}

Value reprise::stackInto(Value value, Block *block, function_ref<void(Operation *)> onClone) {
  Block *home = value.getParentBlock();
  if (isVisible(home, block))
    return value;
  Block *reader = findAncestor(block, countLoops(home));
  auto argument = dyn_cast<BlockArgument>(value);
  bool isSlice = argument && argument.getArgNumber() >= getLoop(home).getNumCarries();
  Value stack =
      isSlice ? getLoop(home)->getOperand(argument.getArgNumber()) : Value(addStack(home, value));
  stack = bringInto(stack, getLoop(reader)->getBlock(), onClone);
  return addSlice(getLoop(reader), viewFor(stack, getLoop(reader), onClone));
}

int64_t reprise::countExecutions(Operation *op) {
  uint64_t executions = 1;
  for (auto loop = op->getParentOfType<LoopOp>(); loop; loop = loop->getParentOfType<LoopOp>())
    executions = llvm::SaturatingMultiply<uint64_t>(executions, loop.getTrip());
  return std::min<uint64_t>(executions, std::numeric_limits<int64_t>::max());
}

bool reprise::dropUnread(Block *body) {
  LoopOp loop = getLoop(body);
  PatternRewriter rewriter(loop->getContext());
  rewriter.setInsertionPoint(loop);
  return succeeded(LoopOp::canonicalize(loop, rewriter));
}
