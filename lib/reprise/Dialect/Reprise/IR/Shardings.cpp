// reprise: attributes that name the axis of a mesh along which a dimension is cut
#include "reprise/Dialect/Reprise/IR/Shardings.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace reprise {

ArrayAttr makeSharding(MLIRContext *context, int64_t rank, int64_t dim) {
  SmallVector<Attribute> axes(rank, UnitAttr::get(context));
  if (dim >= 0)
    axes[dim] = StringAttr::get(context, kModelAxis);
  return ArrayAttr::get(context, axes);
}

int64_t findShardedDim(ArrayAttr sharding) {
  const auto *found = llvm::find_if(sharding, llvm::IsaPred<StringAttr>);
  return found == sharding.end() ? -1 : found - sharding.begin();
}

} // namespace reprise
