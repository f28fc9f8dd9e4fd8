// reprise: replaces every loop by its iterations.
#include "reprise/Dialect/Reprise/Transforms/Passes.h"

#include "Translation.h"
#include "mlir/IR/IRMapping.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/Loops.h"
#include "reprise/Dialect/Reprise/IR/Naming.h"
#include "reprise/Support/Attributes.h"
#include <map>

using namespace mlir;

namespace reprise {
#define GEN_PASS_DEF_UNROLLLOOPSPASS
#include "reprise/Dialect/Reprise/Transforms/Passes.h.inc"

namespace {

ArrayRef<int64_t> getPath(DictionaryAttr attributes) {
  auto block = attributes.getAs<DenseI64ArrayAttr>(kBlockAttr);
  return block ? block.asArrayRef() : ArrayRef<int64_t>();
}

/// Attributes and places of the ops of a loop's body in iteration `k`. Ops share few dictionaries
/// and places, so each is made once.
class Iteration {
public:
  /// `unit`: the id of the iteration's unit, if the loop is in one.
  Iteration(LoopOp loop, int64_t k, std::optional<int64_t> unit)
      : trip(loop.getTrip()), k(k), unit(unit),
        depth(getPath(loop->getDiscardableAttrDictionary()).size()), scope(getScope(loop.getLoc())),
        attributes(
            [this, context = loop.getContext()](NamedAttrList &list) { renew(list, context); }) {}
  Iteration(const Iteration &) = delete;

  void enter(Operation *op) {
    attributes.apply(op);
    auto [place, isNew] = places.try_emplace(op->getLoc(), op->getLoc());
    if (isNew)
      place->second = move(op->getLoc());
    op->setLoc(place->second);
  }

  /// Adapts the loop's own attributes to an op that moves a row.
  static DictionaryAttr takeStage(DictionaryAttr old, int64_t k) {
    NamedAttrList list(old);
    takeStage(list, k, old.getContext());
    return list.getDictionary(old.getContext());
  }

private:
  void renew(NamedAttrList &list, MLIRContext *context) const {
    if (unit)
      setUnit(list, context);
    takeIteration(list, context);
    takeStage(list, k, context);
  }

  void setUnit(NamedAttrList &list, MLIRContext *context) const {
    auto own = dyn_cast_or_null<DenseI64ArrayAttr>(list.get(kBlockAttr));
    if (!own || own.size() < static_cast<int64_t>(depth))
      return;
    SmallVector<int64_t> path(own.asArrayRef());
    path[depth - 1] = *unit;
    list.set(kBlockAttr, DenseI64ArrayAttr::get(context, path));
  }

  /// Leaves the labels of iteration `k` of an outermost loop.
  void takeIteration(NamedAttrList &list, MLIRContext *context) const {
    auto all = dyn_cast_or_null<ArrayAttr>(list.get(kIterationsAttr));
    if (!all)
      return;
    size_t each = all.size() / trip;
    ArrayRef<Attribute> own = all.getValue().slice(k * each, each);
    list.set(kIterationsAttr, ArrayAttr::get(context, own));
    if (each > 1)
      return;
    list.erase(kIterationsAttr);
    for (NamedAttribute attribute : cast<DictionaryAttr>(own.front()))
      list.set(attribute.getName(), attribute.getValue());
  }

  static void takeStage(NamedAttrList &list, int64_t k, MLIRContext *context) {
    if (auto stages = dyn_cast_or_null<DenseI64ArrayAttr>(list.get(kStageAttr)))
      list.set(kStageAttr, Builder(context).getI64IntegerAttr(stages[k]));
  }

  /// Returns the place of an op in this iteration. In reports each iteration has its own scope,
  /// which policies see too.
  Location move(Location old) const {
    std::string own = insertIteration(getScope(old), scope, k);
    return own.empty() ? old : Location(NameLoc::get(StringAttr::get(old.getContext(), own), old));
  }

  int64_t trip, k;
  std::optional<int64_t> unit;
  size_t depth; ///< depth of the loop's unit
  std::string scope;
  AttributeChange attributes;
  DenseMap<Location, Location> places;
};

class Unroller {
public:
  explicit Unroller(FunctionOpInterface function) {
    function.walk([&](Operation *op) {
      for (int64_t id : getPath(op->getDiscardableAttrDictionary()))
        nextUnit = std::max(nextUnit, id + 1);
    });
  }

  LogicalResult run(FunctionOpInterface function) {
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
    Iteration iteration(loop, k, findUnit(loop, k));
    for (Operation &op : loop.getBlock().without_terminator())
      builder.clone(op, mapping)->walk([&](Operation *copy) { iteration.enter(copy); });
    return llvm::map_to_vector(loop.getYield()->getOperands(),
                               [&](Value v) { return mapping.lookupOrDefault(v); });
  }

  /// Returns the unit of an iteration: its own, and the same for all loops of one unit.
  std::optional<int64_t> findUnit(LoopOp loop, int64_t k) {
    ArrayRef<int64_t> own = getPath(loop->getDiscardableAttrDictionary());
    if (own.empty())
      return std::nullopt;
    auto [base, isNew] = units.try_emplace(std::vector<int64_t>(own.begin(), own.end()), nextUnit);
    if (isNew)
      nextUnit += loop.getTrip();
    return base->second + k;
  }

  /// Creates an op that moves rows, with the loop's part and order, and the stage of iteration `k`.
  template <typename Op, typename... Arguments>
  Value create(LoopOp loop, int64_t k, Arguments &&...arguments) {
    OpBuilder builder(loop);
    auto op = Op::create(builder, loop.getLoc(), std::forward<Arguments>(arguments)...);
    op->setDiscardableAttrs(Iteration::takeStage(loop->getDiscardableAttrDictionary(), k));
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
  DenseMap<Value, SmallVector<Value>> rowsOf; ///< rows of stacks of unrolled loops
};

struct UnrollLoopsPass : impl::UnrollLoopsPassBase<UnrollLoopsPass> {
  using Base::Base;

  void runOnOperation() override {
    FunctionOpInterface function = getOperation();
    if (!function.walk([](LoopOp) { return WalkResult::interrupt(); }).wasInterrupted())
      return markAllAnalysesPreserved();
    if (failed(Unroller(function).run(function)) || failed(settleLabels(function)))
      signalPassFailure();
  }

  /// Settles labels again: a loop keeps copies of views, which now show the memory of their
  /// operands.
  static LogicalResult settleLabels(FunctionOpInterface function) {
    for (const Scope &scope : findScopes(function))
      if (failed(Translation(scope).settleLabels()))
        return failure();
    return success();
  }
};

} // namespace
} // namespace reprise
