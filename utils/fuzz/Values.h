// reprise: the values of a random program, and how operands are made of them
#ifndef REPRISE_UTILS_FUZZ_VALUES_H
#define REPRISE_UTILS_FUZZ_VALUES_H

#include "Template.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "llvm/ADT/DenseSet.h"

namespace reprise::fuzz {

/// The values that ops may read at the place of the builder. A value of a wanted type is taken from
/// them, made of them, or made anew.
struct Values {
  Values(mlir::ImplicitLocOpBuilder &builder, Random &random);

  int64_t makeSize();
  mlir::RankedTensorType makeType();
  mlir::Value pickFloat();
  /// Returns a value that is there, one that is made of such a one, or a new one.
  mlir::Value obtain(mlir::RankedTensorType type, bool mayBeActive = true);
  mlir::Value freshArgument(mlir::RankedTensorType type);
  mlir::Value adapt(mlir::Value value, mlir::RankedTensorType type);
  mlir::Value sumAll(mlir::Value value);
  /// Returns the example in sizes of this program, one operand of the type of a value that is
  /// there.
  Template resized(Template example);

  /// Adds the results of an op. Floats of an op with an active operand are active.
  void add(mlir::Operation *op, bool isOpActive);
  bool isActive(mlir::Value value) const { return active.contains(value); }
  /// Chooses some of the values since `begin`, rather those that nothing reads.
  llvm::SmallVector<mlir::Value> chooseResults(size_t begin, int64_t count);
  llvm::SmallVector<mlir::Value> chooseInputs();
  /// Multiplies some values with active ones, so that the backward pass reads both.
  void entangle(size_t begin);
  /// Returns the sum of the means of some floats, in the type of one of them.
  mlir::Value makeLoss(size_t begin);

  mlir::ImplicitLocOpBuilder &builder;
  Random &random;
  mlir::Block *entry = nullptr; ///< that new arguments are given to
  bool isolated = false;        ///< in a function other than the entry
  llvm::SmallVector<int64_t> sizes;
  mlir::Type mainFloat;
  std::vector<mlir::Value> pool;      ///< all values that may be used here
  llvm::DenseSet<mlir::Value> active; ///< they depend on what an enclosing gradient asks for

private:
  mlir::Value fresh(mlir::RankedTensorType type);
  mlir::Value resize(mlir::Value value, llvm::ArrayRef<int64_t> shape);
};

} // namespace reprise::fuzz

#endif
