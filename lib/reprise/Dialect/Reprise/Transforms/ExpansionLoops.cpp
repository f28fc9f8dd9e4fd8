// reprise: the derivative of a loop: a loop over the same rows in reverse.
#include "Expansion.h"

#include "reprise/Dialect/Reprise/IR/Loops.h"

using namespace mlir;
using namespace reprise;

/// Reverse body in its own block, whose arguments are added on demand; finishLoop sorts them.
struct Expansion::ReverseBody {
  Block *primal;
  ReverseBody *outer;
  std::unique_ptr<Block> block = std::make_unique<Block>();
  /// The sum of one use of a value from above.
  struct Sum {
    BlockArgument argument;
    Value current;
  };
  llvm::MapVector<OpOperand *, Sum> sums = {};                  ///< sums in reverse program order
  SmallVector<std::pair<unsigned, BlockArgument>> carries = {}; ///< carries by the loop's result
  SmallVector<std::pair<unsigned, BlockArgument>> rows = {};    ///< cotangents of stacks
};

bool Expansion::isLocal(Value value) const {
  return value.getParentBlock() == (reverseBody ? reverseBody->primal : &body);
}

/// The running sum of one use in the body that is built.
Value &Expansion::accumulator(OpOperand &use, RankedTensorType type) {
  auto [found, isNew] = reverseBody->sums.try_emplace(&use);
  if (isNew) {
    found->second.argument = reverseBody->block->addArgument(type, use.getOwner()->getLoc());
    found->second.current = found->second.argument;
  }
  return found->second.current;
}

void Expansion::findActiveInLoop(LoopOp loop) {
  auto isFloat = [](Value value) { return isa<FloatType>(getElementTypeOrSelf(value.getType())); };
  for (auto [operand, argument] : llvm::zip(loop->getOperands(), loop.getBlock().getArguments()))
    if (active.contains(operand) && isFloat(argument))
      active.insert(argument);
  for (auto [stack, slice] : llvm::zip(loop.getXs(), loop.getSliceArguments()))
    if (parameters.contains(stack))
      parameters.insert(slice);
  OperandRange yielded = loop.getYield()->getOperands();
  for (bool isDone = false; !isDone;) {
    findActive(loop.getBlock());
    isDone = true;
    // The next iteration reads what this iteration yields.
    for (auto [argument, next] : llvm::zip(loop.getCarryArguments(), yielded))
      if (active.contains(next) && active.insert(argument).second)
        isDone = false;
  }
  for (auto [result, value] : llvm::zip(loop.getResults(), yielded)) {
    bool isCarry = result.getResultNumber() < loop.getNumCarries();
    Value inside = isCarry ? Value(loop.getBlock().getArgument(result.getResultNumber())) : value;
    if (active.contains(inside))
      active.insert(result);
  }
}

LogicalResult Expansion::pullBackLoop(LoopOp loop) {
  Block *primalBody = &loop.getBlock();
  ReverseBody reverse{primalBody, reverseBody};
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(reverse.block.get());
    reverseBody = &reverse;
    seedLoop(loop, reverse);
    for (Operation &source :
         llvm::make_early_inc_range(llvm::reverse(primalBody->without_terminator())))
      if (failed(pullBackOp(&source)))
        return failure();
    reverseBody = reverse.outer;
  }
  LoopOp made = finishLoop(loop, reverse);
  distribute(loop, made, reverse);
  if (!reverseBody)
    bringResiduals(made);
  return success();
}

/// Sets the cotangents of yielded values: of the next iteration's carries, and of rows.
void Expansion::seedLoop(LoopOp loop, ReverseBody &reverse) {
  inheritance.setSource(loop);
  builder.setLoc(loop.getLoc());
  unsigned carries = loop.getNumCarries();
  for (OpOperand &use : llvm::reverse(loop.getYield()->getOpOperands())) {
    unsigned i = use.getOperandNumber();
    bool isCarry = i < carries;
    Value given = cotangents.lookup(loop.getResult(i));
    if (isCarry ? !active.contains(loop.getBlock().getArgument(i)) : !given)
      continue;
    auto type = isCarry ? cast<RankedTensorType>(use.get().getType())
                        : cast<RankedTensorType>(given.getType());
    if (!isCarry)
      type = type.clone(type.getShape().drop_front());
    BlockArgument argument = reverse.block->addArgument(type, loop.getLoc());
    (isCarry ? reverse.carries : reverse.rows).push_back({i, argument});
    if (active.contains(use.get()))
      accumulate(use, argument);
  }
}

/// `row` once per iteration of `loop`.
static RankedTensorType getStackType(LoopOp loop, RankedTensorType row) {
  SmallVector<int64_t> shape = {static_cast<int64_t>(loop.getTrip())};
  llvm::append_range(shape, row.getShape());
  return row.clone(shape);
}

