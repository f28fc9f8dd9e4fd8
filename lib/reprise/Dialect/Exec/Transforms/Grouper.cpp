// reprise: formation of groups of ops, one op after the other
#include "Grouping.h"
#include "Pulls.h"
#include "Readers.h"

#include "reprise/Dialect/Exec/IR/Exec.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/Loops.h"
#include "reprise/Dialect/Reprise/IR/ReplayNumber.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace reprise::exec {

static bool isLeader(Operation *op) {
  return isa<ContractionOpInterface, ConvolutionOpInterface, AttentionOpInterface,
             NormalizationOpInterface>(op);
}

namespace {
/// Puts ops into groups, one by one in program order.
class Grouper {
public:
  /// `oldValues` has the argument that each op overwrites.
  Grouper(std::vector<Group> &all, DenseMap<Operation *, size_t> &groupOf, const Target &target,
          const OldValues &oldValues, bool keepsLaunches)
      : all(all), groupOf(groupOf), target(target), oldValues(oldValues),
        keepsLaunches(keepsLaunches) {}

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
                            findsStored(op, p) || isStoredNumber(op, p);
                   });
    // An op that only reads such values waits for its reader, so that no launch stores its result.
    // A cotangent waits for the first of several readers, since its operands are stored anyway.
    bool isOfOriginals =
        partOf(op) == 1 && !isReplay(op) && (keepsLaunches || llvm::none_of(producers, isReplay));
    if (isReady && isNearReaders(op, isOfOriginals))
      wait(op);
    else
      place(op);
    if (isReady && partOf(op) == 2 && !op->hasOneUse())
      early.insert(op);
  }

  /// Handles a loop, which is no launch: waiting ops that it reads are placed, and no op joins it.
  void addLoop(Operation *loop) {
    SmallVector<Operation *> ops;
    collectWaiting(loop, ops);
    for (Operation *op : ops)
      placeAlone(op);
    all.push_back({{loop}, loop->getLoc()});
    groupOf[loop] = all.size() - 1;
  }

  void finish() {
    for (Operation *op : inOrder)
      if (waiting.contains(op))
        placeAlone(op);
    if (keepsLaunches || !movable.empty())
      orderGroups();
  }

