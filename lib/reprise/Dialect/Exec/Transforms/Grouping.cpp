// reprise: which ops share a launch.
#include "Grouping.h"

#include "reprise/Conversion/Target.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "llvm/ADT/SetVector.h"

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

/// True if an op reads its positions in a result of `op`: they come from a buffer, where
/// `--check-indices` sees them.
static bool givesPositions(Operation *op) {
  return llvm::any_of(op->getUses(), [](OpOperand &use) {
    auto reader = dyn_cast<IndexingOpInterface>(use.getOwner());
    return reader && reader.getPositions() == use.get();
  });
}

bool isFree(Operation *op) {
  if (givesPositions(op))
    return false;
  if (isa<ViewOpInterface, IotaOp>(op))
    return true;
  auto constant = dyn_cast<ConstantOp>(op);
  return constant && isa<SplatElementsAttr>(constant.getValue());
}

//===-- What one launch can hold ------------------------------------------------------------===//

int partOf(Operation *op) {
  if (op->hasAttr("reprise.cotangent") || getReplayNumber(op) != 0)
    return 1;
  return op->hasAttr("reprise.primal") ? 0 : 2;
}

static bool isElementwise(Operation *op) {
  if (isa<AttentionOpInterface, ContractionOpInterface>(op))
    return false;
  return isa<ElementwiseOpInterface, RandomOpInterface>(op);
}

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// The shape over which a loop group iterates: that of the operand for ops that reduce it.
static ArrayRef<int64_t> spaceOf(Operation *op) {
  if (isa<ReductionOpInterface, NormalizationOpInterface>(op))
    return shapeOf(op->getOperand(0));
  return shapeOf(op->getResult(0));
}

/// The dimensions of its space that an op reduces; none if it is no reduction.
static SmallVector<int64_t> reducedDims(Operation *op) {
  if (auto reduction = dyn_cast<ReductionOpInterface>(op))
    return reduction.getReducedDims();
  if (isa<NormalizationOpInterface>(op))
    return {static_cast<int64_t>(spaceOf(op).size()) - 1};
  return {};
}

/// True if `view` repeats a value of rows along the dimensions that a group reduces.
static bool spreadsRows(Operation *view, ArrayRef<int64_t> reduced) {
  auto broadcast = dyn_cast<BroadcastOp>(view);
  if (!broadcast)
    return false;
  int64_t rank = shapeOf(broadcast.getResult()).size(), kept = 0;
  for (int64_t d = 0; d < rank; ++d) {
    if (llvm::is_contained(reduced, d))
      continue;
    if (kept == static_cast<int64_t>(broadcast.getDims().size()) ||
        broadcast.getDims()[kept] != d ||
        shapeOf(broadcast.getOperand())[kept] != shapeOf(broadcast.getResult())[d])
      return false;
    ++kept;
  }
  return kept == static_cast<int64_t>(broadcast.getDims().size());
}

/// True if ops of the group read values of the group in place, or rows spread over the dimensions
/// that it reduces: what a kernel that walks the space once has in registers.
static bool readsInPlace(ArrayRef<Operation *> ops, ArrayRef<int64_t> reduced) {
  llvm::SmallPtrSet<Operation *, 16> members(ops.begin(), ops.end());
  auto isMember = [&](Value value) {
    return value.getDefiningOp() && members.contains(value.getDefiningOp());
  };
  for (Operation *op : ops)
    for (Value operand : op->getOperands()) {
      bool moved = false;
      while (operand.getDefiningOp() && isa<ViewOpInterface>(operand.getDefiningOp())) {
        moved |= !spreadsRows(operand.getDefiningOp(), reduced);
        operand = operand.getDefiningOp()->getOperand(0);
      }
      if (moved && isMember(operand))
        return false;
    }
  return true;
}

