// reprise: splits loops whose carries must not be kept into segments, so that only every k-th carry
// is kept.
#include "reprise/Dialect/Reprise/Transforms/Passes.h"

#include "Plan.h"
#include "reprise/Dialect/Reprise/IR/Loops.h"

using namespace mlir;

namespace reprise {
#define GEN_PASS_DEF_SPLITLOOPSPASS
#include "reprise/Dialect/Reprise/Transforms/Passes.h.inc"

namespace {

/// Returns the iterations of a segment: the divisor of `trip` that keeps fewest carries at a time:
/// those between segments plus those of one segment.
int64_t findSegment(int64_t trip) {
  int64_t best = trip;
  for (int64_t k = 2; k <= trip / k; ++k)
    if (trip % k == 0)
      best = trip / k;
  return best;
}

bool mustBeReplayed(Operation *op) {
  return llvm::any_of(op->getOpResults(),
                      [](OpResult result) { return getLabel(result) == Label::must_recompute; });
}

/// Returns the value after gradients are expanded, when arguments of their bodies are replaced by
/// operands.
Value findSource(Value value) {
  while (auto argument = dyn_cast<BlockArgument>(value)) {
    auto gradient = dyn_cast<ValueAndGradOp>(argument.getOwner()->getParentOp());
    if (!gradient)
      break;
    value = gradient->getOperand(argument.getArgNumber());
  }
  return value;
}

/// Returns an op of the block, or of gradients in it, that must be replayed; null if there is none.
Operation *findReplayed(Block &block) {
  for (Operation &op : block) {
    if (auto gradient = dyn_cast<ValueAndGradOp>(op)) {
      if (Operation *found = findReplayed(gradient.getBody().front()))
        return found;
    } else if (!isa<LoopOp>(op) && mustBeReplayed(&op)) {
      return &op;
    }
  }
  return nullptr;
}

/// Returns the op that computes a carry's next value, in the body or above, and must be replayed;
/// null if there is none. The ops of a gradient inherit the label of any op of its body. If this
/// loop's gradient is differentiated again, ops that compute a carry of the reverse loop inherit it
/// too.
Operation *findUnkept(LoopOp loop) {
  if (loop->getParentOfType<ValueAndGradOp>()->getParentOfType<ValueAndGradOp>())
    if (Operation *found = findReplayed(loop.getBlock()))
      return found;
  for (Value next : loop.getYield()->getOperands().take_front(loop.getNumCarries())) {
    auto result = dyn_cast<OpResult>(findSource(next));
    Operation *maker = result ? result.getOwner() : nullptr;
    if (auto gradient = dyn_cast_or_null<ValueAndGradOp>(maker)) {
      if (Operation *found = findReplayed(gradient.getBody().front()))
        return found;
    } else if (maker && !isa<LoopOp>(maker) && getLabel(result) == Label::must_recompute) {
      return maker;
    }
  }
  return nullptr;
}

SmallVector<int64_t> getPath(Operation *op) {
  auto block = op->getAttrOfType<DenseI64ArrayAttr>(kBlockAttr);
  return block ? SmallVector<int64_t>(block.asArrayRef()) : SmallVector<int64_t>();
}

void setPath(Operation *op, ArrayRef<int64_t> path) {
  op->setDiscardableAttr(kBlockAttr, DenseI64ArrayAttr::get(op->getContext(), path));
}

class Splitter {
public:
  explicit Splitter(func::FuncOp function) {
    function.walk([&](Operation *op) {
      for (int64_t id : getPath(op))
        nextUnit = std::max(nextUnit, id + 1);
    });
  }

  void split(LoopOp loop) {
    Operation *unkept = findUnkept(loop);
    int64_t trip = loop.getTrip();
    if (!unkept || trip == 1)
      return;
    int64_t segment = findSegment(trip);
    SmallVector<int64_t> split = {trip / segment, segment};
    OpBuilder builder(loop);
    SmallVector<Value> xs = llvm::map_to_vector(
        loop.getXs(), [&](Value stack) { return reshape(builder, loop, stack, 1, split); });
    SmallVector<Type> types(loop.getLastCarries().getTypes());
    for (Value stack : loop.getStacks())
      types.push_back(getSplitType(stack, 1, split));
    auto outer = LoopOp::create(builder, loop.getLoc(), split[0], loop.getInits(), xs, types,
                                loop.getReverse());
    outer->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    moveBody(loop, outer, segment, unkept);
    for (auto [old, result] : llvm::zip(loop.getResults(), outer.getResults())) {
      bool isStack = result.getResultNumber() >= outer.getNumCarries();
      old.replaceAllUsesWith(isStack ? reshape(builder, loop, result, 2, {trip}) : result);
    }
    loop.erase();
  }

private:
  /// The type of `value` with other leading dimensions.
  static RankedTensorType getSplitType(Value value, size_t dropped, ArrayRef<int64_t> leading) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape(leading);
    llvm::append_range(shape, type.getShape().drop_front(dropped));
    return type.clone(shape);
  }

  static Value reshape(OpBuilder &builder, LoopOp loop, Value value, size_t dropped,
                       ArrayRef<int64_t> leading) {
    auto op =
        ReshapeOp::create(builder, loop.getLoc(), getSplitType(value, dropped, leading), value);
    setPath(op, getPath(loop));
    op->setDiscardableAttr(kSplitAttr, builder.getUnitAttr());
    return op;
  }

  /// Puts the iterations of a segment into the body of `outer`. The segment is replayed as a whole,
  /// from the carry that its first iteration gets.
  void moveBody(LoopOp loop, LoopOp outer, int64_t segment, Operation *unkept) {
    OpBuilder builder = OpBuilder::atBlockEnd(&outer.getBlock());
    SmallVector<Type> types;
    for (Value result : outer.getLastCarries())
      types.push_back(result.getType());
    for (Value stack : outer.getStacks())
      types.push_back(getSplitType(stack, 1, {}));
    auto inner =
        LoopOp::create(builder, loop.getLoc(), segment, ValueRange(outer.getCarryArguments()),
                       ValueRange(outer.getSliceArguments()), types, loop.getReverse());
    YieldOp::create(builder, loop.getLoc(), inner.getResults());
    inner.getBody().takeBody(loop.getBody());
    SmallVector<int64_t> path = getPath(loop);
    size_t depth = path.size();
    int64_t unit = nextUnit++;
    inner.getBody().walk([&](Operation *op) {
      SmallVector<int64_t> own = getPath(op);
      if (own.size() < depth || own.empty())
        return;
      own.insert(own.begin() + depth, unit);
      setPath(op, own);
    });
    path.push_back(unit);
    setPath(inner, path);
    auto *context = inner.getContext();
    inner->setDiscardableAttr(kLabelAttr, LabelAttr::get(context, Label::must_recompute));
    if (Attribute rule = unkept->getDiscardableAttr(kRuleAttr))
      inner->setDiscardableAttr(kRuleAttr, rule);
  }

  int64_t nextUnit = 0;
};

struct SplitLoopsPass : impl::SplitLoopsPassBase<SplitLoopsPass> {
  using Base::Base;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      Splitter splitter(function);
      SmallVector<LoopOp> loops;
      function.walk([&](LoopOp loop) {
        if (loop->getParentOfType<ValueAndGradOp>())
          loops.push_back(loop);
      });
      for (LoopOp loop : loops)
        splitter.split(loop);
    }
  }
};

} // namespace
} // namespace reprise
