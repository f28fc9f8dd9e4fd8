// reprise: how labels and the plan are written on the ops of the graph.
#include "Plan.h"

#include "Aliases.h"
#include "reprise/Policy/Policy.h"
#include "reprise/Support/ByteSize.h"

using namespace mlir;

namespace reprise {

std::optional<Label> getLabel(OpResult result) {
  Operation *op = result.getOwner();
  if (auto labels = op->getAttrOfType<ArrayAttr>(kResultLabelsAttr))
    if (result.getResultNumber() < labels.size())
      if (auto label = dyn_cast<LabelAttr>(labels[result.getResultNumber()]))
        return label.getValue();
  if (auto label = op->getAttrOfType<LabelAttr>(kLabelAttr))
    return label.getValue();
  return std::nullopt;
}

StringRef getRule(OpResult result) {
  Operation *op = result.getOwner();
  if (auto rules = op->getAttrOfType<ArrayAttr>(kResultRulesAttr))
    if (result.getResultNumber() < rules.size())
      if (auto rule = dyn_cast<StringAttr>(rules[result.getResultNumber()]); rule && !rule.empty())
        return rule;
  if (auto rule = op->getAttrOfType<StringAttr>(kRuleAttr))
    return rule;
  return "";
}

bool wantsRecompute(Operation *op) {
  return llvm::all_of(op->getOpResults(), [](OpResult result) {
    std::optional<Label> label = getLabel(result);
    return label && asksToRecompute(*label);
  });
}

int64_t getOrder(Operation *op) {
  auto order = op->getAttrOfType<IntegerAttr>(kOrderAttr);
  return order ? order.getInt() : 0;
}

int64_t getReplay(Operation *op) {
  auto replay = op->getAttrOfType<IntegerAttr>("replay");
  return replay ? replay.getInt() : 0;
}

bool isPrimal(Operation *op) { return op->hasAttr(kPrimalAttr); }
bool isCotangent(Operation *op) { return op->hasAttr(kCotangentAttr); }

std::vector<Scope> findScopes(func::FuncOp function) {
  std::vector<Scope> scopes;
  bool seenCotangent = true;
  for (Operation &op : function.getBody().front()) {
    if ((!isPrimal(&op) && !isCotangent(&op)) || op.hasTrait<OpTrait::ConstantLike>() ||
        getReplay(&op) != 0)
      continue;
    if (scopes.empty() || (isPrimal(&op) && seenCotangent))
      scopes.emplace_back();
    seenCotangent = isCotangent(&op);
    scopes.back().push_back(&op);
  }
  return scopes;
}

llvm::StringSet<> collectArgumentNames(func::FuncOp function) {
  llvm::StringSet<> names;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (auto name = function.getArgAttrOfType<StringAttr>(i, "reprise.name"))
      names.insert(name.getValue());
  return names;
}

/// The buffers of results that are an argument's next value.
static DenseSet<Value> collectState(func::FuncOp function, Aliases &aliases) {
  llvm::StringSet<> arguments = collectArgumentNames(function);
  DenseSet<Value> state;
  for (OpOperand &operand : function.getBody().front().getTerminator()->getOpOperands()) {
    auto name =
        function.getResultAttrOfType<StringAttr>(operand.getOperandNumber(), "reprise.name");
    if (name && arguments.contains(name.getValue()))
      state.insert(aliases.getRoot(operand.get()));
  }
  return state;
}

int64_t countSavedBytes(func::FuncOp function) {
  Aliases aliases;
  DenseSet<Value> counted = collectState(function, aliases);
  int64_t bytes = 0;
  for (Operation &op : function.getBody().front()) {
    if (!isCotangent(&op) && getReplay(&op) == 0)
      continue;
    for (Value operand : op.getOperands()) {
      Value root = aliases.getRoot(operand);
      Operation *definition = root.getDefiningOp();
      bool saved = definition && isPrimal(definition) && getReplay(definition) == 0 &&
                   !definition->hasTrait<OpTrait::ConstantLike>();
      if (saved && counted.insert(root).second)
        bytes += getByteSize(root.getType());
    }
  }
  return bytes;
}

} // namespace reprise