private:
  /// Collects waiting ops that `op` reads, each after its own operands.
  void collectWaiting(Operation *op, SmallVectorImpl<Operation *> &ops) const {
    collectProducersIf(op, [&](Operation *producer) { return waiting.contains(producer); }, ops);
  }

  /// Returns true for a number that a launch in front of the last transfer has computed. A product
  /// of the number and a parameter waits for its reader, as products of arguments do.
  bool isStoredNumber(Operation *op, Operation *producer) const {
    bool isInSegment = groupOf.contains(producer) || waiting.contains(producer);
    return partOf(op) == 2 && partOf(producer) == 2 && !isInSegment &&
           countResultElements(producer) == 1 && countResultElements(op) > 1;
  }

  /// Places readers of an old value before its update. If they waited longer, the update could not
  /// overwrite the value.
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
    inOrder.push_back(op);
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
    if (placeTogether(ops))
      return;
    // Operands of an op that reads memory are stored, so they get their own launch.
    bool isPlaced = !takesFromRegisters(op) && placeTogether(ArrayRef(ops).drop_back());
    if (!isPlaced && placeSmaller(op, ops))
      return place(op);
    for (Operation *single : ops)
      if (!groupOf.contains(single))
        placeAlone(single);
  }

  /// Places all ops in one group, or leaves all of them unplaced.
  bool placeTogether(ArrayRef<Operation *> ops) {
    if (joinExisting(ops))
      return true;
    if (ops.size() > 1 && !(samePart(ops) && canHold(ops, target)))
      return false;
    all.push_back({{}, ops.back()->getLoc()});
    append(all.size() - 1, ops);
    return true;
  }

  /// Places the ops smaller than `op`, such as factors of rows, in separate groups. Returns false
  /// if there are none, or if they read others of the ops.
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
    size_t count = all.size();
    if (smaller.empty() || !placeTogether(smaller))
      llvm::for_each(smaller, [&](Operation *other) { placeAlone(other); });
    auto isMovable = [&](Operation *other) { return readsStoredAlone(other); };
    for (; count < all.size(); ++count) {
      movable.insert(count);
      if (!llvm::all_of(all[count].ops, isMovable))
        movable.erase(count);
    }
    return !smaller.empty();
  }

  /// Returns whether the op may run at the beginning of its part: a cotangent of forward values.
  bool readsStoredAlone(Operation *op) const {
    SmallVector<Operation *> producers;
    collectProducers(op, producers);
    return partOf(op) == 1 && llvm::all_of(producers, [&](Operation *producer) {
             // If original launches are kept, replays count as stored like the originals.
             bool isStored =
                 partOf(producer) == 0 || (keepsLaunches && isReplay(producer) && !isReplay(op));
             return isa<ConstantOp>(producer) || isStored || isInMovable(producer);
           });
  }
  bool mayJoin(size_t number, ArrayRef<Operation *> ops) const {
    return !movable.contains(number) ||
           llvm::all_of(ops, [&](Operation *op) { return readsStoredAlone(op); });
  }
  bool isInMovable(Operation *op) const {
    auto found = groupOf.find(op);
    return found != groupOf.end() && movable.contains(found->second);
  }

  /// Places the op without the waiting ops that it reads, which are already placed.
  void placeAlone(Operation *op) {
    waiting.erase(op);
    if (joinExisting({op}))
      return;
    all.push_back({{}, op->getLoc()});
    append(all.size() - 1, {op});
  }

  /// Joins the group of the latest producer if possible. An update, and a reduction, because its
  /// result is small, may also join a later group that reads one of its operands. Any op may join a
  /// later group that reads another slice of the same value, such as the gates of one product.
  bool joinExisting(ArrayRef<Operation *> ops) {
    // `stored`: neither this group nor an earlier one.
    std::optional<size_t> latest, sibling, stored;
    for (Operation *op : ops) {
      SmallVector<Operation *> producers;
      collectProducers(op, producers);
      for (Operation *producer : producers)
        if (auto found = groupOf.find(producer); found != groupOf.end()) {
          // Replays that an original reads run before the original's group in any case.
          if (keepsLaunches && !isReplay(ops.back()) && isReplay(producer))
            continue;
          // Movable groups run early too, unless the ops may be part of them. A forward op that
          // reads a replay may be in the group whose values the movable group reads.
          if (!mayJoin(found->second, ops) && partOf(ops.back()) != 0)
            continue;
          bool isStored = isReplay(op) && findsStored(op, producer);
          std::optional<size_t> &last = isStored ? stored : latest;
          last = std::max(last.value_or(0), found->second);
        }
      SmallVector<Value> siblings = collectSliced(op);
      if (partOf(op) == 2 || isa<ReductionOpInterface>(op))
        llvm::append_range(siblings, op->getOperands());
      for (Value value : siblings)
        if (auto found = lastReader.find({value, sideOf(op)}); found != lastReader.end())
          sibling = std::max(sibling.value_or(0), found->second);
    }
    return (latest > stored && join(*latest, ops)) ||
           (sibling > std::max(latest, stored) && join(*sibling, ops));
  }

  bool join(size_t number, ArrayRef<Operation *> ops) {
    SmallVector<Operation *> joined = all[number].ops;
    llvm::append_range(joined, ops);
    if (!samePart(joined) || !mayJoin(number, ops) ||
        overtakesReader(oldValues, ops, number, groupOf) || !canHold(joined, target) ||
        storesWide(number, ops))
      return false;
    if (isLeader(ops.back()) && !llvm::any_of(all[number].ops, isLeader))
      all[number].location = ops.back()->getLoc();
    append(number, ops);
    return true;
  }

  /// Returns whether joining would make a 16-bit contraction store wide values that are reduced.
  bool storesWide(size_t number, ArrayRef<Operation *> ops) const {
    Operation *leader = all[number].ops.front();
    if (!isa<ContractionOpInterface, ConvolutionOpInterface>(leader))
      return false;
    return llvm::any_of(ops, [&](Operation *op) {
      // An op with several readers has waited only for the first reader.
      bool isShared = op != ops.back() && findReaders(op).size() > 1;
      return isReducedWide(op, isShared ? 0 : countBits(leader));
    });
  }

  /// Returns the side of an op. Reading the same value puts only ops of one side into a group.
  int64_t sideOf(Operation *op) const {
    int64_t number = keepsLaunches ? getReplayNumber(op) : 0;
    return number == 0 ? partOf(op) : 2 + number;
  }

  static bool samePart(ArrayRef<Operation *> ops) {
    int part = partOf(ops.front());
    return llvm::all_of(ops, [&](Operation *op) { return partOf(op) == part; });
  }

  /// Moves groups of replays, and movable groups, before the first group that reads them, which may
  /// be older.
  void orderGroups() {
    std::vector<size_t> order, stack;
    std::vector<bool> isOpen(all.size()), isDone(all.size());
    for (size_t number = 0; number < all.size(); ++number) {
      stack.assign(1, number);
      while (!stack.empty()) {
        size_t top = stack.back();
        bool isNew = !isOpen[top];
        isOpen[top] = true;
        if (isNew)
          collectUnordered(all[top], isOpen, stack);
        if (stack.back() != top)
          continue;
        stack.pop_back();
        if (!isDone[top])
          order.push_back(top);
        isDone[top] = true;
      }
    }
    std::vector<Group> ordered;
    for (size_t number : order) {
      for (Operation *op : all[number].ops)
        groupOf[op] = ordered.size();
      ordered.push_back(std::move(all[number]));
    }
    all = std::move(ordered);
  }

  void collectUnordered(const Group &group, const std::vector<bool> &isOpen,
                        std::vector<size_t> &numbers) const {
    for (Operation *op : group.ops) {
      SmallVector<Operation *> producers;
      collectProducers(op, producers);
      for (Operation *producer : producers)
        if (auto found = groupOf.find(producer); found != groupOf.end() && !isOpen[found->second])
          numbers.push_back(found->second);
    }
  }

  void append(size_t number, ArrayRef<Operation *> ops) {
    for (Operation *op : ops) {
      all[number].ops.push_back(op);
      groupOf[op] = number;
      waiting.erase(op);
      for (Value operand : op->getOperands())
        lastReader[{operand, sideOf(op)}] = number;
      for (Value whole : collectSliced(op))
        lastReader[{whole, sideOf(op)}] = number;
    }
  }

  std::vector<Group> &all;
  DenseMap<Operation *, size_t> &groupOf;
  const Target &target;
  const OldValues &oldValues;
  bool keepsLaunches;
  DenseSet<Operation *> waiting;
  std::vector<Operation *> inOrder; ///< all ops that have waited
  /// Waiting ops by the arguments that they read.
  DenseMap<Value, SmallVector<Operation *>> waitingReaders;
  /// Placed ops of the update with several readers that read only arguments: a corrected rate.
  llvm::SmallPtrSet<Operation *, 8> early;
  /// Groups of cotangents that read only forward values and cannot join their readers' groups:
  /// factors of rows. They run before their readers, in any order of formation.
  llvm::DenseSet<size_t> movable;
  DenseMap<std::pair<Value, int64_t>, size_t>
      lastReader; ///< last group of a side that reads the value
};
} // namespace

