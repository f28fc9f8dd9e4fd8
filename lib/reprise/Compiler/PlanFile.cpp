// reprise: plans as files
#include "PlanFile.h"

#include "reprise/Dialect/Reprise/IR/Naming.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Dialect/Reprise/Transforms/ProgramOrder.h"
#include "reprise/Support/Locations.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace reprise;
using checkpoint::Choice;
using checkpoint::Form;
using llvm::json::Array;
using llvm::json::Object;

/// Returns a signature of an op: its name, its own attributes, and the types of operands and
/// results.
static std::string signOp(Operation *op) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << op->getName() << " " << op->getPropertiesAsAttribute() << " ";
  llvm::interleaveComma(op->getOperandTypes(), stream);
  stream << " -> ";
  llvm::interleaveComma(op->getResultTypes(), stream);
  return llvm::utohexstr(llvm::xxh3_64bits(text), /*LowerCase=*/true, /*Width=*/16);
}

/// The choices of bodies that have any; null where everything is made again.
static llvm::json::Value writeBodies(const BodyPlan &bodies) {
  if (bodies.empty())
    return nullptr;
  Array scopes;
  for (const std::vector<Choice> &choices : bodies) {
    Array list;
    for (Choice choice : choices)
      list.push_back(StringRef(checkpoint::getText(choice)));
    scopes.push_back(std::move(list));
  }
  return scopes;
}

Object reprise::writePlanFile(ProgramOp step, const StepPlan &plan, bool isUnrolledModel) {
  Block &block = step.getBody().front();
  ValueIds ids(block);
  Array ops, values;
  for (Operation &op : block.without_terminator()) {
    ops.push_back(signOp(&op));
    auto choices = op.getAttrOfType<ArrayAttr>(kChoicesAttr);
    for (OpResult result : op.getResults())
      if (choices)
        values.push_back(Object{
            {"id", ids.get(result)},
            {"choice", stringifyPlanChoice(
                           cast<PlanChoiceAttr>(choices[result.getResultNumber()]).getValue())}});
  }
  Object file{{"version", 1},
              {"bodies", writeBodies(plan.bodies)},
              {"offloaded", Array(plan.offloaded)},
              {"enough_arena", plan.enoughArena},
              {"order", plan.order.empty() ? llvm::json::Value(nullptr) : Array(plan.order)},
              {"executions", writeExecutions(plan.executions)},
              {"ops", std::move(ops)}};
  for (std::string_view step : checkpoint::kFormTexts)
    file[StringRef(step)] = plan.form.count(*checkpoint::parseForm(step)) > 0;
  // A model may be unrolled without a plan.
  file["unrolled_for_plan"] = plan.form.count(checkpoint::Form::Unrolled) > 0;
  if (isUnrolledModel)
    file["unrolled"] = true;
  if (values.empty())
    file["values"] = nullptr;
  else
    file["values"] = std::move(values);
  return file;
}

static bool isSet(const Object &plan, StringRef key) {
  return plan.getBoolean(key).value_or(false);
}

/// Starts an error about the plan as a whole.
static InFlightDiagnostic emitPlanError(MLIRContext *context, StringRef path) {
  std::string flag = path.empty() ? "--plan-in" : ("--plan-in=" + path).str();
  return emitError(getFlagLocation(context, flag));
}

/// The entries of several programs; null in the file of one.
static const Array *findEntries(const llvm::json::Value &file) {
  const Object *object = file.getAsObject();
  return object ? object->getArray("programs") : nullptr;
}

SmallVector<const Object *> reprise::listPlans(const llvm::json::Value &file) {
  SmallVector<const Object *> plans;
  auto add = [&](const Object *plan) {
    if (plan)
      plans.push_back(plan);
  };
  const Array *entries = findEntries(file);
  if (!entries) {
    add(file.getAsObject());
    return plans;
  }
  for (const llvm::json::Value &entry : *entries)
    if (const Object *object = entry.getAsObject())
      add(object->getObject("plan"));
  return plans;
}

bool reprise::isOfUnrolledModel(const llvm::json::Value &file) {
  return llvm::any_of(listPlans(file), [](const Object *plan) {
    return isSet(*plan, "unrolled") && !isSet(*plan, "unrolled_for_plan");
  });
}

Object reprise::writePlans(const Compilation &compilation) {
  if (compilation.programs.size() == 1)
    return compilation.programs.front().plan;
  Array programs;
  for (const CompiledProgram &program : compilation.programs)
    programs.push_back(Object{{"program", program.name}, {"plan", Object(program.plan)}});
  return Object{{"version", 1}, {"programs", std::move(programs)}};
}

