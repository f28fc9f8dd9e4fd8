// reprise: how reports, plans and messages name values and places.
#include "reprise/Dialect/Reprise/IR/Naming.h"

#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

std::string reprise::getScope(Location location) {
  std::string scope;
  location->walk([&](Location part) {
    if (auto name = dyn_cast<NameLoc>(part); name && scope.empty())
      scope = name.getName().str();
    return WalkResult::advance();
  });
  return scope;
}

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

std::string reprise::getPlace(Location location) {
  std::string place;
  location->walk([&](Location part) {
    if (auto line = dyn_cast<FileLineColLoc>(part); line && place.empty())
      place = line.getFilename().str() + ":" + std::to_string(line.getLine()) + ":" +
              std::to_string(line.getColumn());
    return WalkResult::advance();
  });
  return place;
}

std::string reprise::describeOp(Operation *op) {
  std::string scope = getScope(op->getLoc()), place = getPlace(op->getLoc());
  return op->getName().getStringRef().str() + (scope.empty() ? "" : " in " + scope) +
         (place.empty() ? "" : " at " + place);
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
