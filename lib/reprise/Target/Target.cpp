// reprise: finds a target by its name
#include "reprise/Target/Target.h"

#include "reprise/Dialect/Exec/IR/Attributes.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

using namespace mlir;

namespace reprise {

Target::~Target() = default;

int64_t getPlaceAlignment(Block &body) {
  auto alignment = body.getParentOp()->getAttrOfType<IntegerAttr>(exec::kPlaceAlignmentAttr);
  return alignment ? alignment.getInt() : widestAccess;
}

LogicalResult Target::get(StringRef name, Location location,
                          std::shared_ptr<const Target> &target) {
  auto *dialect = location.getContext()->getOrLoadDialect<RepriseDialect>();
  auto *provider = dialect->getRegisteredInterface<TargetProvider>();
  if (!provider)
    return emitError(location, "no targets are registered");
  return provider->find(name, location, target);
}

} // namespace reprise
