// reprise: gives values that share memory one label
#include "MemoryLabels.h"

#include "Plan.h"
#include "reprise/Dialect/Reprise/IR/Naming.h"

using namespace mlir;
using namespace reprise;

MemoryLabels::MemoryLabels(const UnitTree &tree, LabelTable &table, bool unroll)
    : tree(tree), table(table), unroll(unroll) {
  for (const FlatOp &entry : tree.ops)
    add(entry);
}

/// Returns the memory of a value; none for views of arguments and constants, which are in memory in
/// any case.
std::optional<MemoryLabels::Home> MemoryLabels::findHome(OpResult shown) {
  if (auto home = homes.find(shown); home != homes.end())
    return home->second;
  Operation *op = shown.getOwner();
  if (isa<ViewOpInterface>(op) || !table.contains(op))
    return std::nullopt;
  memories.push_back({{shown, checkpoints.lookup_or(op, -1)}});
  return homes[shown] = {memories.size() - 1};
}

/// Returns true if the op is in a loop whose gradient, if any, is that of the whole loop.
static bool isInLoop(Operation *op) {
  Operation *around = op->getParentOp();
  while (around && !isa<LoopOp, ValueAndGradOp>(around))
    around = around->getParentOp();
  return isa_and_present<LoopOp>(around);
}

void MemoryLabels::add(const FlatOp &entry) {
  checkpoints[entry.op] = entry.checkpoint;
  if (entry.op->getNumResults() != 1)
    return;
  OpResult view = entry.op->getResult(0);
  auto shown = dyn_cast_or_null<OpResult>(getViewed(view));
  if (!shown)
    return;
  if (isa<LoopOp>(shown.getOwner()) || ofLoops.contains(shown))
    ofLoops.insert(view);
  std::optional<Home> home = findHome(shown);
  if (!home)
    return;
  bool isRepeated = home->repeats || repeats(entry.op);
  homes[view] = {home->memory, isRepeated};
  bool isCopied = !unroll && isInLoop(entry.op);
  memories[home->memory].push_back({view, entry.checkpoint, isRepeated, isCopied});
}

/// A loop has no label, so that its results are kept.
LogicalResult MemoryLabels::checkLoops() const {
  for (Value view : ofLoops)
    for (const ChosenLabels &labels : table.find(view.getDefiningOp())->second)
      if (labels.ofOp && labels.ofOp->label == Label::must_recompute)
        return view.getDefiningOp()->emitError("cannot honour 'must_recompute' from ")
               << labels.ofOp->rule.getValue()
               << ": the value is a view of what a loop makes; label an op of the loop";
  return success();
}

LogicalResult MemoryLabels::join() {
  for (const Memory &memory : memories) {
    unsigned iterations = table.find(memory.front().value.getOwner())->second.size();
    for (unsigned i = 0; i < iterations; ++i)
      if (failed(join(memory, i)))
        return failure();
  }
  return checkLoops();
}

LogicalResult MemoryLabels::refuse(const Member &later, const Member &first,
                                   unsigned iteration) const {
  auto describe = [&](const Member &member) {
    const LabelSource &own = *get(member, iteration);
    return ("'" + stringifyLabel(own.label) + "' from " + own.rule.getValue()).str();
  };
  Operation *op = later.value.getOwner(), *other = first.value.getOwner();
  InFlightDiagnostic diagnostic = op->emitError("contradictory labels for one memory: ")
                                  << describe(later) << " on " << op->getName() << ", and "
                                  << describe(first) << " on " << describeOp(other);
  diagnostic.attachNote(other->getLoc())
      << "the memory is the same: a view has no memory of its own";
  return diagnostic;
}

/// The first MUST that is the memory's; null without one.
FailureOr<const MemoryLabels::Member *> MemoryLabels::findMust(const Memory &memory,
                                                               unsigned iteration) const {
  const Member *must = nullptr;
  for (const Member &member : memory) {
    const std::optional<LabelSource> &own = get(member, iteration);
    if (!own || !isMust(own->label) || isApart(member, *own))
      continue;
    if (must && get(*must, iteration)->label != own->label)
      return refuse(member, *must, iteration);
    must = must ? must : &member;
  }
  // If a broadcast is kept, its operand is kept.
  for (const Member &member : memory)
    if (const std::optional<LabelSource> &own = get(member, iteration);
        must && member.repeats && !member.copied && own && own->label == Label::must_save &&
        get(*must, iteration)->label != Label::must_save)
      return refuse(member, *must, iteration);
  return must;
}

MemoryLabels::Wishes MemoryLabels::collectWishes(const Memory &memory, unsigned iteration) const {
  Wishes wishes;
  for (const Member &member : memory) {
    const std::optional<LabelSource> &own = get(member, iteration);
    if (!own || isApart(member, *own))
      continue;
    if (own->origin == LabelOrigin::Checkpoint)
      wishes.within.try_emplace(member.checkpoint, *own);
    else if (!wishes.anywhere || own->origin < wishes.anywhere->origin)
      wishes.anywhere = own;
  }
  return wishes;
}

/// Returns the PREFER of the memory for one value that shows it. Labels of checkpoints apply only
/// to values inside the checkpoint.
std::optional<LabelSource> MemoryLabels::choose(const Wishes &wishes, const Member &member,
                                                unsigned iteration) const {
  std::optional<LabelSource> chosen = wishes.anywhere;
  if (!chosen || chosen->origin > LabelOrigin::Checkpoint)
    for (int at = member.checkpoint; at >= 0; at = tree.checkpoints[at].parent)
      if (auto found = wishes.within.find(at); found != wishes.within.end()) {
        chosen = found->second;
        break;
      }
  const std::optional<LabelSource> &own = get(member, iteration);
  bool isOwn = own && chosen && isApart(member, *own) && own->origin < chosen->origin;
  return isOwn ? own : chosen;
}

/// Gives a view a label. It need not follow a label that asks to save: if its memory is kept, the
/// view can be recreated without cost.
void MemoryLabels::take(const Member &member, unsigned iteration, const LabelSource &label) {
  ChosenLabels &labels = table[member.value.getOwner()][iteration];
  unsigned result = member.value.getResultNumber();
  const std::optional<LabelSource> &own = labels.of(result);
  bool isMemory = !isa<ViewOpInterface>(member.value.getOwner());
  bool asksToMove = own && !asksToSave(own->label) && !asksToRecompute(own->label);
  bool isCopy = member.copied && own && own->label == Label::must_save;
  if (isCopy || (!isMemory && asksToSave(label.label) && !asksToMove))
    return;
  (labels.ofResults.empty() ? labels.ofOp : labels.ofResults[result]) = label;
}

LogicalResult MemoryLabels::join(const Memory &memory, unsigned iteration) {
  FailureOr<const Member *> must = findMust(memory, iteration);
  if (failed(must))
    return failure();
  if (*must) {
    LabelSource label = *get(**must, iteration);
    for (const Member &member : memory)
      take(member, iteration, label);
    return success();
  }
  Wishes wishes = collectWishes(memory, iteration);
  for (const Member &member : memory)
    if (std::optional<LabelSource> label = choose(wishes, member, iteration))
      take(member, iteration, *label);
  return success();
}

Operation *MemoryLabels::findMover(OpResult value, unsigned iteration) const {
  auto home = homes.find(value);
  if (home == homes.end())
    return value.getOwner();
  const Member &memory = memories[home->second.memory].front();
  const std::optional<LabelSource> &label = get(memory, iteration);
  bool moves = label && !asksToSave(label->label) && !asksToRecompute(label->label);
  return moves ? memory.value.getOwner() : value.getOwner();
}
