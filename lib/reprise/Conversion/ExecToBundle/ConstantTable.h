// reprise: the constants of a bundle
#ifndef REPRISE_CONVERSION_EXECTOBUNDLE_CONSTANTTABLE_H
#define REPRISE_CONVERSION_EXECTOBUNDLE_CONSTANTTABLE_H

#include "mlir/IR/BuiltinAttributes.h"

#include <vector>

namespace reprise {

/// Table of the elements of each distinct constant, in memory layout.
class ConstantTable {
public:
  /// Adds the constant, unless it exists, and returns its begin.
  uint64_t offsetOf(mlir::Attribute value);

  std::vector<uint8_t> bytes;

private:
  void append(mlir::Attribute value);

  llvm::DenseMap<mlir::Attribute, uint64_t> offsets;
};

} // namespace reprise

#endif
