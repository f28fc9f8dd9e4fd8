// reprise: which values a planner sends to the memory of the host by itself
#include "ProgramPlanner.h"

#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Planning/Checkpoint/Bound/Bound.h"

using namespace mlir;
using namespace reprise;
using checkpoint::Choice;
using checkpoint::Kind;
using checkpoint::Problem;

/// Values that the backward pass reads.
static std::vector<bool> findReadBack(const Problem &problem) {
  std::vector<bool> found(problem.values.size());
  for (const Problem::Operation &op : problem.operations)
    for (int operand : op.operands)
      if (operand != checkpoint::kAvailable &&
          readsBack(op, problem.operations[problem.values[operand].operation]))
        found[operand] = true;
  return found;
}

/// What elementwise kernels make is cheaper to make again.
static bool mayOffload(const Problem &problem, const Problem::Operation &op, int value) {
  const Problem::Value &own = problem.values[value];
  bool isMust = own.label == Problem::Label::MustSave || own.label == Problem::Label::MustRecompute;
  return op.primal && (op.kind == Kind::Contraction || op.kind == Kind::Other) && !isMust &&
         !own.outlives && own.bytes > 0;
}

/// By the order of the function's ops, as `reprise-offload-values` counts them.
static DenseMap<Operation *, int64_t> numberResults(func::FuncOp step) {
  DenseMap<Operation *, int64_t> numbers;
  int64_t next = 0;
  for (Operation &op : step.getBody().front()) {
    numbers[&op] = next;
    next += op.getNumResults();
  }
  return numbers;
}

/// What it is worth that the value need not be computed again, or need not lie in memory: a plan
/// that does not fit gives up what takes most.
double StepPlanner::findGain(const StepPlan *plan, bool fits, int operation, int value) const {
  if (!plan)
    return 1;
  int64_t bytes = scope->problem.values[value].bytes;
  bool isSaved = plan->choices.empty() ? !fits : plan->choices[value] == Choice::Save;
  if (isSaved)
    return fits ? 0 : static_cast<double>(bytes);
  double spared = footprint.seconds[operation] + footprint.launchSeconds -
                  context.costs.getOffloadSeconds(bytes);
  return spared / static_cast<double>(bytes);
}

SmallVector<int64_t> StepPlanner::listOffloads(const StepPlan *plan, bool fits,
                                               int64_t mostBytes) const {
  SmallVector<int64_t> listed;
  if (!scope)
    return listed;
  const Problem &problem = scope->problem;
  std::vector<bool> readBack = findReadBack(problem);
  DenseMap<Operation *, int64_t> numbers = numberResults(step);
  std::vector<std::tuple<double, int64_t, int64_t>> ranked; // gain, number, bytes
  for (auto [i, op] : llvm::enumerate(problem.operations)) {
    auto number = numbers.find(scope->ops[i]);
    bool isHere = number != numbers.end() && footprint.launches[i] != checkpoint::kNoLaunch &&
                  !isa<LoopOp, OffloadOp>(scope->ops[i]);
    for (int result = 0; isHere && result < op.numResults; ++result) {
      int value = op.firstResult + result;
      bool isUsed = readBack[value] ||
                    (plan && !plan->choices.empty() && plan->choices[value] != Choice::Save);
      double gain = isUsed && mayOffload(problem, op, value)
                        ? findGain(plan, fits, static_cast<int>(i), value)
                        : 0;
      if (gain > 0)
        ranked.push_back({-gain, number->second + result, problem.values[value].bytes});
    }
  }
  llvm::sort(ranked);
  for (auto [gain, number, bytes] : ranked)
    if (bytes <= mostBytes) {
      listed.push_back(number);
      mostBytes -= bytes;
    }
  llvm::sort(listed);
  return listed;
}

/// A plan may make the value again where that is cheaper than to fetch it.
void StepPlanner::relaxOffloads() {
  if (!scope)
    return;
  const Problem &problem = scope->problem;
  DenseMap<Operation *, size_t> numbers;
  for (auto [i, op] : llvm::enumerate(scope->ops))
    if (auto offload = dyn_cast_or_null<OffloadOp>(op)) {
      auto maker = numbers.find(offload.getOperand().getDefiningOp());
      if (maker != numbers.end())
        footprint.seconds[i] = std::min(footprint.seconds[i], footprint.seconds[maker->second]);
    } else if (op) {
      numbers[op] = i;
    }
  cheapest = checkpoint::findBound(problem, footprint, INT64_MAX).seconds;
}

LogicalResult ProgramPlanner::addOffloaded(const Form &form, ArrayRef<int64_t> values,
                                           std::vector<Form> &list) {
  StepPlan shape = form.planner->getShape();
  shape.form.offloaded.assign(values.begin(), values.end());
  Form made{copyAlone(program), nullptr};
  if (failed(applyForm(getAlone(*made.module), shape)))
    return failure();
  made.planner = std::make_unique<StepPlanner>(getAlone(*made.module), context, std::move(shape));
  if (failed(made.planner->survey(stepSeconds())))
    return failure();
  list.push_back(std::move(made));
  return success();
}

/// Every plan with any offloads is one of this form, which costs no more.
LogicalResult ProgramPlanner::relax() {
  if (context.costs.getRates().hostLink == 0)
    return success();
  for (size_t i = relaxed.size(); i < forms.size(); ++i) {
    const Form &form = forms[i];
    if (failed(addOffloaded(form, form.planner->listOffloads(nullptr, true, INT64_MAX), relaxed)))
      return failure();
    relaxed.back().planner->relaxOffloads();
  }
  return success();
}

/// The link carries so much while the forward pass runs, about a third of the step, and again while
/// the backward pass does. The values that the best plan makes again at most cost go to the host.
LogicalResult ProgramPlanner::searchOffloads(int64_t budget) {
  double link = context.costs.getRates().hostLink;
  auto capacity = static_cast<int64_t>(link * stepSeconds() / 3);
  if (capacity == 0 || isEnough(budget) || context.isLate())
    return success();
  const StepPlan *best = findBest(budget), *smallest = findSmallest().first;
  const StepPlan *from = best ? best : smallest;
  for (const Form &form : forms) {
    if (llvm::none_of(form.planner->plans(), [&](const StepPlan &plan) { return &plan == from; }))
      continue;
    SmallVector<int64_t> values = form.planner->listOffloads(from, best != nullptr, capacity);
    if (values.empty())
      return success();
    if (failed(addOffloaded(form, values, offloading)))
      return failure();
    StepPlanner &planner = *offloading.back().planner;
    return failure(failed(planner.search(budget)) ||
                   (!findBest(budget) && failed(planner.packSmaller())));
  }
  return success();
}
