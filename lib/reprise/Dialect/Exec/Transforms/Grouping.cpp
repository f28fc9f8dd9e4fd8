// reprise: which ops share a launch.
#include "Grouping.h"

#include "reprise/Conversion/Target.h"
#include "reprise/Dialect/Reprise/IR/Loops.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace reprise::exec {

static bool isLeader(Operation *op) {
  return isa<ContractionOpInterface, ConvolutionOpInterface, AttentionOpInterface,
             NormalizationOpInterface>(op);
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
  // Splats of floats have thousands of uses in a large graph.
  if (!cast<RankedTensorType>(op->getResult(0).getType()).getElementType().isInteger())
    return false;
  return llvm::any_of(op->getUses(), [](OpOperand &use) {
    auto reader = dyn_cast<IndexingOpInterface>(use.getOwner());
    return reader && reader.getPositions() == use.get();
  });
}

/// True if the function returns the value for the comparison of replays only.
static bool isExposure(OpOperand &use) {
  auto entry = use.getOwner()->getParentOfType<func::FuncOp>();
  return isa<func::ReturnOp>(use.getOwner()) &&
         entry.getResultAttr(use.getOperandNumber(), "reprise.check");
}

/// True for a pad, such as the cotangent of a slice, that elementwise ops alone read: they choose
/// between its operand and the value around it.
static bool isChoice(Operation *op) {
  return isa<PadOp>(op) && llvm::all_of(op->getUses(), [&](OpOperand &use) {
           return isExposure(use) ||
                  (isElementwise(use.getOwner()) && use.getOwner()->getBlock() == op->getBlock());
         });
}

bool isFree(Operation *op) {
  auto constant = dyn_cast<ConstantOp>(op);
  bool isSplat = constant && isa<SplatElementsAttr>(constant.getValue());
  return (isSplat || isa<ViewOpInterface, IotaOp>(op) || isChoice(op)) && !givesPositions(op);
}

/// What a value is a view of, or chosen from.
static Value rootOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<ViewOpInterface>(op) && !isChoice(op))
      return value;
    value = op->getOperand(0);
  }
  return value;
}

int partOf(Operation *op) {
  if (op->hasAttr("reprise.cotangent") || getReplayNumber(op) != 0)
    return 1;
  return op->hasAttr("reprise.primal") ? 0 : 2;
}

/// True if `op` finds what `producer` makes in memory: cotangents and replays what the forward pass
/// stored, as they find arguments, and what replays for other parts of the backward pass stored,
/// which may have run long before.
static bool findsStored(Operation *op, Operation *producer) {
  if (partOf(op) != 1)
    return false;
  int64_t other = getReplayNumber(producer);
  return partOf(producer) == 0 || (other != 0 && other != getReplayNumber(op));
}

//===-- Grouping ------------------------------------------------------------------------------===//

/// The ops that produce what `op` reads, looking through free ops.
static void collectProducers(Operation *op, SmallVectorImpl<Operation *> &producers) {
  for (Value operand : collectReads(op))
    if (Operation *producer = operand.getDefiningOp()) {
      if (isFree(producer))
        collectProducers(producer, producers);
      else
        producers.push_back(producer);
    }
}

