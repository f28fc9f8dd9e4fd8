// reprise: which ops share a launch.
#include "Grouping.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace reprise::exec {

/// A launch with more ops than this gains nothing but register pressure.
static constexpr size_t maxGroupSize = 40;

static bool isLeader(Operation *op) {
  return isa<ContractionOpInterface, AttentionOpInterface, NormalizationOpInterface>(op);
}

int64_t getReplayNumber(Operation *op) {
  auto number = op->getInherentAttr("replay");
  return number && *number ? cast<IntegerAttr>(*number).getInt() : 0;
}

void setReplayNumber(Operation *op, int64_t number) {
  if (op->getInherentAttr("replay"))
    op->setInherentAttr(StringAttr::get(op->getContext(), "replay"),
                        IntegerAttr::get(IntegerType::get(op->getContext(), 64), number));
}

bool isFree(Operation *op) {
  if (isa<ViewOpInterface, IotaOp>(op))
    return true;
  auto constant = dyn_cast<ConstantOp>(op);
  return constant && isa<SplatElementsAttr>(constant.getValue());
}

//===-- What one launch can hold --------------------------------------------------------------------------------===//

/// The part of the step that an op belongs to; launches do not mix parts, so that a cotangent never moves into the
/// forward pass. Replays work for the cotangents that read them.
static int partOf(Operation *op) {
  if (op->hasAttr("reprise.cotangent") || getReplayNumber(op) != 0)
    return 1;
  return op->hasAttr("reprise.primal") ? 0 : 2;
}

static bool isElementwise(Operation *op) {
  if (isa<AttentionOpInterface, ContractionOpInterface>(op))
    return false;
  return isa<ElementwiseOpInterface, RandomOpInterface>(op);
}

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

/// The shape over which a loop group iterates: that of the operand for ops that reduce it.
static ArrayRef<int64_t> spaceOf(Operation *op) {
  if (isa<ReductionOpInterface, NormalizationOpInterface>(op))
    return shapeOf(op->getOperand(0));
  return shapeOf(op->getResult(0));
}

static bool reducesLast(Operation *op) {
  if (isa<NormalizationOpInterface>(op))
    return true;
  auto reduction = dyn_cast<ReductionOpInterface>(op);
  int64_t last = static_cast<int64_t>(shapeOf(op->getOperand(0)).size()) - 1;
  return reduction && reduction.getReducedDims() == SmallVector<int64_t>{last};
}

/// True if `view` repeats a value of rows along the last dimension.
static bool spreadsRows(Operation *view) {
  auto broadcast = dyn_cast<BroadcastOp>(view);
  return broadcast && shapeOf(broadcast.getResult()).drop_back() == shapeOf(broadcast.getOperand()) &&
         llvm::is_sorted(broadcast.getDims()) && (broadcast.getDims().empty() ||
         broadcast.getDims().back() == static_cast<int64_t>(broadcast.getDims().size()) - 1);
}

/// True if ops of the group read values of the group in place, or rows spread over the last dimension: what a kernel
/// that walks the space once has in registers.
static bool readsInPlace(ArrayRef<Operation *> ops) {
  llvm::SmallPtrSet<Operation *, 16> members(ops.begin(), ops.end());
  auto isMember = [&](Value value) { return value.getDefiningOp() && members.contains(value.getDefiningOp()); };
  for (Operation *op : ops)
    for (Value operand : op->getOperands()) {
      bool moved = false;
      while (operand.getDefiningOp() && isa<ViewOpInterface>(operand.getDefiningOp())) {
        moved |= !spreadsRows(operand.getDefiningOp());
        operand = operand.getDefiningOp()->getOperand(0);
      }
      if (moved && isMember(operand))
        return false;
    }
  return true;
}

/// Elementwise ops on one shape, reductions of its last dimension, and elementwise ops on the rows that those leave.
static bool isRowGroup(ArrayRef<Operation *> ops) {
  ArrayRef<int64_t> space;
  for (Operation *op : ops)
    if (spaceOf(op).size() > space.size())
      space = spaceOf(op);
  ArrayRef<int64_t> rows = space.empty() ? space : space.drop_back();
  for (Operation *op : ops) {
    bool onSpace = spaceOf(op) == space && (isElementwise(op) || reducesLast(op));
    bool onRows = spaceOf(op) == rows && isElementwise(op) && llvm::any_of(ops, reducesLast);
    if (!onSpace && !onRows)
      return false;
  }
  return true;
}

