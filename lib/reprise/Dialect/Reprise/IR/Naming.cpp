// reprise: names of values and places in reports, plans and messages.
#include "reprise/Dialect/Reprise/IR/Naming.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Support/Wording.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

std::string reprise::insertIteration(StringRef scope, StringRef ofLoop, int64_t k) {
  StringRef stem = scope.empty() ? ofLoop : scope, rest;
  if (stem.empty())
    return "";
  if (stem == ofLoop || (!ofLoop.empty() && stem.starts_with((ofLoop + "/").str()))) {
    rest = stem.drop_front(ofLoop.size());
    stem = ofLoop;
  }
  return (stem + "/" + Twine(k) + rest).str();
}

std::string reprise::describeOp(Operation *op) {
  // Bundles hold this text. If there is a scope, the text does not depend on the path of the
  // model's file.
  std::string scope = getScope(op->getLoc());
  std::string place = scope.empty() ? getPlace(op->getLoc()) : "";
  return op->getName().getStringRef().str() + (scope.empty() ? "" : " in " + scope) +
         (place.empty() ? "" : " at " + place);
}

std::string reprise::findEntryFault(ModuleOp module, StringRef entry) {
  std::vector<StringRef> known;
  bool isPrivate = false;
  for (auto function : module.getOps<FunctionOpInterface>()) {
    bool isMeant = function.getName() == entry && !function.isExternal();
    if (isMeant && !function.isPrivate())
      return "";
    isPrivate |= isMeant;
    if (!function.isPrivate() && !function.isExternal())
      known.push_back(function.getName());
  }
  std::string wrong = isPrivate ? "'" + entry.str() + "' is a private function and no entry"
                                : "unknown entry '" + entry.str() + "'";
  return wrong + suggest(entry, known);
}

reprise::ValueIds::ValueIds(Block &block) {
  llvm::StringMap<unsigned> ordinals;
  block.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isReplay(op))
      return;
    std::string stem = getScope(op->getLoc());
    stem += (stem.empty() ? "" : "/") + op->getName().stripDialect().str();
    stems[op] = stem + "#" + std::to_string(ordinals[stem]++);
  });
}

std::string reprise::ValueIds::get(OpResult original) const {
  return stems.lookup(original.getOwner()) + ":" + std::to_string(original.getResultNumber());
}
