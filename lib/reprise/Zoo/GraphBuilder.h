// reprise: short names for the ops that models are made of
#ifndef REPRISE_ZOO_GRAPHBUILDER_H
#define REPRISE_ZOO_GRAPHBUILDER_H

#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise::zoo {

/// Builds ops at one place; the location is the scope, such as layer/3/attention. Values are f32
/// and integers; contractions, convolutions and attention take their operands in `contracted`, if
/// set.
class GraphBuilder {
public:
  explicit GraphBuilder(mlir::OpBuilder builder) : b(builder.getUnknownLoc(), builder) {}

  /// Sets the location of the ops that follow.
  void scope(const llvm::Twine &name) { b.setLoc(mlir::NameLoc::get(b.getStringAttr(name))); }

  static llvm::ArrayRef<int64_t> shape(mlir::Value x) { return type(x).getShape(); }
  static int64_t size(mlir::Value x, int64_t dim) { return type(x).getDimSize(dim); }

  mlir::Value add(mlir::Value x, mlir::Value y) { return AddOp::create(b, x, y); }
  /// The next value of the residual stream, which policies find by its name.
  mlir::Value residual(mlir::Value x, mlir::Value y) {
    return NameOp::create(b, add(x, y), "residual");
  }
  mlir::Value sub(mlir::Value x, mlir::Value y) { return SubOp::create(b, x, y); }
  mlir::Value mul(mlir::Value x, mlir::Value y) { return MulOp::create(b, x, y); }
  mlir::Value div(mlir::Value x, mlir::Value y) { return DivOp::create(b, x, y); }
  mlir::Value pow(mlir::Value x, mlir::Value y) { return PowOp::create(b, x, y); }
  mlir::Value minimum(mlir::Value x, mlir::Value y) { return MinimumOp::create(b, x, y); }
  mlir::Value maximum(mlir::Value x, mlir::Value y) { return MaximumOp::create(b, x, y); }
  mlir::Value logicalAnd(mlir::Value x, mlir::Value y) { return AndOp::create(b, x, y); }
  mlir::Value compare(ComparePredicate predicate, mlir::Value x, mlir::Value y) {
    return CompareOp::create(b, predicate, x, y);
  }
  mlir::Value select(mlir::Value condition, mlir::Value onTrue, mlir::Value onFalse) {
    return SelectOp::create(b, onTrue.getType(), condition, onTrue, onFalse);
  }
  /// OpT on one operand of the result's type.
  template <typename OpT> mlir::Value unary(mlir::Value x) {
    return OpT::create(b, x.getType(), x);
  }
  mlir::Value gelu(mlir::Value x, GeluForm form) { return GeluOp::create(b, x.getType(), x, form); }
  mlir::Value cast(mlir::Value x, mlir::Type element);

  mlir::Value scalar(double value) { return splat({}, value); }
  mlir::Value integer(int64_t value) { return splat({}, value, b.getI32Type()); }
  /// A constant: f32 unless an element type is given.
  mlir::Value splat(llvm::ArrayRef<int64_t> shape, double value, mlir::Type element = {});
  /// The index along `dim`: f32 unless an element type is given.
  mlir::Value iota(llvm::ArrayRef<int64_t> shape, int64_t dim, mlir::Type element = {});
  mlir::Value dropout(mlir::Value x, double rate);

  mlir::Value transpose(mlir::Value x, llvm::ArrayRef<int64_t> permutation) {
    return TransposeOp::create(b, x, permutation);
  }
  mlir::Value reshape(mlir::Value x, llvm::ArrayRef<int64_t> shape);
  /// Dimension d of x becomes dims[d] of the shape.
  mlir::Value broadcast(mlir::Value x, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> dims);
  /// x from index `from` to below `to` of one dimension.
  mlir::Value slice(mlir::Value x, int64_t dim, int64_t from, int64_t to);
  mlir::Value concatenate(mlir::ValueRange values, int64_t dim) {
    return ConcatenateOp::create(b, values, dim);
  }
  mlir::Value gather(mlir::Value table, mlir::Value indices) {
    return GatherOp::create(b, table, indices);
  }

  mlir::Value sum(mlir::Value x) { return sum(x, allDims(x)); }
  mlir::Value mean(mlir::Value x) { return mean(x, allDims(x)); }
  mlir::Value max(mlir::Value x) { return MaxOp::create(b, x, allDims(x)); }
  mlir::Value sum(mlir::Value x, llvm::ArrayRef<int64_t> dims) { return SumOp::create(b, x, dims); }
  mlir::Value mean(mlir::Value x, llvm::ArrayRef<int64_t> dims) {
    return MeanOp::create(b, x, dims);
  }

  /// x · y over the listed dimensions of each.
  mlir::Value dot(mlir::Value x, mlir::Value y, llvm::ArrayRef<int64_t> xDims,
                  llvm::ArrayRef<int64_t> yDims) {
    return batchedDot(x, y, 0, xDims, yDims);
  }
  /// The same for each index of the first `batch` dimensions of both.
  mlir::Value batchedDot(mlir::Value x, mlir::Value y, int64_t batch, llvm::ArrayRef<int64_t> xDims,
                         llvm::ArrayRef<int64_t> yDims);
  /// Image [n, c, y, x] with filter [o, c, r, s], as many zeros on all sides.
  mlir::Value convolution(mlir::Value image, mlir::Value filter, int64_t stride, int64_t padding);
  /// Twice the size: [n, o, y, x] with filter [o, c, 2, 2] gives [n, c, 2y, 2x].
  mlir::Value upsample(mlir::Value image, mlir::Value filter);
  mlir::Value maxPool(mlir::Value image, int64_t window, int64_t stride, int64_t padding);
  /// Query [b, h, t, d], key and value [b, g, s, d]; scaled by 1/√d. The mask may be null.
  mlir::Value attention(mlir::Value q, mlir::Value k, mlir::Value v, mlir::Value mask, bool causal,
                        double rate);
  mlir::Value crossEntropy(mlir::Value logits, mlir::Value labels) {
    return CrossEntropyOp::create(b, logits, labels);
  }

  /// x as it is kept between ops where operands are narrow: rounded to their type.
  mlir::Value round(mlir::Value x) { return widen(narrow(x)); }

  mlir::Attribute normalInit(double std);
  mlir::Attribute fillInit(double value);
  mlir::Attribute integerInit(int64_t low, int64_t high) {
    return UniformIntInitAttr::get(b.getContext(), low, high);
  }

  mlir::ImplicitLocOpBuilder b;
  mlir::Type contracted; ///< null: operands as they are

private:
  static mlir::RankedTensorType type(mlir::Value x) {
    return llvm::cast<mlir::RankedTensorType>(x.getType());
  }
  static llvm::SmallVector<int64_t> allDims(mlir::Value x);
  /// x as an operand of a contraction, and back.
  mlir::Value narrow(mlir::Value x) { return contracted ? cast(x, contracted) : x; }
  mlir::Value widen(mlir::Value x) { return contracted ? cast(x, b.getF32Type()) : x; }
};

} // namespace reprise::zoo

#endif // REPRISE_ZOO_GRAPHBUILDER_H
