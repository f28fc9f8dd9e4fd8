// reprise: finds the values of a group that must be stored, one trial nest per value
#include "Tasks.h"
#include "reprise/Conversion/Elements.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace reprise::nests {

static RankedTensorType tensor(Value value) { return cast<RankedTensorType>(value.getType()); }

Leaves argumentLeaves(Body &body, const NestRules &rules) {
  Leaves leaves;
  leaves.rules = rules;
  for (BlockArgument argument : body.arguments())
    leaves.stored[argument] = {BufferSlot::Input, argument.getArgNumber(), 0};
  return leaves;
}

namespace {

/// The reduction of an operation's result if it is done in parts.
ReductionOpInterface endingReduction(Value value, const NestRules &rules) {
  auto reduction = value.getDefiningOp<ReductionOpInterface>();
  return reduction && getReductionInfo(reduction, rules).ends() ? reduction
                                                                : ReductionOpInterface();
}

class TaskFinder {
public:
  TaskFinder(Body &body, const NestRules &rules)
      : body(body), leaves(argumentLeaves(body, rules)) {}

  /// Makes a value computable: cuts what stands in the way.
  LogicalResult solve(Value value);
  TaskList list();

private:
  LogicalResult solveAlone(Value value, Task &task);
  LogicalResult solveLoops(Value value, Task &task);
  /// The shape that a value asks for. Fails with a cut.
  LogicalResult propose(Value value, Task &task, Obstacle &obstacle);
  Operation *findRowReduction(Value value, llvm::DenseSet<Value> &seen);
  Value findRowsBeside(const Task &task, KernelOp kernel);
  LogicalResult cut(Value value);
  Value cutBelow(Value value);
  BufferSlot newSharedSlot(Type elementType, int64_t count);
  void addTask(TaskList &list, const Task &task, Value value, BufferSlot slot, bool internal);

