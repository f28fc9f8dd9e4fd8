// reprise: the scope and the place in a location
#include "reprise/Support/Locations.h"

#include "mlir/IR/BuiltinAttributes.h"

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

Location reprise::getFlagLocation(MLIRContext *context, StringRef flag) {
  return FusedLoc::get(context, {UnknownLoc::get(context)}, StringAttr::get(context, flag));
}

StringRef reprise::getFlag(Location location) {
  auto flag = dyn_cast<FusedLocWith<StringAttr>>(location);
  return flag ? flag.getMetadata().getValue() : StringRef();
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
