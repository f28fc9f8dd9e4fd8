// reprise: the arrays of a step whose rows belong to different stages
#include "Stacks.h"

#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace reprise;
using namespace reprise::pipe;

/// Returns the row of a slice, if it lies in one row.
static std::optional<int64_t> getRow(Operation *op) {
  auto slice = dyn_cast<reprise::SliceOp>(op);
  if (!slice || !hasRows(slice.getOperand().getType()) ||
      slice.getLimits().front() != slice.getStarts().front() + 1)
    return std::nullopt;
  return slice.getStarts().front();
}

/// Returns true for an array that is a concatenation of its rows.
static bool isJoined(Operation *op) {
  auto join = dyn_cast<ConcatenateOp>(op);
  return join && join.getDim() == 0 && hasRows(join.getType()) &&
         llvm::all_of(join->getOperandTypes(),
                      [](Type type) { return cast<RankedTensorType>(type).getDimSize(0) == 1; });
}

/// Returns true if rows of the value are kept together. Constants and broadcasts are computed row
/// by row at their readers instead.
static bool isConnecting(Value value) {
  Operation *op = value.getDefiningOp();
  return hasRows(value.getType()) && (!op || isRowwise(op) || isJoined(op));
}

Stacks::Stacks(ProgramOp step) {
  connectRows(step, isConnecting, connected);
  look(step);
  auto add = [&](Value value) {
    Group *group = isConnecting(value) ? find(value) : nullptr;
    if (group && isCut(*group))
      stacks[value] = connected.getLeaderValue(value.getAsOpaquePointer());
  };
  for (BlockArgument argument : step.getArguments())
    add(argument);
  for (Operation &op : step.getBody().front())
    for (Value result : op.getResults())
      add(result);
}

Stacks::Group *Stacks::find(Value value) {
  if (!isConnecting(value))
    return nullptr;
  Group &group = groups[connected.getLeaderValue(value.getAsOpaquePointer())];
  group.stages.resize(countRows(value));
  return &group;
}

void Stacks::look(ProgramOp step) {
  EntrySignature signature(step);
  // The rows of a batch are samples.
  for (BlockArgument argument : step.getArguments())
    if (Group *group = find(argument)) {
      group->isNamed = true;
      group->isWhole |= signature.getBatchDim(argument.getArgNumber()).has_value();
    }
  for (Operation &op : step.getBody().front()) {
    if (std::optional<int64_t> row = getRow(&op))
      meet(op.getOperand(0), *row, &op);
    if (isJoined(&op))
      for (auto [row, part] : llvm::enumerate(op.getOperands()))
        if (Operation *maker = part.getDefiningOp())
          meet(op.getResult(0), static_cast<int64_t>(row), maker);
  }
  // The next value of an array in rows comes in rows as well.
  Operation *ends = step.getBody().front().getTerminator();
  for (auto [value, replaced] : llvm::zip(ends->getOperands(), signature.getReplacedArguments())) {
    if (Group *group = find(value))
      group->isNamed = true;
    else if (Group *old = replaced >= 0 ? find(step.getArgument(replaced)) : nullptr)
      old->isWhole = true;
  }
}

/// Records that an op reads or computes a row.
void Stacks::meet(Value stack, int64_t row, Operation *op) {
  auto stage = dyn_cast_or_null<IntegerAttr>(op->getDiscardableAttr(kStageAttr));
  Group *group = find(stack);
  if (!group || !stage)
    return;
  std::optional<int64_t> &own = group->stages[row];
  own = std::min(own.value_or(stage.getInt()), stage.getInt());
}

bool Stacks::isCut(const Group &group) const {
  std::set<int64_t> stages;
  for (std::optional<int64_t> stage : group.stages)
    if (stage)
      stages.insert(*stage);
  return group.isNamed && !group.isWhole && stages.size() > 1;
}

/// Returns the first stage that reads or computes a row of a stack, or of a connected stack.
std::optional<int64_t> Stacks::getStage(Value stack, int64_t row) const {
  return stack ? groups.lookup(stacks.lookup(stack)).stages[row] : std::nullopt;
}

SmallVector<RowRange> Stacks::getParts(Value stack) const {
  return llvm::map_to_vector(llvm::seq<int64_t>(0, countRows(stack)),
                             [](int64_t row) { return RowRange{row, row + 1}; });
}

/// Sets the stage of one row, from an op that has a stage per iteration.
static void takeStage(Operation *op, int64_t row, int64_t rows) {
  auto stages = dyn_cast_or_null<DenseI64ArrayAttr>(op->getDiscardableAttr(kStageAttr));
  if (!stages)
    return;
  op->removeDiscardableAttr(kStageAttr);
  if (stages.size() == rows)
    op->setDiscardableAttr(kStageAttr, Builder(op->getContext()).getI64IntegerAttr(stages[row]));
}

void Stacks::markCopy(Operation *copy, Operation *op, int64_t row) const {
  takeStage(copy, row, countRows(op->getResult(0)));
}

void Stacks::markSlice(Operation *slice, Value value, Operation *reader, int64_t row) const {
  copyMarks(slice, reader);
  takeStage(slice, row, countRows(value));
}

void Stacks::markJoin(Operation *join, Value value, Operation *reader) const {
  copyMarks(join, reader);
  takeStage(join, 0, countRows(value));
}

/// A broadcast without a stage is computed on each stage, from the smaller value.
int64_t Stacks::getBroadcastKey(BroadcastOp whole, int64_t row, Value result) const {
  std::optional<int64_t> stage = getStage(result, row);
  return whole->hasAttr(kStageAttr) || !stage ? -1 - row : *stage;
}

void Stacks::markBroadcast(Operation *made, BroadcastOp whole, int64_t row, Value result) const {
  takeStage(made, row, countRows(whole.getResult()));
  if (std::optional<int64_t> stage = getStage(result, row); stage && !whole->hasAttr(kStageAttr))
    made->setDiscardableAttr(kStageAttr, Builder(made->getContext()).getI64IntegerAttr(*stage));
}