/// The reader of the only use; none if there are more. Exposed replays do not count.
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
    if (isa<LoopOp>(op))
      return addLoop(op);
    if (partOf(op) == 2)
      placeReadersOfOldValues(op);
    SmallVector<Operation *> producers;
    collectProducers(op, producers);
    // Updates must not outwait their gradient.
    bool isReady = isElementwise(op) && llvm::all_of(producers, [&](Operation *p) {
                     return isa<ConstantOp>(p) || waiting.contains(p) || early.contains(p) ||
                            findsStored(op, p);
                   });
    // What reads such values alone waits for its reader, and is no launch and value of its own.
    Operation *reader = findOnlyReader(op);
    bool isNear = reader && reader->getBlock() == op->getBlock() &&
                  !reader->hasTrait<OpTrait::IsTerminator>() && !isa<LoopOp>(reader);
    if (isReady && isNear)
      wait(op);
    else
      place(op);
    if (isReady && !reader && partOf(op) == 2)
      early.insert(op);
  }

  /// A loop is no launch: what waits for it is placed, and nothing joins it.
  void addLoop(Operation *loop) {
    SmallVector<Operation *> ops;
    collectWaiting(loop, ops);
    for (Operation *op : ops)
      placeAlone(op);
    all.push_back({{loop}, loop->getLoc()});
    groupOf[loop] = all.size() - 1;
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
      operand = rootOf(operand);
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
      if (placeSmaller(op, ops))
        return place(op);
      for (Operation *single : ops)
        placeAlone(single);
      return;
    }
    all.push_back({{}, op->getLoc()});
    append(all.size() - 1, ops);
  }

  /// Places those of the ops that are smaller than `op`, such as factors of rows, alone; false if
  /// there are none, or if they read others of the ops.
  bool placeSmaller(Operation *op, ArrayRef<Operation *> ops) {
    auto isSmaller = [&](Operation *other) {
      return countResultElements(other) < countResultElements(op);
    };
    SmallVector<Operation *> smaller;
    for (Operation *other : ops) {
      if (!isSmaller(other))
        continue;
      SmallVector<Operation *> producers;
      collectProducers(other, producers);
      if (llvm::any_of(producers,
                       [&](Operation *p) { return waiting.contains(p) && !isSmaller(p); }))
        return false;
      smaller.push_back(other);
    }
    for (Operation *other : smaller)
      placeAlone(other);
    return !smaller.empty();
  }

  /// Without the waiting ops that it reads: they have been placed.
  void placeAlone(Operation *op) {
    waiting.remove(op);
    if (joinExisting({op}))
      return;
    all.push_back({{}, op->getLoc()});
    append(all.size() - 1, {op});
  }

  /// Tries the group of the latest producer; an update, and a reduction, since its result is small,
  /// also a later group that reads one of its operands; any op a later one that reads another slice
  /// of what it reads one of, such as the gates of one product.
  bool joinExisting(ArrayRef<Operation *> ops) {
    std::optional<size_t> latest, sibling, stored; // `stored`: nothing before it, nor itself
    for (Operation *op : ops) {
      SmallVector<Operation *> producers;
      collectProducers(op, producers);
      for (Operation *producer : producers)
        if (auto found = groupOf.find(producer); found != groupOf.end()) {
          bool isStored = getReplayNumber(op) != 0 && findsStored(op, producer);
          std::optional<size_t> &last = isStored ? stored : latest;
          last = std::max(last.value_or(0), found->second);
        }
      SmallVector<Value> siblings = collectSliced(op);
      if (partOf(op) == 2 || isa<ReductionOpInterface>(op))
        llvm::append_range(siblings, op->getOperands());
      for (Value value : siblings)
        if (auto found = lastReader.find({value, partOf(op)}); found != lastReader.end())
          sibling = std::max(sibling.value_or(0), found->second);
    }
    return (latest > stored && join(*latest, ops)) ||
           (sibling > std::max(latest, stored) && join(*sibling, ops));
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

  /// What an elementwise op reads slices of.
  static SmallVector<Value> collectSliced(Operation *op) {
    SmallVector<Value> sliced;
    for (Value operand : op->getOperands())
      if (auto slice = operand.getDefiningOp<SliceOp>(); slice && isElementwise(op))
        sliced.push_back(slice.getOperand());
    return sliced;
  }

  static bool samePart(ArrayRef<Operation *> ops) {
    return llvm::all_of(ops, [&](Operation *op) { return partOf(op) == partOf(ops.front()); });
  }

  void append(size_t number, ArrayRef<Operation *> ops) {
    for (Operation *op : ops) {
      all[number].ops.push_back(op);
      groupOf[op] = number;
      waiting.remove(op);
      for (Value operand : op->getOperands())
        lastReader[{operand, partOf(op)}] = number;
      for (Value whole : collectSliced(op))
        lastReader[{whole, partOf(op)}] = number;
    }
  }

  std::vector<Group> &all;
  DenseMap<Operation *, size_t> &groupOf;
  const Target &target;
  llvm::SetVector<Operation *> waiting;
  DenseMap<Value, SmallVector<Operation *>> waitingReaders; ///< of the passes, by arguments
  /// Placed ops of the update that several read and that read arguments alone: a corrected rate.
  llvm::SmallPtrSet<Operation *, 8> early;
  DenseMap<std::pair<Value, int>, size_t> lastReader; ///< the last group of a part that reads it
};
} // namespace

Grouping::Grouping(Block &block, const Target &target) {
  Grouper grouper(all, groupOf, target);
  for (Operation &op : block.without_terminator())
    if (isa<RepriseDialect>(op.getDialect()) && !isFree(&op) && !isa<ConstantOp>(op))
      grouper.add(&op);
  grouper.finish();
  for (Operation &op : llvm::reverse(block.without_terminator()))
    if (groupOf.contains(&op) && isElementwise(&op))
      sink(&op, target);
}

std::optional<size_t> Grouping::findReadingGroup(Operation *op) const {
  std::optional<size_t> only;
  SmallVector<Value> values(op->getResults());
  while (!values.empty())
    for (OpOperand &use : values.pop_back_val().getUses()) {
      Operation *user = use.getOwner();
      if (isExposure(use))
        continue;
      if (isFree(user)) {
        values.append(user->result_begin(), user->result_end());
        continue;
      }
      auto found = groupOf.find(user);
      if (found == groupOf.end() || (only && *only != found->second))
        return std::nullopt;
      only = found->second;
    }
  return only;
}

bool Grouping::canReadIn(Value operand, size_t group, int64_t elements) const {
  Value root = rootOf(operand);
  if (Operation *producer = root.getDefiningOp(); producer && isFree(producer))
    return true;
  auto reads = [&](Operation *op) {
    return llvm::any_of(op->getOperands(), [&](Value other) { return rootOf(other) == root; });
  };
  if (llvm::any_of(all[group].ops, reads))
    return true;
  // Other small values are there as well, unless an update may have overwritten them.
  bool isSmall = cast<ShapedType>(root.getType()).getNumElements() < elements;
  return isSmall && llvm::none_of(root.getUsers(), [&](Operation *user) {
           auto found = groupOf.find(user);
           return found != groupOf.end() && partOf(user) == 2 && found->second <= group;
         });
}

/// An op goes to the group that alone reads its result if that reads its operands, too: its result
/// need not be stored then.
void Grouping::sink(Operation *op, const Target &target) {
  std::optional<size_t> reader = findReadingGroup(op);
  size_t home = groupOf.lookup(op);
  if (!reader || *reader == home)
    return;
  int64_t elements = cast<ShapedType>(op->getResult(0).getType()).getNumElements();
  Group &to = all[*reader];
  for (Value operand : op->getOperands())
    if (!canReadIn(operand, *reader, elements))
      return;
  SmallVector<Operation *> joined{op};
  llvm::append_range(joined, to.ops);
  if (partOf(op) != partOf(to.ops.front()) || !canHold(joined, target))
    return;
  to.ops = joined;
  llvm::erase(all[home].ops, op);
  groupOf[op] = *reader;
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
