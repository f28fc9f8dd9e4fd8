// reprise: branches, and ops that return their operands
#include "Checkpoints.h"
#include "Importer.h"

#include "mlir/Transforms/RegionUtils.h"
#include "reprise/Dialect/Reprise/IR/PlanAttributes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace reprise::stablehlo {
namespace {

Values importIdentity(Source &s) { return s.operands; }

Values importSharding(Source &s) {
  emitRemark(s.op->getLoc())
      << "the sharding of a value that is no argument is not read: it follows "
         "from those of the arguments";
  return s.operands;
}

Values importName(Source &s) {
  std::string name = s.word("value_name");
  if (s.operands.size() != 1 || name.empty())
    return s.refuse("has an unknown form");
  return {NameOp::create(s.b(), s.operands[0], name)};
}

/// Labels the op that computes the operand. An argument or a constant needs no label.
Values importLabel(Source &s) {
  std::optional<Label> label = symbolizeLabel(s.word("label"));
  if (s.operands.size() != 1 || !label)
    return s.refuse("has an unknown form");
  Operation *maker = s.operands[0].getDefiningOp();
  if (maker && maker->getNumRegions() == 0 && !maker->hasTrait<OpTrait::ConstantLike>())
    maker->setAttr(kLabelAttr, LabelAttr::get(s.op->getContext(), *label));
  return s.operands;
}

/// Imports a custom derivative. The op's operands are primals, one per result; inputs, one per
/// result of the named function; and residuals, which that function reads before the primals'
/// cotangents.
Values importCustomVjp(Source &s) {
  Builder &b = s.b();
  func::FuncOp backward =
      s.importer.findCallee(s.op->getAttrOfType<ArrayAttr>("called_computations"));
  size_t primals = s.op->getNumResults();
  if (!backward || primals + backward.getNumResults() > s.operands.size())
    return s.refuse("has an unknown form");
  ArrayRef<Value> given(s.operands);
  Values inputs(given.slice(primals, backward.getNumResults()));
  Values arguments(given.drop_front(primals + inputs.size()));
  Location location = b.getLoc();
  Region body;
  Block &block = body.emplaceBlock();
  for (Value primal : given.take_front(primals))
    if (isFloat(primal))
      arguments.push_back(block.addArgument(primal.getType(), location));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&block);
    Values cotangents = s.importer.importCallee(s.op, backward, arguments);
    b.setLoc(location);
    YieldOp::create(b, cotangents);
  }
  b.setLoc(location);
  if (ValueRange(inputs).getTypes() != block.getTerminator()->getOperandTypes())
    return s.refuse("has an unknown form");
  auto op = CustomVjpOp::create(b, ValueRange(given.take_front(primals)).getTypes(),
                                given.take_front(primals), inputs);
  op.getBody().takeBody(body);
  return Values(op.getResults());
}

Values importCustomCall(Source &s) {
  std::string target = s.word("call_target_name");
  if (auto symbol = s.op->getAttrOfType<FlatSymbolRefAttr>("call_target_name"))
    target = symbol.getValue().str();
  if (target == "reprise.name")
    return importName(s);
  if (target == "reprise.label")
    return importLabel(s);
  if (target == "reprise.custom_vjp")
    return importCustomVjp(s);
  if (target == "Sharding")
    return importSharding(s);
  if (target == kCallMark || target == "SPMDFullToShardShape" || target == "SPMDShardToFullShape")
    return s.operands;
  if (target == "reprise.stop_gradient")
    return {stopGradient(s.b(), s.operands[0])};
  return s.refuse("of '" + target + "'");
}

/// Values that a branch reads from above. A branch that is not taken must not spoil gradients, as 0
/// · NaN would, so its inputs have no gradient if it is not taken.
class BranchInputs {
public:
  BranchInputs(Source &s, Region &region, Value isTaken) : values(s.importer.values) {
    SetVector<Value> read;
    getUsedValuesDefinedAbove(region, read);
    for (Value source : read) {
      Value own = values.lookup(source);
      before.emplace_back(source, own);
      if (!isFloat(own) || constantFloat(own))
        continue;
      Value taken = broadcast(s.b(), isTaken, typeOf(own).getShape(), {});
      values.map(source, select(s.b(), taken, own, stopGradient(s.b(), own)));
    }
  }
  ~BranchInputs() {
    for (auto [source, own] : before)
      values.map(source, own);
  }

private:
  IRMapping &values;
  std::vector<std::pair<Value, Value>> before;
};

/// Returns whether a branch is taken; an index out of range takes the last branch.
Value isTaken(Source &s, Region &region) {
  Builder &b = s.b();
  Value index = s.operands[0];
  int64_t number = region.getRegionNumber(), last = s.op->getNumRegions() - 1;
  if (elementOf(index).isInteger(1))
    return number == 0 ? index : NotOp::create(b, index).getResult();
  auto is = [&](ComparePredicate predicate, int64_t other) {
    return compare(b, predicate, index, splatInteger(b, typeOf(index), other));
  };
  if (number < last)
    return is(ComparePredicate::eq, number);
  Value isBelow = is(ComparePredicate::lt, 0), isAbove = is(ComparePredicate::ge, last);
  return OrOp::create(b, isBelow.getType(), isBelow, isAbove);
}

/// The results of all branches, and a choice: ops have no effects.
Values importCase(Source &s) {
  Builder &b = s.b();
  Value index = s.operands[0];
  bool isKnown = typeOf(index).getRank() == 0 && !isFloat(index);
  for (Region &region : s.op->getRegions())
    isKnown &= region.getNumArguments() == 0 &&
               region.front().back().getOperandTypes() == s.op->getResultTypes();
  if (!isKnown)
    return s.refuse("has an unknown form");
  Location location = b.getLoc();
  Values chosen;
  for (Region &region : llvm::reverse(s.op->getRegions())) {
    Value isIt = isTaken(s, region);
    Values branch;
    {
      BranchInputs inputs(s, region, isIt);
      branch = s.importer.importRegion(region, {});
    }
    b.setLoc(location);
    if (chosen.empty()) {
      chosen = branch;
      continue;
    }
    for (auto [value, other] : llvm::zip(chosen, branch))
      value = select(b, broadcast(b, isIt, typeOf(value).getShape(), {}), other, value);
  }
  return chosen;
}

} // namespace

void addControl(Handlers &handlers) {
  handlers["stablehlo.optimization_barrier"] = {importIdentity};
  handlers["sdy.sharding_constraint"] = {importSharding};
  handlers["stablehlo.custom_call"] = {importCustomCall};
  handlers["stablehlo.case"] = {importCase, 1, Handler::kAny};
  handlers["stablehlo.if"] = {importCase, 1, Handler::kAny};
  handlers["stablehlo.while"] = {importWhile, Handler::kAny, 2};
}

} // namespace reprise::stablehlo