/// The carries of the reverse loop: cotangents of carries, then sums. Each starts in `inits`, is an
/// argument of the body, and goes on in `yielded`.
void Expansion::collectCarries(LoopOp loop, ReverseBody &reverse, SmallVectorImpl<Value> &inits,
                               SmallVectorImpl<BlockArgument> &arguments,
                               SmallVectorImpl<Value> &yielded) {
  // We start sums at -0, the identity of addition, so that the first term keeps its bits.
  auto zero = [&](Value like) { return constant(cast<RankedTensorType>(like.getType()), -0.0); };
  for (auto [i, argument] : reverse.carries) {
    Value given = cotangents.lookup(loop.getResult(i));
    Value next = cotangents.lookup(loop.getBlock().getArgument(i));
    inits.push_back(given ? given : zero(argument));
    arguments.push_back(argument);
    yielded.push_back(next ? next : zero(argument));
  }
  for (auto &[use, sum] : reverse.sums) {
    auto type = cast<RankedTensorType>(sum.argument.getType());
    inits.push_back(isLocal(use->get()) ? zero(sum.argument) : accumulator(*use, type));
    arguments.push_back(sum.argument);
    yielded.push_back(sum.current);
  }
}

/// Makes the loop; its slices are the cotangents of rows, its stacks the cotangents of slices.
LoopOp Expansion::finishLoop(LoopOp loop, ReverseBody &reverse) {
  SmallVector<Value> inits, xs, yielded;
  SmallVector<BlockArgument> arguments;
  collectCarries(loop, reverse, inits, arguments, yielded);
  SmallVector<Type> types(ValueRange(inits).getTypes());
  for (auto [i, argument] : reverse.rows) {
    xs.push_back(cotangents.lookup(loop.getResult(i)));
    arguments.push_back(argument);
  }
  for (BlockArgument slice : loop.getSliceArguments())
    if (Value row = cotangents.lookup(slice)) {
      yielded.push_back(row);
      types.push_back(getStackType(loop, cast<RankedTensorType>(row.getType())));
    }
  inheritance.setSource(loop);
  builder.setLoc(loop.getLoc());
  auto made = LoopOp::create(builder, loop.getTrip(), inits, xs, types, !loop.getReverse());
  for (auto [old, argument] : llvm::zip(arguments, made.getBlock().getArguments())) {
    old.replaceAllUsesWith(argument);
    llvm::replace(yielded, Value(old), Value(argument));
  }
  made.getBlock().getOperations().splice(made.getBlock().end(), reverse.block->getOperations());
  OpBuilder inner = OpBuilder::atBlockEnd(&made.getBlock());
  YieldOp::create(inner, loop.getLoc(), yielded);
  return made;
}

/// Makes primal values readable in cotangent bodies through stacks; views and constants are cloned.
void Expansion::bringResiduals(LoopOp reverse) {
  // We record operands by number, because the operands of a loop move when it gets another slice.
  SmallVector<std::pair<Operation *, unsigned>> reads;
  reverse.getBody().walk([&](Operation *inner) {
    for (OpOperand &operand : inner->getOpOperands())
      if (!operand.get().getParentRegion()->isAncestor(inner->getParentRegion()))
        reads.push_back({inner, operand.getOperandNumber()});
  });
  DenseMap<std::pair<Value, Block *>, Value> brought;
  for (auto [reader, number] : reads) {
    Value value = reader->getOperand(number);
    Value &inside = brought[{value, reader->getBlock()}];
    if (!inside)
      inside = bringInto(value, reader->getBlock(),
                         [&](Operation *clone) { inheritance.notifyCloned(clone); });
    reader->setOperand(number, inside);
  }
}

/// Adds the results of the reverse loop: uses in the body first, then slices, then carries.
void Expansion::distribute(LoopOp loop, LoopOp made, ReverseBody &reverse) {
  inheritance.setSource(loop);
  builder.setLoc(loop.getLoc());
  unsigned next = reverse.carries.size();
  for (auto &[use, sum] : reverse.sums) {
    Value result = made.getResult(next++);
    if (isLocal(use->get()))
      accumulate(*use, result);
    else
      accumulator(*use, cast<RankedTensorType>(result.getType())) = result;
  }
  SmallVector<std::pair<unsigned, Value>> given;
  for (BlockArgument slice : loop.getSliceArguments())
    if (cotangents.lookup(slice))
      given.push_back({slice.getArgNumber(), made.getResult(next++)});
  for (auto [i, value] : llvm::reverse(given))
    accumulate(loop->getOpOperand(i), value);
  for (auto [position, carry] : llvm::enumerate(reverse.carries))
    if (active.contains(loop->getOperand(carry.first)))
      accumulate(loop->getOpOperand(carry.first), made.getResult(position));
}
