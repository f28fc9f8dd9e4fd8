// reprise: groups of ops that share a launch
#include "Grouping.h"
#include "Pulls.h"
#include "Readers.h"

#include "reprise/Dialect/Exec/IR/Exec.h"
#include "reprise/Dialect/Reprise/IR/Casts.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/Dialect/Reprise/IR/Loops.h"
#include "reprise/Dialect/Reprise/IR/PlanAttributes.h"
#include "reprise/Dialect/Reprise/IR/ReplayNumber.h"
#include "reprise/Target/Target.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace reprise::exec {

Value rootOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<ViewOpInterface>(op) && !isChoice(op))
      return value;
    value = op->getOperand(0);
  }
  return value;
}

static bool computesPositions(ArrayRef<Operation *> ops) {
  return llvm::any_of(ops, [&](Operation *op) {
    auto reader = dyn_cast<IndexingOpInterface>(op);
    return reader && llvm::is_contained(ops, reader.getPositions().getDefiningOp());
  });
}

bool canHold(ArrayRef<Operation *> ops, const Target &target) {
  if (ops.size() == 1)
    return true;
  if (llvm::any_of(ops, llvm::IsaPred<LoopOp, reprise::OffloadOp>) ||
      llvm::any_of(ops, isExplicit) || computesPositions(ops))
    return false;
  return target.canHold(ops);
}

int partOf(Operation *op) {
  if (op->hasAttr(kCotangentAttr) || isReplay(op))
    return 1;
  return op->hasAttr(kPrimalAttr) ? 0 : 2;
}

OldValues findOldValues(ProgramOp entry) {
  OldValues oldValues;
  EntrySignature signature(entry);
  for (auto [value, argument] : llvm::zip(entry.getBody().front().getTerminator()->getOperands(),
                                          signature.getReplacedArguments()))
    if (Operation *op = value.getDefiningOp(); op && argument >= 0)
      oldValues[op] = entry.getArgument(argument);
  return oldValues;
}

bool overtakesReader(const OldValues &oldValues, ArrayRef<Operation *> ops, size_t group,
                     const DenseMap<Operation *, size_t> &groupOf) {
  return llvm::any_of(ops, [&](Operation *op) {
    Value old = oldValues.lookup(op);
    return old && llvm::any_of(old.getUsers(), [&](Operation *user) {
             auto found = groupOf.find(op->getBlock()->findAncestorOpInBlock(*user));
             return found != groupOf.end() && found->second > group;
           });
  });
}

bool isOrdered(ArrayRef<Group> groups, const DenseMap<Operation *, size_t> &groupOf) {
  for (auto [number, group] : llvm::enumerate(groups))
    for (Operation *op : group.ops) {
      SmallVector<Operation *> producers;
      collectProducers(op, producers);
      for (Operation *producer : producers)
        if (auto found = groupOf.find(producer); found != groupOf.end() && found->second > number)
          return false;
    }
  return true;
}

Grouping::Grouping(Block &block, const Target &target) {
  groupOps(block, target, all, groupOf);
  for (Operation &op : llvm::reverse(block.without_terminator()))
    if (groupOf.contains(&op) && isElementwise(&op) && !isGather(&op))
      sink(&op, target);
}

std::optional<size_t> Grouping::findReadingGroup(Operation *op) const {
  std::optional<size_t> only;
  for (Operation *reader : findReaders(op)) {
    auto found = groupOf.find(reader);
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
  // Other small values cost no load either, unless an update may have overwritten them.
  bool isSmall = cast<ShapedType>(root.getType()).getNumElements() < elements;
  return isSmall && !mayBeOverwritten(root, group);
}

static bool isReadFromRegisters(Operation *op) {
  return llvm::all_of(findReaders(op), takesFromRegisters);
}

/// Returns whether the planner assumes that the kernel of its readers computes the op again
/// (Footprint.h), whatever it loads: a replay that its readers take from registers.
bool Grouping::isMadeInReader(Operation *op, size_t reader) const {
  auto function = dyn_cast<ProgramOp>(op->getParentOp());
  if (!isReplay(op) || !function || !function->hasAttr(kKeepsLaunchesAttr))
    return false;
  return isReadFromRegisters(op) && llvm::none_of(op->getOperands(), [&](Value operand) {
           Value root = rootOf(operand);
           return isa<BlockArgument>(root) && mayBeOverwritten(root, reader);
         });
}

/// Returns whether the group loads fewer bytes if it computes this conversion itself.
bool Grouping::readsNarrower(Operation *op, size_t group) const {
  auto cast = dyn_cast<CastOp>(op);
  if (!cast || !widens(cast) || !isReadFromRegisters(op))
    return false;
  Value root = rootOf(cast.getOperand());
  if (isa<BlockArgument>(root))
    return !mayBeOverwritten(root, group);
  auto found = groupOf.find(root.getDefiningOp());
  return found != groupOf.end() && found->second < group;
}

/// Returns whether an update of an argument comes before the end of the group.
bool Grouping::mayBeOverwritten(Value root, size_t group) const {
  return llvm::any_of(root.getUsers(), [&](Operation *user) {
    auto found = groupOf.find(user);
    return found != groupOf.end() && partOf(user) == 2 && found->second <= group;
  });
}

/// Moves an op to the only group that reads its result if that group also reads the op's operands,
/// so that the result need not be stored.
void Grouping::sink(Operation *op, const Target &target) {
  std::optional<size_t> reader = findReadingGroup(op);
  size_t home = groupOf.lookup(op);
  if (!reader || *reader == home)
    return;
  int64_t elements = cast<ShapedType>(op->getResult(0).getType()).getNumElements();
  Group &to = all[*reader];
  auto isRead = [&](Value operand) { return canReadIn(operand, *reader, elements); };
  bool isCounted = isMadeInReader(op, *reader);
  bool isNarrower = readsNarrower(op, *reader);
  if (!isCounted && !isNarrower && !llvm::all_of(op->getOperands(), isRead))
    return;
  // A contraction leads its group, and the moved op is not one of its operands.
  bool isLed = isa<ContractionOpInterface, ConvolutionOpInterface>(to.ops.front());
  SmallVector<Operation *> joined(to.ops);
  joined.insert(joined.begin() + ((isCounted || isNarrower) && isLed), op);
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
