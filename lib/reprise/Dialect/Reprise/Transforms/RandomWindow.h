// reprise: windows of random draws
#ifndef REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_RANDOMWINDOW_H
#define REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_RANDOMWINDOW_H

#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise {

/// Moves the window of random words by `distance` indices of a dimension: words belong to elements
/// of the whole draw.
inline void moveWindow(mlir::OpBuilder &builder, RandomOpInterface random, int64_t dim,
                       int64_t distance) {
  llvm::SmallVector<int64_t> global = random.getDrawnGlobalShape();
  llvm::SmallVector<int64_t> first(global.size(), 0);
  first[dim] = distance;
  mlir::OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(random);
  auto type =
      mlir::RankedTensorType::get({static_cast<int64_t>(first.size())}, builder.getI64Type());
  mlir::Value origin = ConstantOp::create(
      builder, random.getLoc(), mlir::DenseElementsAttr::get(type, llvm::ArrayRef<int64_t>(first)));
  if (mlir::Value outer = random.getOriginOperand())
    origin = AddOp::create(builder, random.getLoc(), outer, origin);
  random.setWindow(origin, builder.getDenseI64ArrayAttr(global));
}

} // namespace reprise

#endif // REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_RANDOMWINDOW_H