/// Elementwise ops on one shape, reductions of some dimensions of it, the last among them, and
/// elementwise ops on the rows that those leave.
static bool isRowGroup(ArrayRef<Operation *> ops) {
  ArrayRef<int64_t> space;
  for (Operation *op : ops)
    if (spaceOf(op).size() > space.size())
      space = spaceOf(op);
  SmallVector<int64_t> reduced;
  for (Operation *op : ops)
    if (spaceOf(op) == space && reduced.empty())
      reduced = reducedDims(op);
  if (!reduced.empty() && reduced.back() + 1 != static_cast<int64_t>(space.size()))
    return false;
  SmallVector<int64_t> rows;
  for (auto [d, size] : llvm::enumerate(space))
    if (!llvm::is_contained(reduced, static_cast<int64_t>(d)))
      rows.push_back(size);
  for (Operation *op : ops) {
    bool reduces = !reduced.empty() && reducedDims(op) == reduced;
    bool onSpace = spaceOf(op) == space && (isElementwise(op) || reduces);
    bool onRows = !reduced.empty() && spaceOf(op) == ArrayRef(rows) && isElementwise(op);
    if (!onSpace && !onRows)
      return false;
  }
  return readsInPlace(ops, reduced);
}

/// One contraction, and elementwise ops on its result's shape after it.
static bool isContractionGroup(ArrayRef<Operation *> ops) {
  if (!isa<ContractionOpInterface>(ops.front()))
    return false;
  ArrayRef<int64_t> shape = shapeOf(ops.front()->getResult(0));
  return readsInPlace(ops, {}) && llvm::all_of(ops.drop_front(), [&](Operation *op) {
           return isElementwise(op) && shapeOf(op->getResult(0)) == shape;
         });
}

static bool computesPositions(ArrayRef<Operation *> ops) {
  return llvm::any_of(ops, [&](Operation *op) {
    auto reader = dyn_cast<IndexingOpInterface>(op);
    return reader && llvm::is_contained(ops, reader.getPositions().getDefiningOp());
  });
}

static bool canHold(ArrayRef<Operation *> ops, const Target &target) {
  if (ops.size() == 1)
    return true;
  if (computesPositions(ops))
    return false;
  return ops.size() <= maxGroupSize &&
         ((target.hasContractionEpilogues() && isContractionGroup(ops)) || isRowGroup(ops));
}

//===-- Grouping ----------------------------------------------------------------------------===//

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

/// True if the function returns the value for the comparison of replays only.
static bool isExposure(OpOperand &use) {
  auto entry = use.getOwner()->getParentOfType<func::FuncOp>();
  return isa<func::ReturnOp>(use.getOwner()) &&
         entry.getResultAttr(use.getOperandNumber(), "reprise.check");
}

/// The reader of the only use; none if there are more. Exposed replays are grouped like others, so
/// they do not count.
static Operation *findOnlyReader(Operation *op) {
  Operation *reader = nullptr;
  for (OpOperand &use : op->getUses()) {
    if (isExposure(use))
      continue;
    if (reader)
      return nullptr;
    reader = use.getOwner();
  }
  return reader;
}

namespace {
/// Puts ops into groups, one by one in program order.
class Grouper {
public:
  Grouper(std::vector<Group> &all, DenseMap<Operation *, size_t> &groupOf, const Target &target)
      : all(all), groupOf(groupOf), target(target) {}

  void add(Operation *op) {
    if (partOf(op) == 2)
      placeReadersOfOldValues(op);
    SmallVector<Operation *> producers;
    collectProducers(op, producers);
    // Cotangents find what the forward pass stored, as they find arguments; updates must not
    // outwait their gradient.
    bool isReady = isElementwise(op) && llvm::all_of(producers, [&](Operation *p) {
                     return isa<ConstantOp>(p) || waiting.contains(p) || early.contains(p) ||
                            (partOf(op) == 1 && partOf(p) == 0);
                   });
    // What reads such values alone waits for its reader, so as not to become a launch and a value
    // of its own.
    Operation *reader = findOnlyReader(op);
    if (isReady && reader && !reader->hasTrait<OpTrait::IsTerminator>())
      wait(op);
    else
      place(op);
    if (isReady && !reader && partOf(op) == 2)
      early.insert(op);
  }

  void finish() {
    while (!waiting.empty())
      placeAlone(waiting.front());
  }

private:
  /// Waiting ops that `op` reads, each behind its own operands.
  void collectWaiting(Operation *op, SmallVectorImpl<Operation *> &ops) const {
    SmallVector<Operation *> producers;
    collectProducers(op, producers);
    for (Operation *producer : producers)
      if (waiting.contains(producer) && !llvm::is_contained(ops, producer)) {
        collectWaiting(producer, ops);
        ops.push_back(producer);
      }
  }

