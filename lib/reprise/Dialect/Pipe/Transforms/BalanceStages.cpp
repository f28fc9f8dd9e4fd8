// reprise: joins the places where a step may be cut into stages of equal time
#include "reprise/Dialect/Pipe/Transforms/Passes.h"

#include "Order.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/Work.h"
#include "reprise/Interfaces/Interfaces.h"
#include "reprise/Planning/Stages/Balance.h"
#include "reprise/Support/ByteSize.h"

#include <set>

using namespace mlir;

namespace reprise::pipe {
#define GEN_PASS_DEF_BALANCESTAGESPASS
#include "reprise/Dialect/Pipe/Transforms/Passes.h.inc"

namespace {

/// The unit of an op, or of each iteration of one in a loop.
SmallVector<int64_t> getUnits(Operation *op) {
  Attribute attribute = op->getDiscardableAttr(kStageAttr);
  if (auto number = dyn_cast_or_null<IntegerAttr>(attribute))
    return {number.getInt()};
  if (auto list = dyn_cast_or_null<DenseI64ArrayAttr>(attribute))
    return SmallVector<int64_t>(list.asArrayRef());
  return {};
}

/// Rates of no machine in particular: only their ratio matters, and that of common machines is
/// close to it.
double countSeconds(Operation *op) {
  int64_t bytes = 0;
  for (Value value : op->getOperands())
    bytes += getByteSize(value.getType());
  for (Value value : op->getResults())
    bytes += getByteSize(value.getType());
  auto cost = dyn_cast<CostOpInterface>(op);
  double flops = cost ? static_cast<double>(cost.getFlops()) : 0;
  double rate = isContractionKind(getKindName(op)) ? 200e9 : 80e9;
  return flops / rate + static_cast<double>(bytes) / 60e9;
}

struct BalanceStagesPass : impl::BalanceStagesPassBase<BalanceStagesPass> {
  using Base::Base;

  void runOnOperation() override {
    FailureOr<Order> order = Order::find(getOperation(), schedule, devices, chunks);
    if (failed(order))
      return signalPassFailure();
    int64_t stages = order->getShape().stages();
    reprise::stages::Problem problem = makeProblem(stages);
    auto units = static_cast<int64_t>(problem.units.size());
    if (units < stages) {
      getOperation().emitError() << stages << " stages cannot be cut from a "
                                 << "forward pass that can be cut into " << units;
      return signalPassFailure();
    }
    std::optional<reprise::stages::Split> split = reprise::stages::balance(problem);
    std::vector<int64_t> stageOf;
    for (int64_t unit = 0, stage = 0; unit < units; ++unit) {
      if (stage + 1 < stages && split->begins[stage + 1] == unit)
        ++stage;
      stageOf.push_back(stage);
    }
    getOperation().walk([&](Operation *op) { renumber(op, stageOf); });
  }

private:
  reprise::stages::Problem makeProblem(int64_t stages) {
    reprise::stages::Problem problem;
    problem.devices.resize(stages);
    problem.slots.assign(stages, 1);
    getOperation().walk([&](Operation *op) {
      if (isa<LoopOp>(op))
        return;
      for (int64_t unit : getUnits(op)) {
        problem.units.resize(std::max<size_t>(problem.units.size(), unit + 1));
        pipeline::Stage &own = problem.units[unit];
        (op->hasAttr("reprise.primal") ? own.forward : own.backward) += countSeconds(op);
      }
    });
    getOperation().walk([&](Operation *op) {
      if (op->hasAttr("reprise.primal"))
        addValues(op, problem);
    });
    return problem;
  }

  /// What an op of a flat step gives to later units, and what comes back.
  static void addValues(Operation *op, reprise::stages::Problem &problem) {
    SmallVector<int64_t> units = getUnits(op);
    if (units.size() != 1 || isa<LoopOp>(op))
      return;
    for (Value result : op->getResults()) {
      std::set<int> readers;
      for (Operation *user : result.getUsers())
        for (int64_t unit : getUnits(user))
          if (unit > units.front())
            readers.insert(static_cast<int>(unit));
      if (readers.empty())
        continue;
      double seconds = static_cast<double>(getByteSize(result.getType())) / 60e9;
      problem.values.push_back({static_cast<int>(units.front()),
                                std::vector<int>(readers.begin(), readers.end()), seconds,
                                seconds});
    }
  }

  static void renumber(Operation *op, ArrayRef<int64_t> stageOf) {
    SmallVector<int64_t> units = getUnits(op);
    if (units.empty())
      return;
    Builder builder(op->getContext());
    for (int64_t &unit : units)
      unit = stageOf[unit];
    if (isa<IntegerAttr>(op->getDiscardableAttr(kStageAttr)))
      op->setDiscardableAttr(kStageAttr, builder.getI64IntegerAttr(units.front()));
    else
      op->setDiscardableAttr(kStageAttr, builder.getDenseI64ArrayAttr(units));
  }
};

} // namespace
} // namespace reprise::pipe
