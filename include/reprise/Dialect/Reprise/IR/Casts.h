// reprise: floats of different widths, and casts between them
#ifndef REPRISE_DIALECT_REPRISE_IR_CASTS_H
#define REPRISE_DIALECT_REPRISE_IR_CASTS_H

#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise {

/// Returns whether a type, or the elements of a tensor, are 16-bit floats.
inline bool isHalf(mlir::Type type) {
  mlir::Type element = getElementTypeOrSelf(type);
  return element.isBF16() || element.isF16();
}

/// Returns the number of bits by which a cast widens floats; none if one of the types is no float.
inline std::optional<int> countAddedBits(CastOp cast) {
  auto from = mlir::dyn_cast<mlir::FloatType>(getElementTypeOrSelf(cast.getOperand().getType()));
  auto to = mlir::dyn_cast<mlir::FloatType>(getElementTypeOrSelf(cast.getResult().getType()));
  if (!from || !to)
    return std::nullopt;
  return static_cast<int>(to.getWidth()) - static_cast<int>(from.getWidth());
}

/// Returns true if the cast converts floats exactly to more bits.
inline bool widens(CastOp cast) { return countAddedBits(cast).value_or(0) > 0; }

/// Returns true if the cast rounds floats to fewer bits.
inline bool narrows(CastOp cast) { return countAddedBits(cast).value_or(0) < 0; }

} // namespace reprise

#endif // REPRISE_DIALECT_REPRISE_IR_CASTS_H
