// reprise: replaces every loop by its iterations.
#include "reprise/Dialect/Reprise/Transforms/Passes.h"

#include "Plan.h"
#include "mlir/IR/IRMapping.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/Loops.h"
#include "reprise/Dialect/Reprise/IR/Naming.h"
#include <map>

using namespace mlir;

namespace reprise {
#define GEN_PASS_DEF_UNROLLLOOPSPASS
#include "reprise/Dialect/Reprise/Transforms/Passes.h.inc"

namespace {

ArrayRef<int64_t> getPath(Operation *op) {
  auto block = op->getAttrOfType<DenseI64ArrayAttr>(kBlockAttr);
  return block ? block.asArrayRef() : ArrayRef<int64_t>();
}

class Unroller {
public:
  explicit Unroller(func::FuncOp function) {
    function.walk([&](Operation *op) {
      for (int64_t id : getPath(op))
        nextUnit = std::max(nextUnit, id + 1);
    });
  }

  LogicalResult run(func::FuncOp function) {
    // Outer loops first, so that an inner one finds the rows of another in its own iteration.
    for (;;) {
      SmallVector<Block *> bodies;
      function.walk<WalkOrder::PreOrder>([&](LoopOp loop) {
        bodies.push_back(&loop.getBlock());
        return WalkResult::skip();
      });
      if (bodies.empty())
        return success();
      for (Block *body : bodies)
        if (failed(unroll(getLoop(body))))
          return failure();
    }
  }

private:
  LogicalResult unroll(LoopOp loop) {
    int64_t size = std::distance(loop.getBlock().begin(), loop.getBlock().end());
    made += size * static_cast<int64_t>(loop.getTrip());
    if (made > kMostOps)
      return loop.emitError("the entry grows beyond 2^20 ops when loops are unrolled");
    int64_t trip = loop.getTrip();
    SmallVector<Value> carries(loop.getInits());
    std::vector<SmallVector<Value>> rows(loop.getStacks().size(), SmallVector<Value>(trip));
    for (int64_t i = 0; i < trip; ++i) {
      int64_t k = loop.getReverse() ? trip - 1 - i : i;
      SmallVector<Value> yielded = cloneBody(loop, carries, k);
      std::copy_n(yielded.begin(), carries.size(), carries.begin());
      for (auto [stack, row] : llvm::zip(rows, ArrayRef(yielded).drop_front(carries.size())))
        stack[k] = row;
    }
    for (auto [result, value] : llvm::zip(loop.getLastCarries(), carries))
      result.replaceAllUsesWith(value);
    for (auto [result, values] : llvm::zip(loop.getStacks(), rows)) {
      Value stack = join(loop, cast<RankedTensorType>(result.getType()), values);
      result.replaceAllUsesWith(stack);
      rowsOf[stack] = std::move(values);
    }
    loop.erase();
    return success();
  }

  SmallVector<Value> cloneBody(LoopOp loop, ArrayRef<Value> carries, int64_t k) {
    OpBuilder builder(loop);
    IRMapping mapping;
    mapping.map(ValueRange(loop.getCarryArguments()), carries);
    for (auto [argument, stack] : llvm::zip(loop.getSliceArguments(), loop.getXs()))
      if (!argument.use_empty())
        mapping.map(argument, slice(loop, stack, k));
    for (Operation &op : loop.getBlock().without_terminator()) {
      Operation *copy = builder.clone(op, mapping);
      setUnit(copy, loop, k);
      copy->walk([&](Operation *inner) {
        takeIteration(inner, loop.getTrip(), k);
        takeStage(inner, k);
        setScope(inner, loop, k);
      });
    }
    return llvm::map_to_vector(loop.getYield()->getOperands(),
                               [&](Value v) { return mapping.lookupOrDefault(v); });
  }

