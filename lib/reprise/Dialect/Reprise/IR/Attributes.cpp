// reprise: the attributes of the dialect that ops, arguments and results carry between passes
#include "ArgumentAttributes.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/Dialect/Reprise/IR/Groups.h"
#include "reprise/Dialect/Reprise/IR/Loops.h"
#include "reprise/Dialect/Reprise/IR/PlanAttributes.h"
#include "reprise/Dialect/Reprise/IR/Shardings.h"
#include "reprise/Dialect/Reprise/IR/Transfers.h"

#include "mlir/Dialect/Shard/IR/ShardOps.h"

using namespace mlir;

namespace reprise {

//===-- Values --------------------------------------------------------------------------------===//

/// Plans of loops' bodies add results to loops and take results away, so that the lists of a loop
/// may be shorter or longer than its results.
static bool hasEntryPerResult(const AttributePlace &place, ArrayAttr list) {
  return list.size() == place.op->getNumResults() || isa<LoopOp>(place.op);
}

/// Returns whether `value` is a list for the results of an op, whose entries have one of the types.
template <class... Types> static bool isPerResult(const AttributePlace &place, Attribute value) {
  auto list = dyn_cast<ArrayAttr>(value);
  return list && hasEntryPerResult(place, list) && llvm::all_of(list, llvm::IsaPred<Types...>);
}

static bool isLabel(const AttributePlace &, Attribute value) { return isa<LabelAttr>(value); }

static bool isPath(const AttributePlace &, Attribute value) {
  return isNumbers(value, kMostOfCount);
}

static bool isPlan(const AttributePlace &, Attribute value) { return isa<PlanAttr>(value); }

static bool isFilledText(const AttributePlace &, Attribute value) {
  auto text = dyn_cast<StringAttr>(value);
  return text && !text.empty();
}

/// Returns whether `value` has only the labels and rules of one iteration.
static bool isIteration(const AttributePlace &place, Attribute value) {
  auto labels = dyn_cast<DictionaryAttr>(value);
  return labels && llvm::all_of(labels, [&](NamedAttribute each) {
           StringRef name = each.getName();
           bool isKnown = llvm::is_contained(
               {kLabelAttr, kRuleAttr, kResultLabelsAttr, kResultRulesAttr}, name);
           const AttributeRow *row = isKnown ? findAttribute(getAttributeTable(), name) : nullptr;
           return row && row->value.contains(place, each.getValue());
         });
}

static bool isIterations(const AttributePlace &place, Attribute value) {
  auto list = dyn_cast<ArrayAttr>(value);
  bool isInLoop = list && place.op->getParentOfType<LoopOp>();
  return list && !list.empty() &&
         (!isInLoop || static_cast<int64_t>(list.size()) >= countExecutions(place.op)) &&
         llvm::all_of(list, [&](Attribute each) { return isIteration(place, each); });
}

/// Finds the trip count of the outermost loop around the op, or of the op itself; 0 without a loop.
static int64_t findOutermostTrip(Operation *op) {
  int64_t trip = 0;
  for (auto loop = isa<LoopOp>(op) ? cast<LoopOp>(op) : op->getParentOfType<LoopOp>(); loop;
       loop = loop->getParentOfType<LoopOp>())
    trip = loop.getTripAttr() ? static_cast<int64_t>(loop.getTrip()) : 0;
  return trip;
}

/// A loop over samples that micro-batches have cut keeps the entries of all its iterations, so that
/// the list may be longer than needed.
static bool isStage(const AttributePlace &place, Attribute value) {
  if (isNumber(value, kMostOfIndex))
    return true;
  if (!isNumbers(value, kMostOfIndex))
    return false;
  int64_t trip = findOutermostTrip(place.op), size = cast<DenseI64ArrayAttr>(value).size();
  return size > 0 && size >= trip;
}

static bool isShardings(const AttributePlace &place, Attribute value) {
  auto list = dyn_cast<ArrayAttr>(value);
  return list && list.size() == place.op->getNumResults() &&
         llvm::all_of_zip(place.op->getResultTypes(), list, isShardingOf);
}

static bool isAxis(const AttributePlace &, Attribute value) {
  return value == StringAttr::get(value.getContext(), kModelAxis);
}

/// Returns whether `value` names each axis of a grid: some of data, stage and model, in this order.
static bool isAxes(const AttributePlace &place, Attribute value) {
  auto list = dyn_cast<ArrayAttr>(value);
  auto grid = cast<shard::GridOp>(place.op);
  if (!list || static_cast<int64_t>(list.size()) != grid.getRank())
    return false;
  static constexpr StringRef axes[] = {kDataAxis, kStageAxis, kModelAxis};
  ArrayRef<StringRef> rest = axes;
  for (Attribute each : list) {
    auto name = dyn_cast<StringAttr>(each);
    const StringRef *found = name ? llvm::find(rest, name.getValue()) : rest.end();
    if (found == rest.end())
      return false;
    rest = rest.drop_front(found - rest.begin() + 1);
  }
  return true;
}

static bool isPurpose(const AttributePlace &, Attribute value) {
  return TransferPurpose::isValid(value);
}

static constexpr ValueKind kLabel{"a #reprise.label attribute", isLabel};
static constexpr ValueKind kLabels{"a #reprise.label or a unit attribute per result",
                                   isPerResult<LabelAttr, UnitAttr>};
static constexpr ValueKind kTexts{"a string per result", isPerResult<StringAttr>};
static constexpr ValueKind kPath{"an array of i64 from 0 to 2^62 - 1", isPath};
static constexpr ValueKind kIterations{
    "dictionaries of labels and rules, one for each iteration of the loops around the op",
    isIterations};
static constexpr ValueKind kStages{"an i64 from 0 to 2^20 - 1, or in a loop an array with an entry "
                                   "for each iteration of the outermost loop",
                                   isStage};
static constexpr ValueKind kChoices{"a #reprise.choice per result", isPerResult<PlanChoiceAttr>};
static constexpr ValueKind kDecisions{"a #reprise.decision per result",
                                      isPerResult<PlanDecisionAttr>};
static constexpr ValueKind kReasons{"a #reprise.reason or the name of a rule per result",
                                    isPerResult<PlanReasonAttr, StringAttr>};
static constexpr ValueKind kPlan{"a #reprise.plan attribute", isPlan};
static constexpr ValueKind kShardings{"a sharding per result", isShardings};
static constexpr ValueKind kPurpose{
    "a dictionary of a kind, a value and, if there are any, a dimension and a part of the step",
    isPurpose};
static constexpr ValueKind kAxis{"\"model\"", isAxis};
static constexpr ValueKind kAxes{
    "a name for each axis of the grid, some of \"data\", \"stage\" and \"model\" in this order",
    isAxes};
static constexpr ValueKind kFunctionName{"the name of a function", isFilledText};

//===-- Places --------------------------------------------------------------------------------===//

template <class Op> static bool isOp(const AttributePlace &place) {
  return place.kind == AttributePlace::Op && isa<Op>(place.op);
}

static constexpr PlaceKind kOnCast{"a cast", isOp<CastOp>};
static constexpr PlaceKind kOnReshape{"a reshape", isOp<ReshapeOp>};
static constexpr PlaceKind kOnGrid{"a shard.grid", isOp<shard::GridOp>};

//===-- The table -----------------------------------------------------------------------------===//

/// The frequent attributes come first, since the verifier searches from the top.
static constexpr AttributeRow kTable[] = {
    {kBlockAttr, kOnOp, kPath, "label", "checkpoint",
     "Ids of the units around the op that are replayed together, outermost first."},
    {kOrderAttr, kOnOp, kCount, "autodiff", "checkpoint",
     "Derivative order: bit i is set if expansion i of a gradient made the op."},
    {kPrimalAttr, kOnOp, kMark, "autodiff", "checkpoint",
     "The op belongs to the forward pass of an outermost gradient."},
    {kCotangentAttr, kOnOp, kMark, "autodiff", "checkpoint",
     "The op belongs to the backward pass of an outermost gradient."},
    {kLabelAttr, kOnOp, kLabel, "model", "checkpoint",
     "Wish of the model or of a policy: whether the results of the op are saved or replayed."},
    {kRuleAttr, kOnOp, kText, "label", "checkpoint", "Name of the rule that gave the label."},
    {kDecisionsAttr, kOnOp, kDecisions, "checkpoint", "checkpoint",
     "Plan of each result: saved, replayed, offloaded or not needed."},
    {kReasonsAttr, kOnOp, kReasons, "checkpoint", "checkpoint",
     "Reason of each decision; the name of the rule if a label decided."},
    {kIdAttr, kOnOp, kCount, "checkpoint", "checkpoint", "Number of an op that has replays."},
    {kOriginalAttr, kOnOp, kCount, "checkpoint", "checkpoint",
     "Number (`reprise.id`) of the op that this op replays."},
    {kResultLabelsAttr, kOnOp, kLabels, "label", "checkpoint",
     "Labels of single results; a unit attribute for a result without its own label."},
    {kResultRulesAttr, kOnOp, kTexts, "label", "checkpoint",
     "Names of the rules that gave the labels of single results."},
    {kNamesAttr, kOnOp, kTexts, "label", "checkpoint",
     "Names that the model gives to the results, joined by commas; for reports and plans."},
    {kIterationsAttr, kOnOp, kIterations, "label", "autodiff",
     "Labels and rules of each iteration, in a loop that will be unrolled."},
    {kStageAttr, kOnOp, kStages, "model", "autodiff",
     "Stage of an op of the forward pass, and of the derivatives of that op."},
    {kMicrobatchAttr, kOnOp, kIndex, "partition", "", "Micro-batch that the op works on."},
    {kBatchSumAttr, kOnOp, kMark, "partition", "",
     "The op sums over the samples of a micro-batch, or adds such a sum to earlier sums."},
    {kModelPartAttr, kOnOp, kIndex, "partition", "",
     "Part of the model axis that the op computes."},
    {kShardsAttr, kOnOp, kShardings, "autodiff", "",
     "Shardings that the model axis gives to the results of the op."},
    {kSumOverAttr, kOnOp, kAxis, "autodiff", "",
     "Axis over whose parts the contraction sums, since its terms are cut."},
    {kTransferAttr, kOnOp, kPurpose, "partition", "memory",
     "For reports: purpose of the transfers of a value to other devices."},
    {kAxesAttr, kOnGrid, kAxes, "model", "",
     "Names of the axes of the grid; (data, model) of two axes and (model) of one without it."},
    {kPerGroupAttr, kOnOp, kMark, "autodiff", "checkpoint",
     "Mean over the batch, or quotient by its count, of which each micro-batch has its own."},
    {kSplitAttr, kOnReshape, kMark, "autodiff", "",
     "View of a stack that a loop in segments reads or writes."},
    {kCopyAttr, kOnCast, kCount, "partition", "checkpoint",
     "Number of a copy of a cast, which keeps the elimination of common subexpressions from "
     "merging the copies."},
    {kChoicesAttr, kOnOp, kChoices, "autodiff", "partition",
     "Choices of a planner, which `reprise-checkpoint` follows."},
    {kPlannedAttr, kOnOp, kMark, "checkpoint", "",
     "The scope of the op has its plan, while other scopes wait for theirs."},
    {kEntryAttr, kOnFunction, kFunctionName, "partition", "memory",
     "Name of the entry that the program is a part of."},
    {kPlanAttr, kOnFunction, kPlan, "autodiff", "kernels",
     "Plan that `reprise-apply-plan` gives to the program, and then what is left of it for "
     "`memory`."},
    {kMicrobatchesAttr, kOnFunction, kIndex, "partition", "",
     "Number of micro-batches that replicas share."},
    {kOneScopeAttr, kOnFunction, kMark, "partition", "checkpoint",
     "All gradients are planned as one scope, since passes of micro-batches alternate."},
    {kBodiesAttr, kOnFunction, kMark, "checkpoint", "",
     "The bodies of the loops have their plan, while the step around the loops has none."},
    {kKeepsLaunchesAttr, kOnFunction, kMark, "checkpoint", "checkpoint",
     "The plan follows choices, so originals stay in the launches that they have without replays."},
    {kSavedBytesAttr, kOnFunction, kCount, "checkpoint", "memory",
     "Bytes of the values that the backward pass reads from the forward pass."},
    {kReplayedOpsAttr, kOnFunction, kCount, "checkpoint", "memory",
     "Replays, each counted once per iteration of the loops around it."},
    {EntrySignature::kName, kOnArgumentOrResult, kEntryName, "model", "memory",
     "Name. A result with the name of an argument is the next value of that argument."},
    {EntrySignature::kRole, kOnArgument, kRole, "model", "memory",
     "Role; passes add the roles \"seed\", \"offset\" and \"step\" for a tensor<i64>."},
    {EntrySignature::kInit, kOnArgument, kInitializer, "model", "memory",
     "Initial value of a parameter, a state or a generated input."},
    {EntrySignature::kBatchDim, kOnArgument, kBatchDim, "model", "memory",
     "Dimension that counts the samples of the batch."},
    {kShardAttr, kOnArgument, kSharding, "model", "autodiff",
     "Sharding: the dimension that the model axis cuts, as `[unit, \"model\"]`."},
    {EntrySignature::kPosition, kOnArgumentOrResult, kPosition, "partition", "memory",
     "Place among the arguments or the results of the step that was cut into programs."},
    {EntrySignature::kWhole, kOnArgumentOrResult, kText, "partition", "memory",
     "Name of the array whose rows these are."},
    {EntrySignature::kRows, kOnArgumentOrResult, kRowRange, "partition", "memory",
     "First row, the row behind the last, the number of rows of the whole array, and the dimension "
     "that counts them (0)."},
    {EntrySignature::kCheck, kOnResult, kCheck, "kernels", "memory",
     "Description of a value that the step returns only to compare replays with originals."},
    {EntrySignature::kReplayOf, kOnResult, kReplayOf, "kernels", "memory",
     "Number of the result that this result must be equal to."},
};

ArrayRef<AttributeRow> getAttributeTable() { return kTable; }

} // namespace reprise