static bool canHold(ArrayRef<Operation *> ops) {
  if (ops.size() == 1)
    return true;
  return ops.size() <= maxGroupSize && readsInPlace(ops) && isRowGroup(ops);
}

//===-- Grouping ------------------------------------------------------------------------------------------------===//

/// The ops that produce what `op` reads, looking through free ops.
static void collectProducers(Operation *op, SmallVectorImpl<Operation *> &producers) {
  for (Value operand : op->getOperands())
    if (Operation *producer = operand.getDefiningOp()) {
      if (isFree(producer))
        collectProducers(producer, producers);
      else
        producers.push_back(producer);
    }
}

Grouping::Grouping(Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (!isa<RepriseDialect>(op.getDialect()) || isFree(&op) || isa<ConstantOp>(op))
      continue;
    SmallVector<Operation *> producers;
    collectProducers(&op, producers);
    std::optional<size_t> latest;
    for (Operation *producer : producers)
      if (auto found = groupOf.find(producer); found != groupOf.end())
        latest = std::max(latest.value_or(0), found->second);
    if (latest) {
      SmallVector<Operation *> joined = all[*latest].ops;
      bool samePart = partOf(joined.front()) == partOf(&op);
      joined.push_back(&op);
      if (samePart && canHold(joined)) {
        all[*latest].ops = std::move(joined);
        if (isLeader(&op) && !llvm::any_of(ArrayRef(all[*latest].ops).drop_back(), isLeader))
          all[*latest].location = op.getLoc();
        groupOf[&op] = *latest;
        continue;
      }
    }
    groupOf[&op] = all.size();
    all.push_back({{&op}, op.getLoc()});
  }
}

bool Grouping::isReadOutside(Value value, const Group &group) const {
  size_t home = groupOf.lookup(value.getDefiningOp());
  SmallVector<Value> views{value};
  while (!views.empty()) {
    for (Operation *user : views.pop_back_val().getUsers()) {
      if (isFree(user)) {
        views.append(user->result_begin(), user->result_end());
        continue;
      }
      auto found = groupOf.find(user);
      if (found == groupOf.end() || found->second != home)
        return true;
    }
  }
  return false;
}

//===-- Updates -------------------------------------------------------------------------------------------------===//

namespace {
/// Finds for each update op the op behind which it may stand.
class UpdateHoister {
public:
  explicit UpdateHoister(Block &block) : block(block) {
    for (Operation &op : block)
      number[&op] = numbered.size(), place[&op] = numbered.size(), numbered.push_back(&op);
    findWrites();
  }

  void run() {
    llvm::MapVector<Operation *, SmallVector<Operation *>> movesBehind;
    for (Operation *op : ArrayRef(numbered).drop_back())
      if (partOf(op) == 2 && !isa<ConstantOp>(op))
        if (int64_t anchor = earliestPlace(op); anchor >= 0) {
          place[op] = anchor;
          movesBehind[numbered[anchor]].push_back(op);
        }
    for (auto &[anchor, ops] : movesBehind)
      for (Operation *op : llvm::reverse(ops))
        op->moveAfter(anchor);
  }

private:
  /// Ops whose result is the next value of an argument.
  void findWrites() {
    auto entry = cast<func::FuncOp>(block.getParentOp());
    llvm::StringMap<Value> arguments;
    for (BlockArgument argument : block.getArguments())
      if (auto name = entry.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "reprise.name"))
        arguments[name.getValue()] = argument;
    for (auto [i, value] : llvm::enumerate(block.getTerminator()->getOperands()))
      if (auto name = entry.getResultAttrOfType<StringAttr>(i, "reprise.name"))
        if (auto old = arguments.find(name.getValue()); old != arguments.end() && value.getDefiningOp())
          oldValue[value.getDefiningOp()] = old->second;
  }

  /// The number of the last op that must come before: producers, and other readers of the value that `op` replaces.
  int64_t earliestPlace(Operation *op) {
    int64_t last = -1;
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp())
        last = std::max(last, place.lookup(producer));
    if (Value old = oldValue.lookup(op))
      for (Operation *user : old.getUsers())
        if (number.lookup(user) < number.lookup(op))
          last = std::max(last, place.lookup(user));
    return last;
  }

  Block &block;
  std::vector<Operation *> numbered;
  DenseMap<Operation *, int64_t> number, place;
  DenseMap<Operation *, Value> oldValue;
};
} // namespace

void hoistUpdates(Block &block) {
  // Without a derivative nothing is an update.
  if (llvm::any_of(block, [](Operation &op) { return op.hasAttr("reprise.cotangent"); }))
    UpdateHoister(block).run();
}

} // namespace reprise::exec
