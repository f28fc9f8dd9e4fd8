// reprise: passes the Philox state through the entry function.
#include "reprise/Dialect/Reprise/Transforms/Passes.h"

#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/Dialect/Reprise/IR/Loops.h"
#include "llvm/Support/MathExtras.h"
#include <map>

using namespace mlir;

namespace reprise {
#define GEN_PASS_DEF_THREADRANDOMPASS
#include "reprise/Dialect/Reprise/Transforms/Passes.h.inc"

namespace {

/// Words that the op may draw: the elements of its global tensor, rounded up to 4.
int64_t countWords(RandomOpInterface op) {
  int64_t elements = 1;
  for (int64_t size : op.getDrawnGlobalShape())
    elements *= size;
  return llvm::alignTo(elements, 4);
}

/// The first argument with the role, or a new one at the end.
Value stateArgument(func::FuncOp entry, StringRef role) {
  auto type = RankedTensorType::get({}, IntegerType::get(entry.getContext(), 64));
  for (unsigned i = 0; i < entry.getNumArguments(); ++i)
    if (EntrySignature(entry).getRole(i) == role)
      return entry.getArgument(i);
  Builder builder(entry.getContext());
  auto attributes = builder.getDictionaryAttr(
      {builder.getNamedAttr(EntrySignature::kRole, builder.getStringAttr(role)),
       builder.getNamedAttr(EntrySignature::kName, builder.getStringAttr(role))});
  unsigned index = entry.getNumArguments();
  if (failed(entry.insertArgument(index, type, attributes, entry.getLoc())))
    return {};
  return entry.getArgument(index);
}

/// Returns offset + words as the result named "offset".
LogicalResult returnNextOffset(func::FuncOp entry, Value offset, int64_t words) {
  Operation *terminator = entry.getBody().front().getTerminator();
  ImplicitLocOpBuilder builder(entry.getLoc(), terminator);
  auto type = cast<RankedTensorType>(offset.getType());
  Value count =
      ConstantOp::create(builder, DenseElementsAttr::get(type, builder.getI64IntegerAttr(words)));
  Value next = AddOp::create(builder, offset, count);
  terminator->insertOperands(terminator->getNumOperands(), next);
  return entry.insertResult(entry.getNumResults(), type,
                            builder.getDictionaryAttr(builder.getNamedAttr(
                                EntrySignature::kName, builder.getStringAttr("offset"))));
}

/// Gives each op in loops the offsets of its iterations, as rows of a stack.
class LoopOffsets {
public:
  LoopOffsets(func::FuncOp entry, Value offset) : entry(entry), offset(offset) {}

  /// Returns the offset for `op`, which draws `words` words in each iteration.
  Value get(Operation *op, int64_t words) {
    SmallVector<LoopOp> loops; // from the outermost
    for (auto loop = op->getParentOfType<LoopOp>(); loop; loop = loop->getParentOfType<LoopOp>())
      loops.insert(loops.begin(), loop);
    if (loops.empty())
      return offset;
    Value stack = getStack(loops, words);
    for (LoopOp loop : loops)
      stack = addSlice(loop, stack);
    return stack;
  }

private:
  /// Returns the stack of offset + k * words for iteration k, row-major over the loops.
  Value getStack(ArrayRef<LoopOp> loops, int64_t words) {
    SmallVector<int64_t> shape;
    int64_t trips = 1;
    for (LoopOp loop : loops) {
      shape.push_back(loop.getTrip());
      trips *= shape.back();
    }
    Value &stack = stacks[{shape, words}];
    if (stack)
      return stack;
    ImplicitLocOpBuilder builder(entry.getLoc(), entry.getContext());
    builder.setInsertionPointToStart(&entry.getBody().front());
    auto type = RankedTensorType::get({trips}, builder.getI64Type());
    Value step =
        ConstantOp::create(builder, DenseElementsAttr::get(type, builder.getI64IntegerAttr(words)));
    Value moved = MulOp::create(builder, IotaOp::create(builder, type, 0), step);
    Value start = BroadcastOp::create(builder, type, offset, ArrayRef<int64_t>{});
    stack = AddOp::create(builder, start, moved);
    return stack = ReshapeOp::create(builder, type.clone(shape), stack);
  }

  func::FuncOp entry;
  Value offset;
  std::map<std::pair<SmallVector<int64_t>, int64_t>, Value> stacks;
};

struct ThreadRandomPass : impl::ThreadRandomPassBase<ThreadRandomPass> {
  using Base::Base;

  void runOnOperation() override {
    for (auto entry : getOperation().getOps<func::FuncOp>())
      if (failed(thread(entry)))
        return signalPassFailure();
  }

  LogicalResult thread(func::FuncOp entry) {
    for (unsigned i = 0; i < entry.getNumArguments(); ++i)
      if (StringAttr name = EntrySignature(entry).getArgumentName(i))
        if (llvm::is_contained({"seed", "offset"}, name.getValue()))
          return entry.emitError("the argument name '") << name.getValue() << "' is reserved";
    Value seed = stateArgument(entry, "seed"), offset = stateArgument(entry, "offset");
    if (!seed || !offset)
      return failure();
    int64_t words = 0;
    LoopOffsets offsets(entry, offset);
    WalkResult result = entry.walk([&](RandomOpInterface op) -> WalkResult {
      if (!op.draws() || op.getSeedOperand())
        return success();
      int64_t own = countWords(op), executions = countExecutions(op);
      if (own > std::numeric_limits<int64_t>::max() / executions)
        return op->emitError("the loops around the op draw more than 2^63 random words");
      op.threadState(seed, offsets.get(op, own));
      words = std::max(words, own * executions);
      return success();
    });
    if (result.wasInterrupted())
      return failure();
    return returnNextOffset(entry, offset, words);
  }
};

} // namespace
} // namespace reprise
