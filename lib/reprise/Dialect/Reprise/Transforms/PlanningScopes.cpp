// reprise: planning problems under a budget, as numbers, and the application of plans to the graph
#include "reprise/Dialect/Reprise/Transforms/PlanningScopes.h"

#include "Translation.h"

using namespace mlir;
using namespace reprise;
using checkpoint::Choice;

static std::optional<Choice> readChoice(Attribute attribute) {
  auto choice = dyn_cast<PlanChoiceAttr>(attribute);
  return choice ? std::optional(static_cast<Choice>(choice.getValue())) : std::nullopt;
}

FailureOr<std::vector<Choice>> reprise::readChoices(ArrayRef<Operation *> ops) {
  std::vector<Choice> choices;
  bool isPlanned = false;
  for (Operation *op : ops) {
    if (!op)
      continue;
    auto list = op->getAttrOfType<ArrayAttr>(kChoicesAttr);
    // The plan of a loop's body may have added stacks to its results: we erase them with the last
    // result, if any is left.
    bool isWider = list && isa<LoopOp>(op) && list.size() < op->getNumResults();
    if (list && list.size() != op->getNumResults() && !isWider)
      return op->emitError("expected one of '") << kChoicesAttr << "' per result";
    isPlanned |= list != nullptr;
    // Views that the plan of a body added are no values of their own.
    Choice unnamed = isa<ViewOpInterface>(op) ? Choice::Replay : Choice::Save;
    for (unsigned i = 0; i < op->getNumResults(); ++i) {
      std::optional<Choice> choice =
          list && !list.empty() ? readChoice(list[std::min<size_t>(i, list.size() - 1)]) : unnamed;
      if (!choice)
        return op->emitError("unknown choice in '") << kChoicesAttr << "': " << list[i];
      choices.push_back(*choice);
    }
  }
  if (!isPlanned)
    choices.clear();
  return choices;
}

static PlanningScope translate(Scope scope) {
  PlanningScope planned;
  planned.problem = std::move(Translation(scope).problem);
  planned.ops = std::move(scope);
  return planned;
}

static bool isOutermost(const Scope &scope, ProgramOp function) {
  return scope.front() && scope.front()->getBlock() == &function.getBody().front();
}

/// Returns whether an op may read a value after the forward pass of that value. If the loss does
/// not depend on the parameters, only gradients inside the forward pass have such ops.
static bool mayReadBack(Operation *op) { return op && (isCotangent(op) || getOrder(op) > 0); }

/// Returns scopes that are not empty. Loops whose bodies have nothing to plan make an empty scope.
static std::vector<Scope> selectScopes(ProgramOp function, bool areOutermost) {
  std::vector<Scope> scopes = findScopes(function);
  llvm::erase_if(scopes, [&](const Scope &scope) {
    return llvm::none_of(scope, [](Operation *op) { return op; }) ||
           isOutermost(scope, function) != areOutermost ||
           (areOutermost && llvm::none_of(scope, mayReadBack));
  });
  return scopes;
}

static std::vector<PlanningScope> translateAll(std::vector<Scope> scopes) {
  std::vector<PlanningScope> planned;
  for (Scope &scope : scopes)
    planned.push_back(translate(std::move(scope)));
  return planned;
}

std::vector<PlanningScope> reprise::findPlanningScopes(ProgramOp function) {
  return translateAll(selectScopes(function, /*areOutermost=*/true));
}

std::optional<PlanningScope> reprise::findJointScope(ProgramOp function) {
  std::vector<Scope> scopes = selectScopes(function, /*areOutermost=*/true);
  if (scopes.empty())
    return std::nullopt;
  if (scopes.size() == 1)
    return translate(std::move(scopes.front()));
  Scope all;
  std::vector<size_t> home; // scope per operation
  for (auto [number, scope] : llvm::enumerate(scopes)) {
    all.append(scope);
    home.resize(all.size(), number);
  }
  PlanningScope joint = translate(std::move(all));
  for (auto [own, operation] : llvm::zip(home, joint.problem.operations))
    for (int operand : operation.operands)
      if (operand != checkpoint::kAvailable) {
        checkpoint::Problem::Value &value = joint.problem.values[operand];
        value.outlives |= home[value.operation] != own;
      }
  return joint;
}

bool reprise::isOneScope(ProgramOp function) {
  return llvm::count_if(findScopes(function), [&](const Scope &scope) {
           return !scope.empty() && isOutermost(scope, function);
         }) <= 1;
}

std::vector<PlanningScope> reprise::findBodyScopes(ProgramOp function) {
  return translateAll(selectScopes(function, /*areOutermost=*/false));
}

