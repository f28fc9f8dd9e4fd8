// reprise: the constants of a bundle
#ifndef REPRISE_CONVERSION_EXECTOBUNDLE_CONSTANTTABLE_H
#define REPRISE_CONVERSION_EXECTOBUNDLE_CONSTANTTABLE_H

#include "mlir/IR/BuiltinAttributes.h"

#include <vector>

namespace reprise {

/// The elements of each constant once, as memory holds them.
class ConstantTable {
public:
  /// Adds the constant, unless it is there; where it begins.
  uint64_t offsetOf(mlir::Attribute value);

  std::vector<uint8_t> bytes;

private:
  void append(mlir::Attribute value);

  llvm::DenseMap<mlir::Attribute, uint64_t> offsets;
};

} // namespace reprise

#endif