FailureOr<const llvm::json::Value *> reprise::findProgramPlan(ModuleOp module, ProgramOp program,
                                                              const CompileOptions &options,
                                                              size_t count) {
  const Array *programs = findEntries(*options.plan);
  if (!programs && count == 1)
    return options.plan;
  auto fail = [&] { return emitPlanError(module.getContext(), options.planPath); };
  if (!programs)
    return fail() << "the plan is for a single device program, and the model has " << count;
  const llvm::json::Value *found = nullptr;
  for (const llvm::json::Value &entry : *programs) {
    const Object *object = entry.getAsObject();
    if (!object || object->getString("program") != program.getName() || !object->get("plan"))
      continue;
    if (found)
      return fail() << "the plan has two parts for the device program '" << program.getName()
                    << "'";
    found = object->get("plan");
  }
  if (found)
    return found;
  return fail() << "the plan has no part for the device program '" << program.getName() << "'";
}

namespace {
/// Reads a plan for a step.
class PlanReader {
public:
  PlanReader(ProgramOp step, StringRef path) : step(step), path(path) {}

  FailureOr<StepPlan> read(const llvm::json::Value &file);

private:
  FailureOr<StepPlan> readForm(const Object &file);
  FailureOr<BodyPlan> readBodies(const Array &scopes);
  LogicalResult readOrder(ProgramOp formed, const Array &list, StepPlan &plan);
  LogicalResult compareOps(Block &block, const Array &ops);
  FailureOr<llvm::StringMap<StringRef>> collectChoices(const Array &values);
  FailureOr<std::vector<Choice>> takeChoices(const PlanningScope &scope, const ValueIds &ids,
                                             llvm::StringMap<StringRef> &choices);
  LogicalResult takeAllChoices(ProgramOp formed, const Array &values, StepPlan &plan);
  InFlightDiagnostic fail() { return emitPlanError(step.getContext(), path); }
  /// The plan in errors at an op of the model.
  std::string shown() const {
    return path.empty() ? "the plan" : ("the plan '" + path + "'").str();
  }

  ProgramOp step;
  StringRef path;
};
} // namespace

/// The choices for the bodies of loops, of the step without its form.
FailureOr<BodyPlan> PlanReader::readBodies(const Array &scopes) {
  BodyPlan plan;
  for (const llvm::json::Value &scope : scopes) {
    std::vector<Choice> &choices = plan.emplace_back();
    if (const Array *list = scope.getAsArray())
      for (const llvm::json::Value &entry : *list)
        if (std::optional<Choice> choice =
                checkpoint::parseChoice(entry.getAsString().value_or("")))
          choices.push_back(*choice);
  }
  std::vector<PlanningScope> own = findBodyScopes(step);
  bool isOfStep = own.size() == plan.size() && scopes.size() == plan.size();
  for (auto [scope, choices] : llvm::zip(own, plan))
    isOfStep &= scope.problem.values.size() == choices.size();
  if (!isOfStep)
    return fail() << "the plan is for another graph: its \"bodies\" do not match the loops of this "
                     "one";
  return plan;
}

/// The order of the ops of the step in its form.
LogicalResult PlanReader::readOrder(ProgramOp formed, const Array &list, StepPlan &plan) {
  for (const llvm::json::Value &number : list) {
    int64_t op = number.getAsInteger().value_or(-1);
    plan.order.push_back(llvm::isUInt<31>(op) ? static_cast<int>(op) : -1);
  }
  if (isPossible(formed, plan.order))
    return success();
  return fail() << "the plan is for another graph: its \"order\" runs an op before one that it "
                   "reads from";
}

FailureOr<StepPlan> PlanReader::readForm(const Object &file) {
  StepPlan plan;
  for (std::string_view step : checkpoint::kFormTexts)
    if (Form form = *checkpoint::parseForm(step);
        isSet(file, form == Form::Unrolled ? "unrolled_for_plan" : step))
      plan.form.insert(form);
  plan.enoughArena = *file.getInteger("enough_arena");
  if (const Array *numbers = file.getArray("offloaded"))
    for (const llvm::json::Value &number : *numbers)
      plan.offloaded.push_back(number.getAsInteger().value_or(-1));
  const Array *bodies = file.getArray("bodies");
  if (!bodies || !plan.form.count(Form::BodiesRecomputed))
    return plan;
  FailureOr<BodyPlan> read = readBodies(*bodies);
  if (failed(read))
    return failure();
  plan.bodies = std::move(*read);
  return plan;
}

/// Checks that the plan belongs to this graph: all signatures must be equal.
LogicalResult PlanReader::compareOps(Block &block, const Array &ops) {
  size_t next = 0;
  for (Operation &op : block.without_terminator()) {
    if (next == ops.size() || ops[next].getAsString() != StringRef(signOp(&op)))
      return op.emitError() << shown() << " is for another graph: op " << next << " of this one, "
                            << op.getName() << ", differs";
    ++next;
  }
  if (next < ops.size())
    return fail() << "the plan is for another graph of " << ops.size() << " ops, this one has "
                  << next;
  return success();
}