std::optional<NamedExecutions> reprise::findPlaces(ProgramOp program, ArrayRef<Operation *> ops,
                                                   std::vector<checkpoint::Execution> executions) {
  DenseMap<Operation *, int> numbers;
  for (auto [number, op] : llvm::enumerate(ops))
    numbers[op] = static_cast<int>(number);
  std::vector<std::pair<Operation *, int>>
      behind; // per op of the program: itself, and the next one
  for (Operation &op : program.getBody().front().without_terminator())
    behind.push_back({&op, numbers.lookup_or(&op, -1)});
  int next = -1;
  for (auto &[op, number] : llvm::reverse(behind))
    next = number = number < 0 ? next : number;
  NamedExecutions named{std::move(executions), {}};
  for (checkpoint::Execution &execution : named.executions) {
    if (execution.before >= static_cast<int>(behind.size()))
      return std::nullopt;
    named.places.push_back(execution.before < 0 ? nullptr : behind[execution.before].first);
    execution.before = execution.before < 0 ? -1 : behind[execution.before].second;
  }
  return named;
}

void reprise::writeChoices(const PlanningScope &scope, ArrayRef<Choice> choices) {
  for (auto [i, op] : llvm::enumerate(scope.ops)) {
    if (!op || !isPrimal(op) || op->getNumResults() == 0)
      continue;
    MLIRContext *context = op->getContext();
    SmallVector<Attribute> list;
    for (unsigned r = 0; r < op->getNumResults(); ++r) {
      Choice choice = choices[scope.problem.operations[i].firstResult + r];
      list.push_back(PlanChoiceAttr::get(context, static_cast<PlanChoice>(choice)));
    }
    op->setDiscardableAttr(kChoicesAttr, ArrayAttr::get(context, list));
  }
}

std::optional<Verdict> reprise::readVerdict(OpResult value) {
  unsigned number = value.getResultNumber();
  auto read = [&](StringRef name) {
    auto list = value.getOwner()->getAttrOfType<ArrayAttr>(name);
    return list && number < list.size() ? list[number] : Attribute();
  };
  auto decision = dyn_cast_or_null<PlanDecisionAttr>(read(kDecisionsAttr));
  Attribute why = read(kReasonsAttr);
  if (!decision || !isa_and_nonnull<PlanReasonAttr, StringAttr>(why))
    return std::nullopt;
  auto decided = static_cast<checkpoint::Decision>(decision.getValue());
  if (auto rule = dyn_cast<StringAttr>(why))
    return Verdict{decided, checkpoint::Reason::Label, rule.getValue()};
  return Verdict{decided, static_cast<checkpoint::Reason>(cast<PlanReasonAttr>(why).getValue()),
                 ""};
}

StringRef reprise::readLabel(OpResult value) {
  std::optional<Label> label = getLabel(value);
  return label ? stringifyLabel(*label) : "";
}

static void removeLabels(Operation *op) {
  for (StringRef name : {kLabelAttr, kRuleAttr, kResultLabelsAttr, kResultRulesAttr})
    op->removeDiscardableAttr(name);
}

void reprise::replaceLabels(Operation *op, ArrayRef<StringRef> labels) {
  Builder builder(op->getContext());
  StringAttr rule = builder.getStringAttr("plan file");
  auto convert = [&](StringRef label) -> Attribute {
    if (std::optional<Label> known = symbolizeLabel(label))
      return LabelAttr::get(op->getContext(), *known);
    return builder.getUnitAttr();
  };
  removeLabels(op);
  if (!llvm::all_equal(labels)) {
    SmallVector<Attribute> rules(labels.size(), rule);
    op->setDiscardableAttr(kResultLabelsAttr,
                           builder.getArrayAttr(llvm::map_to_vector(labels, convert)));
    op->setDiscardableAttr(kResultRulesAttr, builder.getArrayAttr(rules));
  } else if (!labels.empty() && !labels.front().empty()) {
    op->setDiscardableAttr(kLabelAttr, convert(labels.front()));
    op->setDiscardableAttr(kRuleAttr, rule);
  }
}

ArrayRef<int64_t> reprise::readBlocks(Operation *op) {
  auto blocks = op->getAttrOfType<DenseI64ArrayAttr>(kBlockAttr);
  return blocks ? blocks.asArrayRef() : ArrayRef<int64_t>();
}

void reprise::replaceBlocks(Operation *op, ArrayRef<int64_t> blocks) {
  op->removeDiscardableAttr(kBlockAttr);
  if (!blocks.empty())
    op->setDiscardableAttr(kBlockAttr, DenseI64ArrayAttr::get(op->getContext(), blocks));
}

void reprise::dropLabels(ModuleOp module) {
  module.walk([](Operation *op) {
    removeLabels(op);
    if (isPrimal(op) && op->getParentOfType<LoopOp>())
      op->setDiscardableAttr(kLabelAttr, LabelAttr::get(op->getContext(), Label::prefer_save));
  });
}
