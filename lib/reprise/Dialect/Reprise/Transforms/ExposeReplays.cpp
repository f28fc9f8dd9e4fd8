// reprise: makes the entry return every replayed value and its original.
#include "reprise/Dialect/Reprise/Transforms/Passes.h"

#include "Plan.h"
#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/Dialect/Reprise/IR/Loops.h"
#include "reprise/Dialect/Reprise/IR/Naming.h"

using namespace mlir;

namespace reprise {
#define GEN_PASS_DEF_EXPOSEREPLAYSPASS
#include "reprise/Dialect/Reprise/Transforms/Passes.h.inc"

namespace {

/// Collects the results that a function returns in addition.
class Exposure {
public:
  explicit Exposure(ProgramOp function)
      : function(function), builder(function.getContext()), ids(function.getBody().front()),
        terminator(function.getBody().front().getTerminator()) {}

  LogicalResult run() {
    // Another stack replaces the loop op, so we add all stacks before we read results.
    SmallVector<Operation *> replays;
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (auto id = op->getAttrOfType<IntegerAttr>(kIdAttr))
        originals[id.getInt()] = op;
      else if (isReplay(op) && !isa<ViewOpInterface, LoopOp>(op))
        replays.push_back(op);
    });
    for (Operation *replay : replays)
      if (failed(makeStacks(replay)))
        return failure();
    for (auto [i, value] : llvm::enumerate(terminator->getOperands()))
      numbers.try_emplace(value, i);
    for (Operation *replay : replays)
      expose(replay);
    if (values.empty())
      return success();
    SmallVector<unsigned> places(values.size(), function.getNumResults());
    terminator->insertOperands(terminator->getNumOperands(), values);
    return function.insertResults(places, ValueRange(values).getTypes(), attributes);
  }

private:
  Operation *findOriginal(Operation *replay) const {
    auto id = replay->getAttrOfType<IntegerAttr>(kOriginalAttr);
    return id ? originals.lookup(id.getInt()) : nullptr;
  }

  LogicalResult makeStacks(Operation *replay) {
    Operation *original = findOriginal(replay);
    if (!original || original->getResultTypes() != replay->getResultTypes())
      return replay->emitError("expected a replay of an earlier op: run reprise-verify-checkpoint");
    for (auto [first, again] : llvm::zip(original->getResults(), replay->getResults()))
      if (!again.use_empty()) {
        stackUp(first);
        stackUp(again);
      }
    return success();
  }

  void expose(Operation *replay) {
    for (auto [first, again] :
         llvm::zip(findOriginal(replay)->getResults(), replay->getResults())) {
      // A plan decides by value: another result of the op may be saved.
      if (again.use_empty())
        continue;
      std::string text = describe(replay, first);
      Value original = stackUp(first);
      if (!numbers.contains(original))
        add(original, "original of a replay", std::nullopt);
      add(stackUp(again), text, numbers.lookup(original));
    }
  }

  /// The values of all iterations.
  static Value stackUp(Value value) {
    while (getLoop(value.getParentBlock()))
      value = addStack(value.getParentBlock(), value);
    return value;
  }

  void add(Value value, const std::string &check, std::optional<int64_t> replayOf) {
    NamedAttrList list;
    list.set(EntrySignature::kCheck, builder.getStringAttr(check));
    if (replayOf)
      list.set(EntrySignature::kReplayOf, builder.getI64IntegerAttr(*replayOf));
    numbers[value] = function.getNumResults() + values.size();
    values.push_back(value);
    attributes.push_back(list.getDictionary(builder.getContext()));
  }

  std::string describe(Operation *replay, OpResult original) const {
    std::string place = getPlace(original.getLoc());
    return "replay " + std::to_string(getReplayNumber(replay)) + " of " +
           replay->getName().getStringRef().str() + " '" + ids.get(original) + "'" +
           (place.empty() ? "" : " at " + place);
  }

  ProgramOp function;
  Builder builder;
  ValueIds ids;
  Operation *terminator;
  DenseMap<int64_t, Operation *> originals;
  DenseMap<Value, int64_t> numbers; ///< number of the result that returns the value
  SmallVector<Value> values;
  SmallVector<DictionaryAttr> attributes;
};

struct ExposeReplaysPass : impl::ExposeReplaysPassBase<ExposeReplaysPass> {
  using Base::Base;

  void runOnOperation() override {
    ProgramOp function = getOperation();
    if (failed(Exposure(function).run()))
      signalPassFailure();
  }
};

} // namespace
} // namespace reprise
