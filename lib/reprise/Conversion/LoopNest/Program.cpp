// reprise: gathers the tasks of a group into as few loop nests as their shapes and reads allow
#include "Program.h"
#include "Tasks.h"

using namespace mlir;

namespace reprise::nests {
namespace {

class NestPlanner {
public:
  NestPlanner(Body &body, TaskList &list, const NestRules &rules)
      : list(list), leaves(argumentLeaves(body, rules)) {}
  FailureOr<std::vector<Nest>> plan();

private:
  bool isReady(const Task &task, ArrayRef<Task *> beside) const;
  bool waits(const Task &task) const;
  bool standsApart(const Task &task) const;
  Task *pickSeed();
  /// Takes a task into the nest if it still has one graph then.
  void tryJoin(Task &task);
  std::optional<Root> rootIn(const Task &task, const Shape &shape) const;
  LogicalResult buildNest(Task &seed);
  void buildAlone(Task &task);
  FailureOr<Graph> build(Shape shape, ArrayRef<Root> roots, Obstacle &obstacle);
  Leaves leavesFor(ArrayRef<Root> roots) const;
  void dropUnread(SmallVector<Root> &roots);
  void finish();

  TaskList &list;
  Leaves leaves;
  std::vector<Nest> nests;
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
  return leaves.rules.sumsApart && task.kind == Task::Element && task.root.kind == Root::Full &&
         task.isConstrained() && llvm::any_of(list.tasks, isAhead);
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
  bool wide = llvm::any_of(roots, [](const Root &root) { return root.kind == Root::LaneParts; });
  if (size == shape.size() && !shape.hasDenseColumns())
    return std::nullopt;
  if (size == shape.size())
    root.kind = Root::Full;
  else if (!shape.rows.empty() && !wide && size == shape.outerSize() * shape.rowCount())
    root.kind = Root::Row;
  else if (size == 1)
    root.kind = Root::Single;
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

FailureOr<Graph> NestPlanner::build(Shape shape, ArrayRef<Root> roots, Obstacle &obstacle) {
  return buildGraph(shape, roots, leavesFor(roots), obstacle);
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
  Obstacle obstacle;
  FailureOr<Graph> graph = build(shape, extended, obstacle);
  // Parts meet in place, so a pass of its own must not fold them again.
  if (failed(graph) || (graph->hasReductions() && graph->has(Node::Fold)))
    return;
  if (graph->hasReductions() && standsApart(task))
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

/// Without reductions over columns, and values of rows, the innermost factor alone is a row;
/// without elements to store, the columns' outer factors may go around the rows.
Shape simplifyShape(const Graph &graph) {
  Shape shape = graph.shape;
  bool parts = llvm::any_of(graph.roots, [](const Root &root) { return root.isParts(); });
  bool elements = llvm::any_of(graph.roots, [](const Root &root) { return !root.isParts(); });
  bool lanes =
      llvm::any_of(graph.roots, [](const Root &root) { return root.kind == Root::LaneParts; });
  bool rows = llvm::any_of(graph.roots, [](const Root &root) { return root.kind == Root::Row; });
  if (graph.hasReductions() || lanes || rows || (parts && elements) || shape.columns.size() < 2)
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
  Obstacle obstacle;
  FailureOr<Graph> graph = build(shape, roots, obstacle);
  if (succeeded(graph))
    graph = build(simplifyShape(*graph), roots, obstacle);
  if (failed(graph))
    return failure();
  nests.push_back({std::move(*graph)});
  return success();
}

/// All results of an op that runs alone come from one command.
void NestPlanner::buildAlone(Task &seed) {
  joined.clear();
  Nest nest;
  nest.alone = seed.root.value.getDefiningOp();
  for (Value operand : nest.alone->getOperands())
    nest.aloneBuffers.push_back(leaves.stored.lookup(operand));
  for (Value result : nest.alone->getResults()) {
    auto task = llvm::find_if(list.tasks,
                              [&](Task &task) { return task.root.value == result && !task.done; });
    nest.storedResults.push_back(task != list.tasks.end());
    if (task == list.tasks.end())
      continue;
    nest.aloneBuffers.push_back(*task->root.slot);
    joined.push_back(&*task);
  }
  nests.push_back(std::move(nest));
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

FailureOr<std::vector<Nest>> NestPlanner::plan() {
  while (Task *seed = pickSeed()) {
    if (seed->kind == Task::Alone)
      buildAlone(*seed);
    else if (failed(buildNest(*seed)))
      return failure();
    finish();
  }
  bool complete = llvm::all_of(list.tasks, [](const Task &task) { return task.done; });
  if (!complete)
    return failure();
  return std::move(nests);
}

} // namespace

FailureOr<Program> planProgram(Block &block, const NestRules &rules) {
  FailureOr<Body> body = simplifyBody(block);
  if (failed(body))
    return failure();
  FailureOr<TaskList> list = listTasks(*body, rules);
  if (failed(list))
    return failure();
  FailureOr<std::vector<Nest>> nests = NestPlanner(*body, *list, rules).plan();
  if (failed(nests))
    return failure();
  return Program{std::move(*body), std::move(*nests), list->sharedBytes};
}

bool isOnePass(const Program &program) {
  int64_t main = 0, all = 0;
  for (const Nest &nest : program.nests) {
    if (nest.alone)
      return program.nests.size() == 1;
    int64_t size = nest.graph.has(Node::Fold) ? 0 : nest.graph.shape.size();
    main = std::max(main, size);
    all += size;
  }
  // Aside may go what is a small part of the work, or next to nothing.
  return all - main <= std::max<int64_t>(main / 8, laneBlock);
}

} // namespace reprise::nests
