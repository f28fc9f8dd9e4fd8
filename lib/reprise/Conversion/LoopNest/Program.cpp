// reprise: gathers the tasks of a group into as few loop nests as their shapes and reads allow
#include "Program.h"
#include "Tasks.h"
#include "reprise/Target/GivenNests.h"

using namespace mlir;

namespace reprise::nests {
namespace {

class NestPlanner {
public:
  NestPlanner(Body &body, TaskList &list, const NestRules &rules, NestProgramOp program)
      : list(list), leaves(argumentLeaves(body, rules)), program(program) {}
  LogicalResult plan();

private:
  bool isReady(const Task &task, ArrayRef<Task *> beside) const;
  bool waits(const Task &task) const;
  bool standsApart(const Task &task) const;
  Task *pickSeed();
  /// Takes a task into the nest if it still has one kernel then.
  void tryJoin(Task &task);
  std::optional<Root> rootIn(const Task &task, const Shape &shape) const;
  LogicalResult buildNest(Task &seed);
  void buildAlone(Task &task);
  FailureOr<OwningOpRef<KernelOp>> build(Shape shape, ArrayRef<Root> roots);
  Leaves leavesFor(ArrayRef<Root> roots) const;
  void dropUnread(SmallVector<Root> &roots);
  void finish();