  /// What reads a parameter must not wait beyond its update, which could not overwrite it then.
  void placeReadersOfOldValues(Operation *update) {
    for (Value operand : update->getOperands()) {
      SmallVector<Operation *> readers;
      std::swap(readers, waitingReaders[operand]);
      for (Operation *reader : readers)
        if (waiting.contains(reader))
          place(reader);
    }
  }

  void wait(Operation *op) {
    waiting.insert(op);
    if (partOf(op) == 2)
      return;
    for (Value operand : op->getOperands()) {
      while (operand.getDefiningOp() && isa<ViewOpInterface>(operand.getDefiningOp()))
        operand = operand.getDefiningOp()->getOperand(0);
      if (isa<BlockArgument>(operand))
        waitingReaders[operand].push_back(op);
    }
  }

  void place(Operation *op) {
    SmallVector<Operation *> ops;
    collectWaiting(op, ops);
    ops.push_back(op);
    if (joinExisting(ops))
      return;
    if (ops.size() > 1 && !(samePart(ops) && canHold(ops, target))) {
      for (Operation *single : ops)
        placeAlone(single);
      return;
    }
    all.push_back({{}, op->getLoc()});
    append(all.size() - 1, ops);
  }

  /// Without the waiting ops that it reads: they have been placed.
  void placeAlone(Operation *op) {
    waiting.remove(op);
    if (joinExisting({op}))
      return;
    all.push_back({{}, op->getLoc()});
    append(all.size() - 1, {op});
  }

  /// Tries the group of the latest producer; an update also a later group that reads one of its
  /// operands.
  bool joinExisting(ArrayRef<Operation *> ops) {
    std::optional<size_t> latest, sibling;
    for (Operation *op : ops) {
      SmallVector<Operation *> producers;
      collectProducers(op, producers);
      for (Operation *producer : producers)
        if (auto found = groupOf.find(producer); found != groupOf.end())
          latest = std::max(latest.value_or(0), found->second);
      for (Value operand : op->getOperands())
        if (auto found = updatesReading.find(operand);
            found != updatesReading.end() && partOf(op) == 2)
          sibling = std::max(sibling.value_or(0), found->second);
    }
    return (latest && join(*latest, ops)) || (sibling && sibling > latest && join(*sibling, ops));
  }

  bool join(size_t number, ArrayRef<Operation *> ops) {
    SmallVector<Operation *> joined = all[number].ops;
    llvm::append_range(joined, ops);
    if (!samePart(joined) || !canHold(joined, target))
      return false;
    if (isLeader(ops.back()) && !llvm::any_of(all[number].ops, isLeader))
      all[number].location = ops.back()->getLoc();
    append(number, ops);
    return true;
  }

  static bool samePart(ArrayRef<Operation *> ops) {
    return llvm::all_of(ops, [&](Operation *op) { return partOf(op) == partOf(ops.front()); });
  }

  void append(size_t number, ArrayRef<Operation *> ops) {
    for (Operation *op : ops) {
      all[number].ops.push_back(op);
      groupOf[op] = number;
      waiting.remove(op);
      if (partOf(op) == 2)
        for (Value operand : op->getOperands())
          updatesReading[operand] = number;
    }
  }

  std::vector<Group> &all;
  DenseMap<Operation *, size_t> &groupOf;
  const Target &target;
  llvm::SetVector<Operation *> waiting;
  /// Waiting ops of the passes by the arguments that they read.
  DenseMap<Value, SmallVector<Operation *>> waitingReaders;
  /// Placed ops of the update that several read and that read arguments alone, such as a corrected
  /// rate.
  llvm::SmallPtrSet<Operation *, 8> early;
  /// The last group of updates that reads a value.
  DenseMap<Value, size_t> updatesReading;
};
} // namespace

Grouping::Grouping(Block &block, const Target &target) {
  Grouper grouper(all, groupOf, target);
  for (Operation &op : block.without_terminator())
    if (isa<RepriseDialect>(op.getDialect()) && !isFree(&op) && !isa<ConstantOp>(op))
      grouper.add(&op);
  grouper.finish();
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

} // namespace reprise::exec
