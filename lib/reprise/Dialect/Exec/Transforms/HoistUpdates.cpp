// reprise: moves updates of parameters and state up, so that gradients and old values are freed
// early.
#include "Grouping.h"

#include "reprise/Dialect/Exec/IR/Exec.h"
#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/Dialect/Reprise/IR/Loops.h"
#include "reprise/Dialect/Reprise/IR/PlanAttributes.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace reprise::exec {

namespace {
/// Finder of the earliest position of each update op.
class UpdateHoister {
public:
  explicit UpdateHoister(Block &block)
      : block(block), oldValue(findOldValues(cast<ProgramOp>(block.getParentOp()))) {
    for (Operation &op : block)
      numbered.push_back(&op);
    for (auto [i, op] : llvm::enumerate(numbered))
      number[op] = place[op] = i;
  }

  void run() {
    llvm::MapVector<Operation *, SmallVector<Operation *>> movesBehind;
    SmallVector<Operation *> first;
    for (Operation *op : ArrayRef(numbered).drop_back()) {
      if (partOf(op) != 2 || isa<ConstantOp>(op) || isExplicit(op))
        continue;
      SmallVector<Operation *> ops;
      collectWaiting(op, ops);
      ops.push_back(op);
      if (!isAnchored(ops)) {
        (op->hasOneUse() ? waiting : early).insert(op);
        if (op->hasOneUse())
          continue;
      }
      int64_t anchor = earliestPlace(ops);
      if (llvm::SmallPtrSet<Operation *, 8> seen; !mayWait(op, anchor, seen))
        continue;
      // The op stays in its place from now on, even if its only reader could move it along.
      if (anchor >= 0)
        waiting.erase(numbered[anchor]);
      for (Operation *moved : ops) {
        waiting.erase(moved);
        place[moved] = anchor;
        (anchor < 0 ? first : movesBehind[numbered[anchor]]).push_back(moved);
      }
    }
    for (Operation *op : llvm::reverse(first))
      op->moveBefore(&block, block.begin());
    for (auto &[anchor, ops] : movesBehind)
      for (Operation *op : llvm::reverse(ops))
        op->moveAfter(anchor);
  }

private:
  /// Collects ops that read only arguments and constants; they can stand anywhere and move with
  /// their reader.
  void collectWaiting(Operation *op, SmallVectorImpl<Operation *> &ops) const {
    for (Operation *producer : producersOf(op))
      if (waiting.contains(producer) && !llvm::is_contained(ops, producer)) {
        collectWaiting(producer, ops);
        ops.push_back(producer);
      }
  }

  static SmallVector<Operation *> producersOf(Operation *op) {
    SmallVector<Operation *> producers;
    for (Value operand : collectReads(op))
      if (Operation *producer = operand.getDefiningOp())
        producers.push_back(producer);
    return producers;
  }

  bool isAnchored(ArrayRef<Operation *> ops) const {
    for (Operation *op : ops)
      for (Operation *producer : producersOf(op))
        if (!isa<ConstantOp>(producer) && !early.contains(producer) &&
            !llvm::is_contained(ops, producer))
          return true;
    return false;
  }

  /// The number of the last op that must come before: producers, and other readers of the values
  /// that the ops replace.
  int64_t earliestPlace(ArrayRef<Operation *> ops) {
    int64_t last = -1;
    auto wait = [&](Operation *other) {
      if (!llvm::is_contained(ops, other))
        last = std::max(last, isExplicit(other) ? findEnd(other) : place.lookup(other));
    };
    for (Operation *op : ops) {
      llvm::for_each(producersOf(op), wait);
      if (Value old = oldValue.lookup(op))
        for (Operation *user : old.getUsers())
          if (Operation *reader = block.findAncestorOpInBlock(*user);
              number.lookup(reader) < number.lookup(op))
            wait(reader);
    }
    return last;
  }

  /// Returns whether the op may stand behind `anchor`, which may follow the op if a transfer still
  /// reads the old value. Readers in between must be updates, which move along.
  bool mayWait(Operation *op, int64_t anchor, llvm::SmallPtrSetImpl<Operation *> &seen) const {
    return llvm::all_of(op->getUsers(), [&](Operation *user) {
      Operation *reader = block.findAncestorOpInBlock(*user);
      if (number.lookup(reader) > anchor || !seen.insert(reader).second)
        return true;
      return partOf(reader) == 2 && !isExplicit(reader) && mayWait(reader, anchor, seen);
    });
  }

  /// Returns the position of the last wait for a transfer, or for the results of a library call.
  /// These commands are not moved.
  int64_t findEnd(Operation *command) const {
    int64_t end = number.lookup(command);
    for (Operation *at = command->getNextNode(); at; at = at->getNextNode())
      if (isa<WaitOp>(at) && (isa<CallOp>(command) || llvm::is_contained(command->getUsers(), at)))
        end = number.lookup(at);
    return end;
  }

  Block &block;
  std::vector<Operation *> numbered;
  /// Number of an op, and the number of the op behind which it will stand: its own if it stays, -1
  /// for the start.
  DenseMap<Operation *, int64_t> number, place;
  /// The argument whose next value an op computes.
  OldValues oldValue;
  /// Ops that depend on nothing but arguments and constants, with one reader and with more.
  llvm::SmallPtrSet<Operation *, 16> waiting, early;
};
} // namespace

/// Moves constants to the begin of the block. Programs of stages have each constant in front of its
/// first reader, where it would hold updates back.
static void moveConstantsUp(Block &block) {
  SmallVector<ConstantOp> constants(block.getOps<ConstantOp>());
  for (ConstantOp constant : llvm::reverse(constants))
    constant->moveBefore(&block, block.begin());
}

void hoistUpdates(Block &block) {
  // A block without a derivative has no updates.
  if (llvm::none_of(block, [](Operation &op) { return op.hasAttr(kCotangentAttr); }))
    return;
  moveConstantsUp(block);
  UpdateHoister(block).run();
}

} // namespace reprise::exec