  TaskList &list;
  Leaves leaves;
  NestProgramOp program;
  // The nest that is being built.
  SmallVector<Task *> joined;
  SmallVector<Root> roots;
  Shape shape;
};

bool computes(ArrayRef<Task *> tasks, Value value) {
  return llvm::any_of(tasks, [&](Task *task) {
    return task->root.value == value && (task->kind == Task::Element || task->kind == Task::Finish);
  });
}

bool NestPlanner::isReady(const Task &task, ArrayRef<Task *> beside) const {
  if (task.kind == Task::Finish)
    return leaves.parts.contains(task.root.value);
  return llvm::all_of(task.reads, [&](Value value) {
    return leaves.stored.contains(value) || computes(beside, value);
  });
}

/// Elements that ask for reduced rows go behind sums of columns that stand apart, or beside them:
/// so they may overwrite what those read.
bool NestPlanner::waits(const Task &task) const {
  auto isAhead = [&](const Task &other) { return other.sumsColumns() && !other.done; };
  return leaves.rules.sumsApart && task.kind == Task::Element &&
         task.root.what == Stored::Elements && task.isConstrained() &&
         llvm::any_of(list.tasks, isAhead);
}

/// A nest that reduces rows has no sums of columns, and no elements that wait for them.
bool NestPlanner::standsApart(const Task &task) const {
  auto sums = [](const Task *each) { return each->sumsColumns(); };
  return leaves.rules.sumsApart && (waits(task) || sums(&task) || llvm::any_of(joined, sums));
}

Task *NestPlanner::pickSeed() {
  // What a reduction shapes goes first; the rest can join it.
  for (bool last : {false, true})
    for (bool constrained : {true, false})
      for (Task &task : list.tasks)
        if (!task.done && task.isConstrained() == constrained && waits(task) == last &&
            isReady(task, {}))
          return &task;
  return nullptr;
}

std::optional<Root> NestPlanner::rootIn(const Task &task, const Shape &shape) const {
  Root root = task.root;
  bool sameShape = task.shape.outerSize() == shape.outerSize() &&
                   task.shape.rowCount() == shape.rowCount() &&
                   task.shape.columnCount() == shape.columnCount();
  if (task.isConstrained())
    return sameShape ? std::optional(root) : std::nullopt;
  int64_t size = task.shape.columnCount();
  bool wide =
      llvm::any_of(roots, [](const Root &root) { return root.what == Stored::ColumnParts; });
  if (size == shape.size() && !shape.hasDenseColumns())
    return std::nullopt;
  if (size == shape.size())
    root.what = Stored::Elements;
  else if (!shape.rows.empty() && !wide && size == shape.outerSize() * shape.rowCount())
    root.what = Stored::Rows;
  else if (size == 1)
    root.what = Stored::Single;
  else
    return std::nullopt;
  return root;
}

Leaves NestPlanner::leavesFor(ArrayRef<Root> roots) const {
  // A value that the nest computes is not read, even if it is stored.
  Leaves own = leaves;
  own.parts.clear();
  for (const Root &root : roots)
    if (!root.isParts())
      if (auto parts = leaves.parts.find(root.value); parts != leaves.parts.end())
        own.parts.insert(*parts);
  return own;
}

FailureOr<OwningOpRef<KernelOp>> NestPlanner::build(Shape shape, ArrayRef<Root> roots) {
  Obstacle obstacle;
  return nests::buildNest(std::move(shape), roots, leavesFor(roots), obstacle);
}

void NestPlanner::tryJoin(Task &task) {
  if (task.done || task.kind == Task::Alone || llvm::is_contained(joined, &task) ||
      !isReady(task, joined))
    return;
  std::optional<Root> root = rootIn(task, shape);
  if (!root)
    return;
  SmallVector<Root> extended = roots;
  extended.push_back(*root);
  FailureOr<OwningOpRef<KernelOp>> kernel = build(shape, extended);
  // Parts meet in place, so a pass of its own must not meet them again.
  if (failed(kernel) || (has<ReduceOp>(**kernel) && (has<MeetOp>(**kernel) || standsApart(task))))
    return;
  roots = extended;
  joined.push_back(&task);
}

/// Values that only this nest reads need not be stored.
void NestPlanner::dropUnread(SmallVector<Root> &roots) {
  for (auto [task, root] : llvm::zip_equal(joined, roots)) {
    if (!task->internal || root.isParts())
      continue;
    Value value = root.value;
    bool read = llvm::any_of(list.tasks, [&](Task &other) {
      return !other.done && !llvm::is_contained(joined, &other) &&
             llvm::is_contained(other.reads, value);
    });
    if (!read)
      root.slot = std::nullopt;
  }
}

/// Simplifies the shape of a kernel. If it has neither reductions over columns nor values of rows,
/// a row is the innermost factor alone. If it stores no elements, the outer factors of the columns
/// may go around the rows.
Shape simplifyShape(KernelOp kernel) {
  Shape shape = kernel.getShape();
  bool parts = false, elements = false, lanes = false, rows = false;
  for (auto root : kernel.getBody().getOps<StoreOp>()) {
    (root.isParts() ? parts : elements) = true;
    lanes |= root.getWhat() == Stored::ColumnParts;
    rows |= root.getWhat() == Stored::Rows;
  }
  if (has<ReduceOp>(kernel) || lanes || rows || (parts && elements) || shape.columns.size() < 2)
    return shape;
  // Parts have places of their own, whatever the order.
  if (parts)
    shape.strides.clear();
  SmallVector<int64_t> &to = parts ? shape.outer : shape.rows;
  to.append(shape.columns.begin(), shape.columns.end() - 1);
  shape.columns = {shape.columns.back()};
  return shape;
}

LogicalResult NestPlanner::buildNest(Task &seed) {
  joined = {&seed};
  roots = {seed.root};
  shape = seed.shape;
  for (size_t count = 0; count != joined.size();) {
    count = joined.size();
    for (Task &task : list.tasks)
      tryJoin(task);
  }
  dropUnread(roots);
  FailureOr<OwningOpRef<KernelOp>> kernel = build(shape, roots);
  if (succeeded(kernel))
    kernel = build(simplifyShape(**kernel), roots);
  if (failed(kernel))
    return failure();
  program.getBody().front().push_back(kernel->release());
  return success();
}

/// All results of an op that runs alone come from one command.
void NestPlanner::buildAlone(Task &seed) {
  joined.clear();
  Operation *op = seed.root.value.getDefiningOp();
  SmallVector<BufferSlot> buffers;
  SmallVector<bool> stored;
  for (Value operand : op->getOperands())
    buffers.push_back(leaves.stored.lookup(operand));
  for (Value result : op->getResults()) {
    auto task = llvm::find_if(list.tasks,
                              [&](Task &task) { return task.root.value == result && !task.done; });
    stored.push_back(task != list.tasks.end());
    if (task == list.tasks.end())
      continue;
    buffers.push_back(*task->root.slot);
    joined.push_back(&*task);
  }
  OpBuilder b = OpBuilder::atBlockEnd(&program.getBody().front());
  auto alone = AloneOp::create(b, op->getLoc(), spellSlots(buffers), stored);
  Block &block = alone.getBody().emplaceBlock();
  Operation *copy = op->clone();
  for (OpOperand &operand : copy->getOpOperands())
    operand.set(block.addArgument(operand.get().getType(), op->getLoc()));
  block.push_back(copy);
}

void NestPlanner::finish() {
  for (Task *task : joined) {
    task->done = true;
    if (task->kind == Task::Parts)
      leaves.parts[task->root.value] = list.parts.lookup(task->root.value);
    else
      leaves.stored.try_emplace(task->root.value, *task->root.slot);
  }
}

LogicalResult NestPlanner::plan() {
  while (Task *seed = pickSeed()) {
    if (seed->kind == Task::Alone)
      buildAlone(*seed);
    else if (failed(buildNest(*seed)))
      return failure();
    finish();
  }
  return success(llvm::all_of(list.tasks, [](const Task &task) { return task.done; }));
}

} // namespace

FailureOr<OwningOpRef<NestProgramOp>> planProgram(Block &block, const NestRules &rules,
                                                  StringRef name) {
  if (NestProgramOp given = findGivenNests(block))
    return OwningOpRef<NestProgramOp>(given.clone());
  FailureOr<Body> body = simplifyBody(block);
  if (failed(body))
    return failure();
  FailureOr<TaskList> list = listTasks(*body, rules);
  if (failed(list))
    return failure();
  Operation *launch = block.getParentOp();
  OpBuilder b(launch->getContext());
  OwningOpRef<NestProgramOp> program = NestProgramOp::create(
      b, launch->getLoc(), name, body->countMostElements(), list->sharedBytes);
  program->getBody().emplaceBlock();
  if (failed(NestPlanner(*body, *list, rules, *program).plan()))
    return failure();
  return program;
}

} // namespace reprise::nests
