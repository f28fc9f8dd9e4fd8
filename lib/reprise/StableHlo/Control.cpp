// reprise: branches and what leaves values as they are
#include "Checkpoints.h"
#include "Importer.h"

using namespace mlir;

namespace reprise::stablehlo {
namespace {

Values importIdentity(Source &s) { return s.operands; }

Values importCustomCall(Source &s) {
  std::string target = s.word("call_target_name");
  if (auto symbol = s.op->getAttrOfType<FlatSymbolRefAttr>("call_target_name"))
    target = symbol.getValue().str();
  if (target == "Sharding" || target == kCallMark || target == "SPMDFullToShardShape" ||
      target == "SPMDShardToFullShape")
    return s.operands;
  if (target == "reprise.stop_gradient")
    return {stopGradient(s.b(), s.operands[0])};
  return s.refuse("of '" + target + "'");
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
    return s.refuse("has a form that is not known");
  Location location = b.getLoc();
  Values chosen;
  for (Region &region : llvm::reverse(s.op->getRegions())) {
    Values branch = s.importer.importRegion(region, {});
    b.setLoc(location);
    if (chosen.empty()) {
      chosen = branch;
      continue;
    }
    int64_t number = region.getRegionNumber();
    Value isIt = index;
    if (!elementOf(index).isInteger(1))
      isIt = compare(b, ComparePredicate::eq, index, splatInteger(b, typeOf(index), number));
    for (auto [value, other] : llvm::zip(chosen, branch))
      value = select(b, broadcast(b, isIt, typeOf(value).getShape(), {}), other, value);
  }
  return chosen;
}

} // namespace

void addControl(Handlers &handlers) {
  handlers["stablehlo.optimization_barrier"] = {importIdentity};
  handlers["sdy.sharding_constraint"] = {importIdentity};
  handlers["stablehlo.custom_call"] = {importCustomCall};
  handlers["stablehlo.case"] = {importCase, 1, Handler::kAny};
  handlers["stablehlo.if"] = {importCase, 1, Handler::kAny};
  handlers["stablehlo.while"] = {importWhile, Handler::kAny, 2};
}

} // namespace reprise::stablehlo
