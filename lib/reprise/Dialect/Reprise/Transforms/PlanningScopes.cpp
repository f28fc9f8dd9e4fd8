// reprise: what is planned under a budget, as numbers, and the way of a plan back into the graph
#include "reprise/Dialect/Reprise/Transforms/PlanningScopes.h"

#include "Translation.h"

using namespace mlir;
using namespace reprise;
using checkpoint::Choice;

static std::optional<Choice> parseChoice(Attribute attribute) {
  auto string = dyn_cast<StringAttr>(attribute);
  return string ? checkpoint::parseChoice(string.getValue()) : std::nullopt;
}

FailureOr<std::vector<Choice>> reprise::readChoices(ArrayRef<Operation *> ops) {
  std::vector<Choice> choices;
  bool isPlanned = false;
  for (Operation *op : ops) {
    if (!op)
      continue;
    auto list = op->getAttrOfType<ArrayAttr>(kChoicesAttr);
    // The plan of a loop's body may have added stacks to its results: they go with the last one, if
    // any is left.
    bool isWider = list && isa<LoopOp>(op) && list.size() < op->getNumResults();
    if (list && list.size() != op->getNumResults() && !isWider)
      return op->emitError("expected one of '") << kChoicesAttr << "' per result";
    isPlanned |= list != nullptr;
    // Views that the plan of a body added are no values of their own.
    Choice unnamed = isa<ViewOpInterface>(op) ? Choice::Replay : Choice::Save;
    for (unsigned i = 0; i < op->getNumResults(); ++i) {
      std::optional<Choice> choice =
          list && !list.empty() ? parseChoice(list[std::min<size_t>(i, list.size() - 1)]) : unnamed;
      if (!choice)
        return op->emitError("unknown choice in '") << kChoicesAttr << "': " << list[i];
      choices.push_back(*choice);
    }
  }
  if (!isPlanned)
    choices.clear();
  return choices;
}

/// Loops whose bodies hold nothing to plan make an empty scope.
static std::vector<PlanningScope>
translateScopes(func::FuncOp function, llvm::function_ref<bool(const Scope &)> isWanted) {
  std::vector<PlanningScope> result;
  for (Scope &scope : findScopes(function)) {
    if (llvm::none_of(scope, [](Operation *op) { return op; }) || !isWanted(scope))
      continue;
    PlanningScope planned;
    planned.ops = scope;
    planned.problem = std::move(Translation(scope).problem);
    result.push_back(std::move(planned));
  }
  return result;
}

static bool isOutermost(const Scope &scope, func::FuncOp function) {
  return scope.front() && scope.front()->getBlock() == &function.getBody().front();
}

std::vector<PlanningScope> reprise::findPlanningScopes(func::FuncOp function) {
  return translateScopes(function, [&](const Scope &scope) {
    return isOutermost(scope, function) && llvm::any_of(scope, isCotangent);
  });
}

std::optional<PlanningScope> reprise::findJointScope(func::FuncOp function) {
  std::vector<PlanningScope> scopes = findPlanningScopes(function);
  if (scopes.empty())
    return std::nullopt;
  if (scopes.size() == 1)
    return std::move(scopes.front());
  PlanningScope joint;
  std::vector<size_t> home; // per operation
  for (auto [number, scope] : llvm::enumerate(scopes)) {
    joint.ops.append(scope.ops);
    home.resize(joint.ops.size(), number);
  }
  joint.problem = std::move(Translation(joint.ops).problem);
  for (auto [own, operation] : llvm::zip(home, joint.problem.operations))
    for (int operand : operation.operands)
      if (operand != checkpoint::kAvailable) {
        checkpoint::Problem::Value &value = joint.problem.values[operand];
        value.outlives |= home[value.operation] != own;
      }
  return joint;
}

std::vector<PlanningScope> reprise::findBodyScopes(func::FuncOp function) {
  return translateScopes(function,
                         [&](const Scope &scope) { return !isOutermost(scope, function); });
}

void reprise::writeChoices(const PlanningScope &scope, ArrayRef<Choice> choices) {
  for (auto [i, op] : llvm::enumerate(scope.ops)) {
    if (!op || !isPrimal(op) || op->getNumResults() == 0)
      continue;
    Builder builder(op->getContext());
    SmallVector<StringRef> list;
    for (unsigned r = 0; r < op->getNumResults(); ++r)
      list.push_back(getText(choices[scope.problem.operations[i].firstResult + r]));
    op->setDiscardableAttr(kChoicesAttr, builder.getStrArrayAttr(list));
  }
}

void reprise::clearChoices(const PlanningScope &scope) {
  for (Operation *op : scope.ops)
    if (op)
      op->removeDiscardableAttr(kChoicesAttr);
}

void reprise::dropLabels(ModuleOp module) {
  module.walk([](Operation *op) {
    for (StringRef name : {kLabelAttr, kRuleAttr, kResultLabelsAttr, kResultRulesAttr})
      op->removeDiscardableAttr(name);
    if (isPrimal(op) && op->getParentOfType<LoopOp>())
      op->setDiscardableAttr(kLabelAttr, LabelAttr::get(op->getContext(), Label::prefer_save));
  });
}
