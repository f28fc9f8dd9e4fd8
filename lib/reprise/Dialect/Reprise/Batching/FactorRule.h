// reprise: the language of factor rules
#ifndef REPRISE_LIB_DIALECT_REPRISE_BATCHING_FACTORRULE_H
#define REPRISE_LIB_DIALECT_REPRISE_BATCHING_FACTORRULE_H

#include "reprise/Dialect/Reprise/Batching.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise {

/// Factors of one op while a rule finds them. Dimensions without a factor are coupled.
class FactorRule {
public:
  explicit FactorRule(mlir::Operation *op);

  /// Adds a factor and returns its number; -1 means no factor, which leaves a dimension out.
  int add(int64_t size, FactorKind kind = FactorKind::Parallel);
  /// Adds one factor per dimension of a shape.
  llvm::SmallVector<int> addAll(llvm::ArrayRef<int64_t> shape,
                                FactorKind kind = FactorKind::Parallel);

  void setOperand(unsigned operand, int64_t dim, OpFactors::Dim factors) {
    made.operands[operand][dim] = std::move(factors);
  }
  void setResult(unsigned result, int64_t dim, OpFactors::Dim factors) {
    made.results[result][dim] = std::move(factors);
  }
  /// The first dimensions of a value have one factor each.
  void setOperand(unsigned operand, llvm::ArrayRef<int> factors);
  void setResult(unsigned result, llvm::ArrayRef<int> factors);

  llvm::ArrayRef<int64_t> shapeOfOperand(unsigned operand) const;
  llvm::ArrayRef<int64_t> shapeOfResult(unsigned result) const;

  /// Gives every dimension that is left a coupled factor of its own.
  OpFactors finish();

private:
  mlir::Operation *op;
  OpFactors made;
};

/// Finds the factors of an op. Each op that can be cut specializes it, unless it computes elements
/// each for itself; for one that neither does nor stands among those without (FactorRule.cpp),
/// nothing links.
template <typename OpT> void findFactors(OpT op, FactorRule &rule);
/// Lets attributes follow the parts.
template <typename OpT> void adjust(OpT) {}
template <> void adjust(SliceOp op);

} // namespace reprise

#endif // REPRISE_LIB_DIALECT_REPRISE_BATCHING_FACTORRULE_H