/// The choices by value id.
FailureOr<llvm::StringMap<StringRef>> PlanReader::collectChoices(const Array &values) {
  llvm::StringMap<StringRef> choices;
  for (const llvm::json::Value &value : values) {
    const Object *entry = value.getAsObject();
    std::optional<StringRef> id = entry ? entry->getString("id") : std::nullopt;
    std::optional<StringRef> choice = entry ? entry->getString("choice") : std::nullopt;
    if (!id || !choice)
      return fail() << "the plan is malformed: expected \"id\" and \"choice\" per value";
    if (!choices.try_emplace(*id, *choice).second)
      return fail() << "the plan has two choices for the value '" << *id << "'";
  }
  return choices;
}

/// Returns the reason why the value cannot have that choice; empty if it can.
static std::string findFault(const checkpoint::Problem::Value &value, StringRef text) {
  std::optional<Choice> choice = checkpoint::parseChoice(text);
  if (!choice)
    return ("has the unknown choice '" + text + "'").str();
  if (value.label == checkpoint::Problem::Label::MustSave && *choice != Choice::Save)
    return "is replayed, but its label is must_save";
  if (value.label == checkpoint::Problem::Label::MustRecompute && keepsOriginal(*choice) &&
      !value.outlives)
    return "is saved, but its label is must_recompute";
  return "";
}

/// Reads the choices. Each value of a gradient's forward part has a choice, and no other value has
/// one.
FailureOr<std::vector<Choice>> PlanReader::takeChoices(const PlanningScope &scope,
                                                       const ValueIds &ids,
                                                       llvm::StringMap<StringRef> &choices) {
  std::vector<Choice> taken(scope.problem.values.size(), Choice::Save);
  for (auto [i, op] : llvm::enumerate(scope.ops)) {
    const checkpoint::Problem::Operation &operation = scope.problem.operations[i];
    if (!operation.primal)
      continue;
    for (OpResult result : op->getResults()) {
      auto found = choices.find(ids.get(result));
      if (found == choices.end())
        return op->emitError() << shown() << " has no choice for the value '" << ids.get(result)
                               << "'";
      int id = operation.firstResult + static_cast<int>(result.getResultNumber());
      if (std::string fault = findFault(scope.problem.values[id], found->second); !fault.empty())
        return op->emitError() << "the value '" << ids.get(result) << "' of " << shown() << " "
                               << fault;
      taken[id] = *checkpoint::parseChoice(found->second);
      choices.erase(found);
    }
  }
  return taken;
}

LogicalResult PlanReader::takeAllChoices(ProgramOp formed, const Array &values, StepPlan &plan) {
  auto choices = collectChoices(values);
  if (failed(choices))
    return failure();
  ValueIds ids(formed.getBody().front());
  if (std::optional<PlanningScope> scope = findJointScope(formed)) {
    FailureOr<std::vector<Choice>> taken = takeChoices(*scope, ids, *choices);
    if (failed(taken))
      return failure();
    plan.choices = std::move(*taken);
  }
  if (choices->empty())
    return success();
  std::vector<StringRef> left(choices->keys().begin(), choices->keys().end());
  return fail() << "the value '" << *llvm::min_element(left)
                << "' of the plan does not exist in this graph";
}

FailureOr<StepPlan> PlanReader::read(const llvm::json::Value &file) {
  const Object *object = file.getAsObject();
  const Array *ops = object ? object->getArray("ops") : nullptr;
  const llvm::json::Value *values = object ? object->get("values") : nullptr;
  std::optional<int64_t> enough = object ? object->getInteger("enough_arena") : std::nullopt;
  bool isPlan = ops && values && enough && *enough >= 0 &&
                (values->getAsArray() || values->getAsNull()) && haveGoodOptions(*object);
  if (!isPlan || object->getInteger("version") != 1)
    return fail() << "the plan is malformed: expected what --plan-out writes, version 1";
  if (failed(takeLabels(step, *object)))
    return failure();
  FailureOr<StepPlan> plan = readForm(*object);
  if (failed(plan))
    return failure();
  OwningOpRef<ModuleOp> copy = copyAlone(step);
  ProgramOp formed = getAlone(*copy);
  const Array *order = object->getArray("order");
  if (failed(applyForm(formed, *plan)) || (order && failed(readOrder(formed, *order, *plan))))
    return failure();
  applyOrder(formed, plan->order);
  if (failed(compareOps(formed.getBody().front(), *ops)))
    return failure();
  if (values->getAsArray() && failed(takeAllChoices(formed, *values->getAsArray(), *plan)))
    return failure();
  const Array *executions = object->getArray("executions");
  if (executions && values->getAsArray())
    return fail() << "the plan is malformed: expected \"values\" or \"executions\", not both";
  if (executions)
    if (std::string fault = readExecutions(formed, *executions, plan->executions); !fault.empty())
      return fail() << "the plan " << fault;
  return plan;
}

FailureOr<StepPlan> reprise::readPlanFile(ProgramOp step, const llvm::json::Value &plan,
                                          StringRef path) {
  return PlanReader(step, path).read(plan);
}