/// Groups the ops up to the first command or gather, or up to `end`. Ops in front of a command run
/// before it. Returns where they end.
static Block::iterator groupSegment(Block::iterator op, Block::iterator end, const Target &target,
                                    const OldValues &oldValues, bool keepsLaunches,
                                    std::vector<Group> &groups,
                                    DenseMap<Operation *, size_t> &groupOf) {
  std::vector<Group> own;
  DenseMap<Operation *, size_t> ownOf;
  Grouper grouper(own, ownOf, target, oldValues, keepsLaunches);
  for (; op != end && !isExplicit(&*op) && !isGather(&*op); ++op)
    if (isa<RepriseDialect>(op->getDialect()) && !isFree(&*op) && !isa<ConstantOp>(*op))
      grouper.add(&*op);
  grouper.finish();
  for (auto [each, number] : ownOf)
    groupOf[each] = groups.size() + number;
  llvm::move(own, std::back_inserter(groups));
  return op;
}

/// Adds the group of a command, or of a gather with its pulls.
static void addAlone(Operation *op, std::vector<Group> &groups,
                     DenseMap<Operation *, size_t> &groupOf) {
  Group group{{}, op->getLoc()};
  if (isGather(op))
    group.ops = findPulls(op);
  group.ops.push_back(op);
  for (Operation *each : group.ops)
    groupOf[each] = groups.size();
  groups.push_back(std::move(group));
}

void groupOps(Block &block, const Target &target, std::vector<Group> &groups,
              DenseMap<Operation *, size_t> &groupOf) {
  auto function = block.getParent()->getParentOfType<ProgramOp>();
  bool keepsLaunches = function && function->hasAttr(kKeepsLaunchesAttr);
  bool isEntry = function && &function.getBody().front() == &block;
  OldValues oldValues = isEntry ? findOldValues(function) : OldValues();
  // Where a replay reads what its reader's group makes, originals cannot keep their groups.
  for (bool keeps : {keepsLaunches, false}) {
    groups.clear();
    groupOf.clear();
    for (auto op = block.begin(), end = std::prev(block.end()); op != end;) {
      op = groupSegment(op, end, target, oldValues, keeps, groups, groupOf);
      if (op == end)
        break;
      if (!isPulledInPlace(&*op))
        addAlone(&*op, groups, groupOf);
      ++op;
    }
    if (!keeps || isOrdered(groups, groupOf))
      return;
  }
}

} // namespace reprise::exec