  /// Leaves the labels of iteration `k` of an outermost loop.
  static void takeIteration(Operation *op, int64_t trip, int64_t k) {
    auto all = op->getAttrOfType<ArrayAttr>(kIterationsAttr);
    if (!all)
      return;
    size_t each = all.size() / trip;
    ArrayRef<Attribute> own = all.getValue().slice(k * each, each);
    op->setDiscardableAttr(kIterationsAttr, ArrayAttr::get(op->getContext(), own));
    if (each > 1)
      return;
    op->removeDiscardableAttr(kIterationsAttr);
    for (NamedAttribute attribute : cast<DictionaryAttr>(own.front()))
      op->setDiscardableAttr(attribute.getName(), attribute.getValue());
  }

  static void takeStage(Operation *op, int64_t k) {
    if (auto stages = dyn_cast_or_null<DenseI64ArrayAttr>(op->getDiscardableAttr(kStageAttr)))
      op->setDiscardableAttr(kStageAttr, Builder(op->getContext()).getI64IntegerAttr(stages[k]));
  }

  /// In reports each iteration has a scope of its own, the one that policies see.
  static void setScope(Operation *op, LoopOp loop, int64_t k) {
    std::string scope = insertIteration(getScope(op->getLoc()), getScope(loop.getLoc()), k);
    if (!scope.empty())
      op->setLoc(NameLoc::get(StringAttr::get(op->getContext(), scope), op->getLoc()));
  }

  /// Every iteration is a unit of its own, the same for all loops of one unit.
  void setUnit(Operation *copy, LoopOp loop, int64_t k) {
    ArrayRef<int64_t> own = getPath(loop);
    if (own.empty())
      return;
    auto [base, isNew] = units.try_emplace(std::vector<int64_t>(own.begin(), own.end()), nextUnit);
    if (isNew)
      nextUnit += loop.getTrip();
    copy->walk([&, id = base->second + k](Operation *op) {
      SmallVector<int64_t> path(getPath(op));
      if (path.size() < own.size())
        return;
      path[own.size() - 1] = id;
      op->setDiscardableAttr(kBlockAttr, DenseI64ArrayAttr::get(op->getContext(), path));
    });
  }

  /// What moves rows is of the loop's part and order, and of the stage of iteration `k`.
  template <typename Op, typename... Arguments>
  Value create(LoopOp loop, int64_t k, Arguments &&...arguments) {
    OpBuilder builder(loop);
    auto op = Op::create(builder, loop.getLoc(), std::forward<Arguments>(arguments)...);
    op->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    takeStage(op, k);
    return op;
  }

  Value slice(LoopOp loop, Value stack, int64_t k) {
    if (auto found = rowsOf.find(stack); found != rowsOf.end())
      return found->second[k];
    auto type = cast<RankedTensorType>(stack.getType());
    SmallVector<int64_t> starts(type.getRank(), 0), ends(type.getShape());
    starts[0] = k;
    ends[0] = k + 1;
    SmallVector<int64_t> shape(type.getShape()), strides(type.getRank(), 1);
    shape[0] = 1;
    Value row = create<SliceOp>(loop, k, type.clone(shape), stack, starts, ends, strides);
    return create<ReshapeOp>(loop, k, type.clone(type.getShape().drop_front()), row);
  }

  Value join(LoopOp loop, RankedTensorType type, ArrayRef<Value> rows) {
    SmallVector<int64_t> shape(type.getShape());
    shape[0] = 1;
    SmallVector<Value> parts;
    for (auto [k, row] : llvm::enumerate(rows))
      parts.push_back(create<ReshapeOp>(loop, k, type.clone(shape), row));
    return create<ConcatenateOp>(loop, 0, type, parts, 0);
  }

  static constexpr int64_t kMostOps = int64_t(1) << 20;

  int64_t nextUnit = 0, made = 0;
  std::map<std::vector<int64_t>, int64_t> units;
  DenseMap<Value, SmallVector<Value>> rowsOf; ///< of stacks that unrolled loops made
};

struct UnrollLoopsPass : impl::UnrollLoopsPassBase<UnrollLoopsPass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function.isExternal() && failed(Unroller(function).run(function)))
      signalPassFailure();
  }
};

} // namespace
} // namespace reprise