  Body &body;
  Leaves leaves;
  llvm::SetVector<Value> cuts;
  llvm::MapVector<Value, Task> solved;
  llvm::DenseSet<Value> underway;
  int64_t sharedBytes = 0;
};

LogicalResult TaskFinder::cut(Value value) {
  // A value that would have to be stored for itself to be computed is beyond loops.
  if (!value || underway.contains(value) || !value.getDefiningOp())
    return failure();
  if (failed(solve(value)))
    return failure();
  if (cuts.insert(value))
    leaves.stored[value] = {BufferSlot::Shared, static_cast<int64_t>(cuts.size()) - 1, 0};
  return success();
}

Operation *TaskFinder::findRowReduction(Value value, llvm::DenseSet<Value> &seen) {
  Operation *op = value.getDefiningOp();
  if (!op || leaves.stored.contains(value) || !seen.insert(value).second)
    return nullptr;
  if (auto reduction = dyn_cast<ReductionOpInterface>(op)) {
    ReductionInfo info = getReductionInfo(reduction, leaves.rules);
    if (info.mode == ReductionMode::InRow && info.reduced != 0)
      return op;
  }
  for (Value operand : op->getOperands())
    if (Operation *found = findRowReduction(operand, seen))
      return found;
  return nullptr;
}

LogicalResult TaskFinder::propose(Value value, Task &task, Obstacle &obstacle) {
  task.kind = Task::Element;
  task.root = {Stored::Elements, value};
  if (ReductionOpInterface ending = endingReduction(value, leaves.rules)) {
    ReductionInfo info = getReductionInfo(ending, leaves.rules);
    task.kind = Task::Parts;
    task.root.what = info.mode == ReductionMode::RowParts ? Stored::RowParts : Stored::ColumnParts;
    task.shape = info.shape;
    return success();
  }
  int64_t size = tensor(value).getNumElements();
  task.shape = {{}, {}, {size}};
  llvm::DenseSet<Value> seen;
  Operation *reduction = findRowReduction(value, seen);
  if (!reduction)
    return success();
  ReductionInfo info = getReductionInfo(cast<ReductionOpInterface>(reduction), leaves.rules);
  obstacle = {reduction->getResult(0)};
  task.shape = info.shape;
  if (size == info.kept)
    task.root.what = Stored::Rows;
  bool fillsShape = size == info.kept * info.reduced && info.shape.hasDenseColumns();
  return success(size == info.kept || fillsShape);
}

/// Finds the value that the nest of a sum of columns reduces in rows, if the sum needs a nest of
/// its own; null otherwise.
Value TaskFinder::findRowsBeside(const Task &task, KernelOp kernel) {
  if (!leaves.rules.sumsApart || !task.sumsColumns() || !has<ReduceOp>(kernel))
    return {};
  llvm::DenseSet<Value> seen;
  Operation *reduction = findRowReduction(task.root.value, seen);
  return reduction ? reduction->getResult(0) : Value();
}

LogicalResult TaskFinder::solveLoops(Value value, Task &task) {
  while (true) {
    Obstacle obstacle;
    if (succeeded(propose(value, task, obstacle))) {
      auto kernel = buildNest(task.shape, task.root, leaves, obstacle);
      Value rows = succeeded(kernel) ? findRowsBeside(task, **kernel) : Value();
      if (rows && succeeded(cut(rows)))
        continue;
      if (succeeded(kernel)) {
        for (BufferSlot slot : kernel->get().getBuffers())
          if (slot.kind == BufferSlot::Shared)
            task.reads.push_back(cuts[slot.index]);
        return success();
      }
    }
    // Elements that do not lie as the rows of a reduction inside: the reduction's rows go first.
    Value wanted = obstacle.cut;
    if (wanted == value && task.isConstrained() && task.kind == Task::Element)
      wanted = cutBelow(value);
    if (failed(cut(wanted)))
      return failure();
  }
}

/// The first value below some views, if that can be stored; else the reduction that gave the shape.
Value TaskFinder::cutBelow(Value value) {
  while (auto view = value.getDefiningOp<ViewOpInterface>()) {
    value = view->getOperand(0);
    if (value.getDefiningOp() && !isa<ViewOpInterface>(value.getDefiningOp()))
      return value;
  }
  llvm::DenseSet<Value> seen;
  Operation *reduction = findRowReduction(value, seen);
  return reduction ? reduction->getResult(0) : Value();
}

LogicalResult TaskFinder::solveAlone(Value value, Task &task) {
  task.kind = Task::Alone;
  task.root = {Stored::Elements, value};
  for (Value operand : value.getDefiningOp()->getOperands()) {
    if (!operand.getDefiningOp())
      continue;
    if (failed(cut(operand)))
      return failure();
    task.reads.push_back(operand);
  }
  return success();
}

LogicalResult TaskFinder::solve(Value value) {
  if (solved.contains(value))
    return success();
  underway.insert(value);
  Task task;
  bool alone = isa_and_nonnull<AloneOpInterface>(value.getDefiningOp());
  if (failed(alone ? solveAlone(value, task) : solveLoops(value, task)))
    return failure();
  underway.erase(value);
  solved.insert({value, task});
  return success();
}

BufferSlot TaskFinder::newSharedSlot(Type elementType, int64_t count) {
  auto begin = static_cast<int64_t>(llvm::alignTo(sharedBytes, 64));
  sharedBytes = begin + bytesOf(elementType) * count;
  return {BufferSlot::Shared, 0, begin};
}

void TaskFinder::addTask(TaskList &list, const Task &task, Value value, BufferSlot slot,
                         bool internal) {
  Task own = task;
  own.internal = internal;
  own.root.slot = slot;
  if (task.kind == Task::Parts) {
    // The elements of the parts are those of the arithmetic, not yet rounded.
    if (!list.parts.contains(value)) {
      ReductionInfo info =
          getReductionInfo(value.getDefiningOp<ReductionOpInterface>(), leaves.rules);
      Type type = getComputeType(tensor(value).getElementType());
      BufferSlot parts = newSharedSlot(type, info.kept * info.blocks);
      list.parts[value] = {parts, info.blocks};
      Task reduce = task;
      reduce.root.slot = parts;
      list.tasks.push_back(reduce);
    }
    own.kind = Task::Finish;
    own.reads.clear();
    own.shape = {{}, {}, {tensor(value).getNumElements()}};
    own.root.what = Stored::Elements;
  }
  list.tasks.push_back(own);
}

TaskList TaskFinder::list() {
  TaskList list;
  llvm::DenseSet<Value> outputs;
  for (auto [i, result] : llvm::enumerate(body.results)) {
    if (tensor(result).getNumElements() == 0)
      continue;
    addTask(list, solved[result], result, {BufferSlot::Output, static_cast<int64_t>(i), 0}, false);
    outputs.insert(result);
  }
  for (Value value : cuts)
    if (!outputs.contains(value))
      addTask(list, solved[value], value,
              newSharedSlot(tensor(value).getElementType(), tensor(value).getNumElements()), true);
  list.sharedBytes = sharedBytes;
  return list;
}

} // namespace

FailureOr<TaskList> listTasks(Body &body, const NestRules &rules) {
  TaskFinder finder(body, rules);
  for (Value result : body.results)
    if (tensor(result).getNumElements() != 0 && failed(finder.solve(result)))
      return failure();
  return finder.list();
}

} // namespace reprise::nests
