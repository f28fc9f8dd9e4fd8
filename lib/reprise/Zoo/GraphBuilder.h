// reprise: short names for the ops that models are made of
#ifndef REPRISE_ZOO_GRAPHBUILDER_H
#define REPRISE_ZOO_GRAPHBUILDER_H

#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include <functional>

namespace reprise::zoo {

/// Builds ops at one place; the location is the scope, such as layer/3/attention.
class GraphBuilder {
public:
  explicit GraphBuilder(mlir::OpBuilder builder) : b(builder.getUnknownLoc(), builder) {}

  /// Sets the location of the ops that follow.
  void scope(const llvm::Twine &name) { b.setLoc(mlir::NameLoc::get(b.getStringAttr(name))); }

  mlir::Value add(mlir::Value x, mlir::Value y) { return AddOp::create(b, x, y); }
  mlir::Value sub(mlir::Value x, mlir::Value y) { return SubOp::create(b, x, y); }
  mlir::Value mul(mlir::Value x, mlir::Value y) { return MulOp::create(b, x, y); }
  mlir::Value div(mlir::Value x, mlir::Value y) { return DivOp::create(b, x, y); }
  mlir::Value sqrt(mlir::Value x) { return SqrtOp::create(b, x.getType(), x); }
  mlir::Value relu(mlir::Value x) { return ReluOp::create(b, x.getType(), x); }
  mlir::Value gelu(mlir::Value x, GeluForm form) { return GeluOp::create(b, x.getType(), x, form); }
  mlir::Value scalar(double value);
  mlir::Value dropout(mlir::Value x, double rate);
  mlir::Value transpose(mlir::Value x, llvm::ArrayRef<int64_t> permutation);
  mlir::Value gather(mlir::Value table, mlir::Value indices) {
    return GatherOp::create(b, table, indices);
  }
  mlir::Value sum(mlir::Value x);
  mlir::Value mean(mlir::Value x);
  mlir::Value layerNorm(mlir::Value x, mlir::Value weight, mlir::Value bias);
  /// x · y over the listed dimensions of each.
  mlir::Value dot(mlir::Value x, mlir::Value y, llvm::ArrayRef<int64_t> xDims,
                  llvm::ArrayRef<int64_t> yDims);
  /// Heads [b, h, t, d]; causal, scaled by 1/√d.
  mlir::Value attention(mlir::Value q, mlir::Value k, mlir::Value v, double rate);
  mlir::Value crossEntropy(mlir::Value logits, mlir::Value labels) {
    return CrossEntropyOp::create(b, logits, labels);
  }
  /// One layer: a block or, if asked for, a checkpoint around `body`.
  mlir::Value layer(bool checkpoint, mlir::Type type, llvm::function_ref<mlir::Value()> body);

  mlir::ImplicitLocOpBuilder b;

private:
  static llvm::SmallVector<int64_t> allDims(mlir::Value x);
};

} // namespace reprise::zoo

#endif // REPRISE_ZOO_GRAPHBUILDER_H
