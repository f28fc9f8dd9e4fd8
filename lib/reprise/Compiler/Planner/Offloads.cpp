// reprise: values that a plan sends to the memory of the host by itself
#include "Offloads.h"

#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Planning/Checkpoint/Bound/Bound.h"

using namespace mlir;
using namespace reprise;
using checkpoint::Choice;
using checkpoint::Kind;
using checkpoint::Problem;

/// Finds the values that the backward pass reads, as a flag per value.
static std::vector<bool> findReadBack(const Problem &problem) {
  std::vector<bool> found(problem.values.size());
  for (const Problem::Operation &op : problem.operations)
    for (int operand : op.operands)
      if (operand != checkpoint::kAvailable &&
          readsBack(op, problem.operations[problem.values[operand].operation]))
        found[operand] = true;
  return found;
}

/// Tells whether the value may be offloaded. Results of elementwise kernels may not, because
/// replaying them is cheaper.
static bool mayOffload(const Problem &problem, const Problem::Operation &op, int value) {
  const Problem::Value &own = problem.values[value];
  bool isMust = own.label == Problem::Label::MustSave || own.label == Problem::Label::MustRecompute;
  return op.primal && (op.kind == Kind::Contraction || op.kind == Kind::Other) && !isMust &&
         !own.outlives && own.bytes > 0;
}

/// Numbers the first result of each op, as `reprise-offload-values` counts them.
static DenseMap<Operation *, int64_t> numberResults(ProgramOp step) {
  DenseMap<Operation *, int64_t> numbers;
  int64_t next = 0;
  for (Operation &op : step.getBody().front()) {
    numbers[&op] = next;
    next += op.getNumResults();
  }
  return numbers;
}

/// Returns the gain of offloading a value: replay seconds that are saved per byte, or the bytes of
/// a saved value if the plan does not fit.
static double findGain(const FormedStep &step, const StepPlan *plan, bool fits, int operation,
                       int value, const CostModel &costs) {
  if (!plan)
    return 1;
  int64_t bytes = step.scope->problem.values[value].bytes;
  bool isSaved = plan->choices.empty() ? !fits : plan->choices[value] == Choice::Save;
  if (isSaved)
    return fits ? 0 : static_cast<double>(bytes);
  double spared = step.footprint.seconds[operation] + step.footprint.launchSeconds -
                  costs.getOffloadSeconds(bytes);
  return spared / static_cast<double>(bytes);
}

SmallVector<int64_t> reprise::listOffloads(const FormedStep &step, const StepPlan *plan, bool fits,
                                           int64_t mostBytes, const PlanContext &context) {
  SmallVector<int64_t> listed;
  if (!step.scope)
    return listed;
  const Problem &problem = step.scope->problem;
  std::vector<bool> readBack = findReadBack(problem);
  DenseMap<Operation *, int64_t> numbers = numberResults(step.get());
  std::vector<std::tuple<double, int64_t, int64_t>> ranked; // gain, number, bytes
  for (auto [i, op] : llvm::enumerate(problem.operations)) {
    auto number = numbers.find(step.scope->ops[i]);
    bool isHere = number != numbers.end() && step.footprint.launches[i] != checkpoint::kNoLaunch &&
                  !isa<LoopOp, OffloadOp>(step.scope->ops[i]);
    for (int result = 0; isHere && result < op.numResults; ++result) {
      int value = op.firstResult + result;
      bool isUsed = readBack[value] ||
                    (plan && !plan->choices.empty() && plan->choices[value] != Choice::Save);
      double gain = isUsed && mayOffload(problem, op, value)
                        ? findGain(step, plan, fits, static_cast<int>(i), value, context.costs)
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

FailureOr<OwningOpRef<ModuleOp>> reprise::applyOffloads(const PlanSearch &search, StepPlan &shape,
                                                        ArrayRef<int64_t> values) {
  shape.offloaded.assign(values.begin(), values.end());
  OwningOpRef<ModuleOp> module = copyAlone(search.program);
  if (failed(applyForm(getAlone(*module), shape)))
    return failure();
  return std::move(module);
}

/// Lowers the seconds of every fetch to those of a replay of its value.
static void makeFetchesCheap(FormedStep &step) {
  if (!step.scope)
    return;
  std::vector<double> &seconds = step.footprint.seconds;
  DenseMap<Operation *, size_t> numbers;
  for (auto [i, op] : llvm::enumerate(step.scope->ops))
    if (auto offload = dyn_cast_or_null<OffloadOp>(op)) {
      auto maker = numbers.find(offload.getOperand().getDefiningOp());
      if (maker != numbers.end())
        seconds[i] = std::min(seconds[i], seconds[maker->second]);
    } else if (op) {
      numbers[op] = i;
    }
  step.cheapest = checkpoint::findBound(step.scope->problem, step.footprint, INT64_MAX).seconds;
}

FailureOr<FormedStep> reprise::relaxOffloads(const PlanSearch &search, const FormedStep &step) {
  StepPlan shape = step.shape;
  FailureOr<OwningOpRef<ModuleOp>> module =
      applyOffloads(search, shape, listOffloads(step, nullptr, true, INT64_MAX, search.context));
  if (failed(module))
    return failure();
  FailureOr<FormedStep> relaxed =
      survey(std::move(*module), std::move(shape), search.context, search.stepSeconds());
  if (succeeded(relaxed))
    makeFetchesCheap(*relaxed);
  return relaxed;
}
