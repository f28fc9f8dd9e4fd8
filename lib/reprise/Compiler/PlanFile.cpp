// reprise: plans as files
#include "PlanFile.h"

#include "reprise/Dialect/Reprise/IR/Naming.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace reprise;
using llvm::json::Array;
using llvm::json::Object;

/// What an op computes: its name, its own attributes, and the types of operands and results.
static std::string signOp(Operation *op) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << op->getName() << " " << op->getPropertiesAsAttribute() << " ";
  llvm::interleaveComma(op->getOperandTypes(), stream);
  stream << " -> ";
  llvm::interleaveComma(op->getResultTypes(), stream);
  return llvm::utohexstr(llvm::xxh3_64bits(text), /*LowerCase=*/true, /*Width=*/16);
}

static func::FuncOp getStep(ModuleOp module) { return *module.getOps<func::FuncOp>().begin(); }

Object reprise::writePlanFile(ModuleOp module, const PhaseOptions &phases) {
  Block &block = getStep(module).getBody().front();
  ValueIds ids(block);
  Array ops, values;
  for (Operation &op : block.without_terminator()) {
    ops.push_back(signOp(&op));
    auto choices = op.getAttrOfType<ArrayAttr>(kChoicesAttr);
    for (OpResult result : op.getResults())
      if (choices)
        values.push_back(
            Object{{"id", ids.get(result)},
                   {"choice", cast<StringAttr>(choices[result.getResultNumber()]).getValue()}});
  }
  Object plan{{"version", 1},
              {"bodies_recomputed", phases.recomputeBodies},
              {"unrolled", phases.unroll},
              {"deferred", phases.deferGradient},
              {"enough_arena", phases.enoughArena},
              {"ops", std::move(ops)}};
  if (values.empty())
    plan["values"] = nullptr;
  else
    plan["values"] = std::move(values);
  return plan;
}

void reprise::readPhases(const llvm::json::Value &plan, PhaseOptions &phases) {
  const Object *object = plan.getAsObject();
  if (!object)
    return;
  phases.recomputeBodies |= object->getBoolean("bodies_recomputed").value_or(false);
  phases.unroll |= object->getBoolean("unrolled").value_or(false);
  phases.deferGradient |= object->getBoolean("deferred").value_or(false);
}

/// The plan is one of this graph if all signatures are equal.
static LogicalResult compareOps(Block &block, const Array &ops) {
  size_t next = 0;
  for (Operation &op : block.without_terminator()) {
    if (next == ops.size() || ops[next].getAsString() != StringRef(signOp(&op)))
      return op.emitError("the plan is one of another graph, which differs here, in op ")
             << next << ": " << op.getName();
    ++next;
  }
  if (next < ops.size())
    return block.getParentOp()->emitError("the plan is one of another graph, of ")
           << ops.size() << " ops instead of " << next;
  return success();
}

/// The choices by value id.
static FailureOr<llvm::StringMap<StringRef>> collectChoices(ModuleOp module, const Array &values) {
  llvm::StringMap<StringRef> choices;
  for (const llvm::json::Value &value : values) {
    const Object *entry = value.getAsObject();
    std::optional<StringRef> id = entry ? entry->getString("id") : std::nullopt;
    std::optional<StringRef> choice = entry ? entry->getString("choice") : std::nullopt;
    if (!id || !choice)
      return module.emitError("the plan is malformed: expected \"id\" and \"choice\" per value");
    if (!choices.try_emplace(*id, *choice).second)
      return module.emitError("the plan chooses twice for the value '") << *id << "'";
  }
  return choices;
}

/// Why the value cannot have that choice; empty if it can.
static std::string findFault(const checkpoint::Problem::Value &value, StringRef choice) {
  if (!llvm::is_contained({"save", "replay", "replay per unit"}, choice))
    return ("has the unknown choice '" + choice + "'").str();
  if (value.label == checkpoint::Problem::Label::MustSave && choice != "save")
    return "is replayed, but its label says must_save";
  return "";
}

/// Each value of a gradient's forward part has its choice, and no other value has one.
static LogicalResult writeChoices(func::FuncOp step, llvm::StringMap<StringRef> &choices) {
  ValueIds ids(step.getBody().front());
  for (const PlanningScope &scope : findPlanningScopes(step))
    for (auto [i, op] : llvm::enumerate(scope.ops)) {
      const checkpoint::Problem::Operation &operation = scope.problem.operations[i];
      if (!operation.primal || op->getNumResults() == 0)
        continue;
      SmallVector<StringRef> own;
      for (OpResult result : op->getResults()) {
        auto found = choices.find(ids.get(result));
        if (found == choices.end())
          return op->emitError("the plan has no choice for the value '") << ids.get(result) << "'";
        const checkpoint::Problem::Value &value =
            scope.problem.values[operation.firstResult + result.getResultNumber()];
        if (std::string fault = findFault(value, found->second); !fault.empty())
          return op->emitError("in the plan the value '") << ids.get(result) << "' " << fault;
        own.push_back(found->second);
        choices.erase(found);
      }
      op->setDiscardableAttr(kChoicesAttr, Builder(op->getContext()).getStrArrayAttr(own));
    }
  if (choices.empty())
    return success();
  std::vector<StringRef> left(choices.keys().begin(), choices.keys().end());
  return step.emitError("the plan names a value that there is not: '")
         << *llvm::min_element(left) << "'";
}

FailureOr<int64_t> reprise::readPlanFile(ModuleOp module, const llvm::json::Value &plan) {
  const Object *object = plan.getAsObject();
  const Array *ops = object ? object->getArray("ops") : nullptr;
  const llvm::json::Value *values = object ? object->get("values") : nullptr;
  std::optional<int64_t> enough = object ? object->getInteger("enough_arena") : std::nullopt;
  bool isPlan =
      ops && values && enough && *enough >= 0 && (values->getAsArray() || values->getAsNull());
  if (!isPlan || object->getInteger("version") != 1)
    return module.emitError("the plan is malformed: expected what --plan-out writes, version 1");
  Block &block = getStep(module).getBody().front();
  if (failed(compareOps(block, *ops)))
    return failure();
  if (values->getAsNull())
    return *enough;
  auto choices = collectChoices(module, *values->getAsArray());
  if (failed(choices) || failed(::writeChoices(getStep(module), *choices)))
    return failure();
  return *enough;
}
