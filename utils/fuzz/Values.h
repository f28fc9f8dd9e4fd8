// reprise: the values of a random program, and the construction of operands from them
#ifndef REPRISE_UTILS_FUZZ_VALUES_H
#define REPRISE_UTILS_FUZZ_VALUES_H

#include "Template.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "llvm/ADT/DenseSet.h"

namespace reprise::fuzz {

/// Values that ops may read at the place of the builder. A value of a requested type is taken from
/// them, computed from them, or new.
struct Values {
  /// Most sizes are multiples of `granule`.
  Values(mlir::ImplicitLocOpBuilder &builder, Random &random, int64_t granule = 1);

  int64_t makeSize();
  mlir::RankedTensorType makeType();
  mlir::Value pickFloat();
  /// Returns an existing value, one computed from it, or a new one.
  mlir::Value obtain(mlir::RankedTensorType type, bool mayBeActive = true);
  mlir::Value freshArgument(mlir::RankedTensorType type);
  mlir::Value adapt(mlir::Value value, mlir::RankedTensorType type);
  mlir::Value sumAll(mlir::Value value);
  /// Returns the example with sizes of this program; one operand has the type of an existing value.
  Template resized(Template example);

  /// Adds the results of an op. Floats of an op with an active operand are active.
  void add(mlir::Operation *op, bool isOpActive);
  bool isActive(mlir::Value value) const { return active.contains(value); }
  /// Chooses some of the values since `begin`, preferably values without readers.
  llvm::SmallVector<mlir::Value> chooseResults(size_t begin, int64_t count);
  llvm::SmallVector<mlir::Value> chooseInputs();
  /// Multiplies some values with active values, so that the backward pass reads both.
  void entangle(size_t begin);
  /// Returns the sum of the means of some floats, in the type of one of them.
  mlir::Value makeLoss(size_t begin);

  mlir::ImplicitLocOpBuilder &builder;
  Random &random;
  int64_t granule;              ///< number that divides most sizes
  mlir::Block *entry = nullptr; ///< block that gets new arguments
  bool isolated = false;        ///< in a function other than the entry
  llvm::SmallVector<int64_t> sizes;
  mlir::Type mainFloat;
  std::vector<mlir::Value> pool; ///< all values that may be used here
  /// Values that depend on the arguments of an enclosing gradient.
  llvm::DenseSet<mlir::Value> active;

private:
  mlir::Value fresh(mlir::RankedTensorType type);
  mlir::Value resize(mlir::Value value, llvm::ArrayRef<int64_t> shape);
};

} // namespace reprise::fuzz

#endif
