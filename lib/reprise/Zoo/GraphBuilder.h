// reprise: short names for the ops of models
#ifndef REPRISE_ZOO_GRAPHBUILDER_H
#define REPRISE_ZOO_GRAPHBUILDER_H

#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise::zoo {

inline mlir::RankedTensorType typeOf(mlir::Value x) {
  return llvm::cast<mlir::RankedTensorType>(x.getType());
}
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value x) { return typeOf(x).getShape(); }
inline int64_t sizeOf(mlir::Value x, int64_t dim) { return typeOf(x).getDimSize(dim); }
llvm::SmallVector<int64_t> allDimsOf(mlir::Value x);

/// Builder of ops at one place; the location is the scope, such as layer/3/attention. Values are
/// f32 and integers. If `contracted` is set, operands of contractions, convolutions and attention
/// have that type.
class GraphBuilder {
public:
  explicit GraphBuilder(mlir::OpBuilder builder) : b(builder.getUnknownLoc(), builder) {}

  /// Sets the location of the ops that follow.
  void scope(const llvm::Twine &name) { b.setLoc(mlir::NameLoc::get(b.getStringAttr(name))); }

  mlir::Value add(mlir::Value x, mlir::Value y) { return AddOp::create(b, x, y); }
  /// Returns the next value of the residual stream, which policies find by its name.
  mlir::Value residual(mlir::Value x, mlir::Value y) {
    return NameOp::create(b, add(x, y), "residual");
  }
  mlir::Value mul(mlir::Value x, mlir::Value y) { return MulOp::create(b, x, y); }
  mlir::Value compare(ComparePredicate predicate, mlir::Value x, mlir::Value y) {
    return CompareOp::create(b, predicate, x, y);
  }
  mlir::Value select(mlir::Value condition, mlir::Value onTrue, mlir::Value onFalse) {
    return SelectOp::create(b, onTrue.getType(), condition, onTrue, onFalse);
  }
  /// OpT on two operands of the result's shape.
  template <typename OpT> mlir::Value binary(mlir::Value x, mlir::Value y) {
    return OpT::create(b, x, y);
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
  /// Returns x from index `from` to below `to` of one dimension.
  mlir::Value slice(mlir::Value x, int64_t dim, int64_t from, int64_t to);
  mlir::Value gather(mlir::Value table, mlir::Value indices) {
    return GatherOp::create(b, table, indices);
  }

  mlir::Value sum(mlir::Value x) { return sum(x, allDimsOf(x)); }
  mlir::Value mean(mlir::Value x) { return mean(x, allDimsOf(x)); }
  mlir::Value sum(mlir::Value x, llvm::ArrayRef<int64_t> dims) { return SumOp::create(b, x, dims); }
  mlir::Value mean(mlir::Value x, llvm::ArrayRef<int64_t> dims) {
    return MeanOp::create(b, x, dims);
  }

  /// Returns x · y over the listed dimensions of each.
  mlir::Value dot(mlir::Value x, mlir::Value y, llvm::ArrayRef<int64_t> xDims,
                  llvm::ArrayRef<int64_t> yDims) {
    return batchedDot(x, y, 0, xDims, yDims);
  }
  /// Returns x · y for each index of the first `batch` dimensions of both.
  mlir::Value batchedDot(mlir::Value x, mlir::Value y, int64_t batch, llvm::ArrayRef<int64_t> xDims,
                         llvm::ArrayRef<int64_t> yDims);

  /// Returns x as it is kept between ops with narrow operands: rounded to their type.
  mlir::Value round(mlir::Value x);

  mlir::ImplicitLocOpBuilder b;
  mlir::Type contracted; ///< null: operands keep their type
};

/// Convolves an image [n, c, y, x] with a filter [o, c, r, s]; `padding` zeros on all sides.
mlir::Value convolution(GraphBuilder &g, mlir::Value image, mlir::Value filter, int64_t stride,
                        int64_t padding);
/// Twice the size: [n, o, y, x] with filter [o, c, 2, 2] gives [n, c, 2y, 2x].
mlir::Value upsample(GraphBuilder &g, mlir::Value image, mlir::Value filter);
mlir::Value maxPool(GraphBuilder &g, mlir::Value image, int64_t window, int64_t stride,
                    int64_t padding);
/// Query [b, h, t, d], key and value [b, g, s, d]; scaled by 1/√d. The mask may be null.
mlir::Value attention(GraphBuilder &g, mlir::Value q, mlir::Value k, mlir::Value v,
                      mlir::Value mask, bool causal, double rate);

mlir::Attribute normalInit(mlir::Builder &b, double std);
mlir::Attribute fillInit(mlir::Builder &b, double value);
mlir::Attribute integerInit(mlir::Builder &b, int64_t low, int64_t high);

} // namespace reprise::zoo

#endif // REPRISE_ZOO_GRAPHBUILDER_H
