// reprise: options in a plan file, so that the file alone gives the same bundle
#include "PlanFile.h"
#include "Planner/PlanContext.h"

#include "mlir/Pass/PassManager.h"
#include "reprise/Dialect/Reprise/IR/Naming.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Dialect/Reprise/Transforms/Passes.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace reprise;
using llvm::json::Array;
using llvm::json::Object;

/// Limit of workers, larger than in any run.
static constexpr int64_t kMostThreads = 4096;

static std::optional<unsigned> readThreads(const Object &plan) {
  std::optional<int64_t> threads = plan.getInteger("threads");
  bool isNumber = threads && *threads >= 1 && *threads <= kMostThreads;
  return isNumber ? std::optional(static_cast<unsigned>(*threads)) : std::nullopt;
}

/// Returns whether the value is lists of ids by known labels.
static bool areLabels(const llvm::json::Value &value) {
  const Object *lists = value.getAsObject();
  return lists && llvm::all_of(*lists, [](const Object::value_type &list) {
           return symbolizeLabel(StringRef(list.first)) && list.second.getAsArray();
         });
}

bool reprise::haveGoodOptions(const Object &plan) {
  std::optional<int64_t> bytes = plan.getInteger("budget_bytes"),
                         percent = plan.getInteger("replayed_percent");
  const llvm::json::Value *budget = plan.get("budget_bytes"), *target = plan.get("target"),
                          *labels = plan.get("labels"), *units = plan.get("units");
  bool isShare = !plan.get("replayed_percent") || (percent >= 0 && percent <= 100);
  return isShare && (!plan.get("threads") || readThreads(plan)) &&
         (!target || target->getAsString()) && (!labels || areLabels(*labels)) &&
         (!units || units->getAsArray()) && (!budget || budget->getAsNull() || bytes >= 0);
}

CompileOptions reprise::takePlanOptions(CompileOptions options) {
  if (!options.plan)
    return options;
  SmallVector<const Object *> plans = listPlans(*options.plan);
  if (plans.empty())
    return options;
  if (options.threads == 0)
    options.threads = readThreads(*plans.front()).value_or(0);
  options.phases.stages.replayedPercent = plans.front()->getInteger("replayed_percent").value_or(0);
  bool isTargetGiven = options.isTargetGiven || !options.targets.empty() ||
                       options.phases.target != PhaseOptions().target;
  if (isTargetGiven)
    return options;
  for (auto [device, plan] : llvm::enumerate(plans))
    if (std::optional<StringRef> target = plan->getString("target")) {
      if (device == 0)
        options.phases.target = target->str();
      options.targets[static_cast<int64_t>(device)] = target->str();
    }
  return options;
}

void reprise::addOptions(Object &plan, const CompileOptions &options,
                         std::optional<int64_t> budget) {
  plan["threads"] = countThreads(options);
  plan["target"] = options.phases.target;
  plan["budget_bytes"] = budget ? llvm::json::Value(*budget) : llvm::json::Value(nullptr);
}

std::optional<int64_t> reprise::readBudget(const llvm::json::Value &file,
                                           const CompileOptions &options) {
  const Object *plan = file.getAsObject();
  bool isSame = plan && readThreads(*plan) == countThreads(options) &&
                plan->getString("target") == StringRef(options.phases.target);
  return isSame ? plan->getInteger("budget_bytes") : std::nullopt;
}

//===-- Labels --------------------------------------------------------------------------------===//

/// Returns whether a label of the op has no effect, as for constants.
static bool isUndecided(Operation *op) { return op->hasTrait<OpTrait::ConstantLike>(); }

Array reprise::writeUnits(ProgramOp step) {
  std::vector<std::pair<int64_t, ArrayRef<int64_t>>> runs;
  step.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    ArrayRef<int64_t> blocks = readBlocks(op);
    if (runs.empty() || runs.back().second != blocks)
      runs.push_back({0, blocks});
    ++runs.back().first;
  });
  Array list;
  for (auto [count, blocks] : runs) {
    Array run{count};
    llvm::append_range(run, blocks);
    list.push_back(std::move(run));
  }
  return list;
}

/// Applies the blocks. A list for another number of ops belongs to another graph, which a later
/// check reports.
static void takeUnits(ProgramOp step, const Array &list) {
  SmallVector<SmallVector<int64_t>> runs;
  for (const llvm::json::Value &entry : list) {
    runs.emplace_back();
    if (const Array *run = entry.getAsArray())
      for (const llvm::json::Value &number : *run)
        runs.back().push_back(number.getAsInteger().value_or(0));
  }
  auto run = runs.begin();
  step.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    while (run != runs.end() && (run->empty() || run->front() <= 0))
      ++run;
    if (run == runs.end())
      return;
    replaceBlocks(op, ArrayRef(*run).drop_front());
    --run->front();
  });
}

Object reprise::writeLabels(ProgramOp step) {
  ValueIds ids(step.getBody().front());
  std::map<std::string, Array> byLabel;
  step.walk([&](Operation *op) {
    if (isUndecided(op))
      return;
    for (OpResult result : op->getResults())
      if (StringRef label = readLabel(result); !label.empty())
        byLabel[label.str()].push_back(ids.get(result));
  });
  Object labels;
  for (auto &[label, values] : byLabel)
    labels[label] = std::move(values);
  return labels;
}

namespace {
/// Transfer of the labels of a plan to the step's ops.
class LabelChange {
public:
  LabelChange(ProgramOp step, bool isFollowed)
      : ids(step.getBody().front()), isFollowed(isFollowed) {}

  void read(const Object &labels);
  LogicalResult apply(Operation *op);

private:
  ValueIds ids;
  bool isFollowed; ///< whether the plan has no choices
  llvm::StringMap<StringRef> labels;
};
} // namespace

void LabelChange::read(const Object &lists) {
  for (const Object::value_type &list : lists)
    for (const llvm::json::Value &id : *list.second.getAsArray())
      labels[id.getAsString().value_or("")] = StringRef(list.first);
}

/// A MUST of the step stays; then a plan that follows labels is another one.
LogicalResult LabelChange::apply(Operation *op) {
  if (isUndecided(op))
    return success();
  SmallVector<StringRef> wanted;
  bool isChanged = false;
  for (OpResult result : op->getResults()) {
    StringRef own = readLabel(result), planned = labels.lookup(ids.get(result));
    bool stays = own.starts_with("must_") && own != planned;
    if (stays && isFollowed)
      return op->emitError("the plan follows other labels: the value '")
             << ids.get(result) << "' has '" << own << "' here and "
             << (planned.empty() ? "no label" : "'" + planned.str() + "'") << " in the plan";
    wanted.push_back(stays ? own : planned);
    isChanged |= wanted.back() != own;
  }
  if (isChanged)
    replaceLabels(op, wanted);
  return success();
}

LogicalResult reprise::takeLabels(ProgramOp step, const Object &plan) {
  const Object *lists = plan.getObject("labels");
  if (!lists)
    return success();
  LabelChange change(step, plan.get("values")->getAsNull().has_value());
  change.read(*lists);
  WalkResult walked =
      step.getBody().walk([&](Operation *op) { return WalkResult(change.apply(op)); });
  if (walked.wasInterrupted())
    return failure();
  // Values that labels send to the host have ops of their own.
  PassManager manager(step.getContext(), ProgramOp::getOperationName());
  manager.addPass(createOffloadValuesPass());
  if (failed(manager.run(step)))
    return failure();
  if (const Array *units = plan.getArray("units"))
    takeUnits(step, *units);
  return success();
}
