// reprise: casts that lose nothing
#ifndef REPRISE_DIALECT_REPRISE_IR_CASTS_H
#define REPRISE_DIALECT_REPRISE_IR_CASTS_H

#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise {

/// True for floats that come to lie in more bits, as they are.
inline bool widens(CastOp cast) {
  auto from = mlir::dyn_cast<mlir::FloatType>(getElementTypeOrSelf(cast.getOperand().getType()));
  auto to = mlir::dyn_cast<mlir::FloatType>(getElementTypeOrSelf(cast.getResult().getType()));
  return from && to && from.getWidth() < to.getWidth();
}

} // namespace reprise

#endif // REPRISE_DIALECT_REPRISE_IR_CASTS_H
