// reprise: the values of a program for the kernels, and the construction of operands from them
#ifndef REPRISE_UTILS_FUZZ_KERNELVALUES_H
#define REPRISE_UTILS_FUZZ_KERNELVALUES_H

#include "Ops.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace reprise::fuzz {

inline mlir::RankedTensorType tensor(llvm::ArrayRef<int64_t> shape, mlir::Type element) {
  return mlir::RankedTensorType::get(shape, element);
}

/// The type that statistics of an element type have.
inline mlir::Type computeType(mlir::Type type) {
  return type.isF64() ? type : mlir::Type(mlir::Float32Type::get(type.getContext()));
}

llvm::SmallVector<int64_t> permutation(Random &random, int64_t rank);

/// Draws another shape with as many elements: neighbours joined, sizes cut in two.
llvm::SmallVector<int64_t> reshaped(Random &random, llvm::ArrayRef<int64_t> shape);

/// The values of one function under construction. Sizes and element types are drawn around one
/// vector, one block and one chain, below and above.
struct KernelValues {
  using Shape = llvm::SmallVector<int64_t>;
  using Sizes = llvm::ArrayRef<int64_t>;
  using TensorType = mlir::RankedTensorType;
  using Attributes = llvm::SmallVector<mlir::NamedAttribute>;

  KernelValues(mlir::MLIRContext *context, uint64_t seed);

  // Sizes and types (KernelSizes.cpp).
  int64_t drawSize(int64_t most);
  void draw(llvm::ArrayRef<int64_t *> sizes, int64_t most);
  Shape drawShape(int64_t minRank, int64_t maxRank);
  /// Returns the type of an existing value, or a new type.
  TensorType drawType(int64_t minRank, int64_t maxRank);
  mlir::Type drawFloat();

  // Operands (KernelOperands.cpp).
  mlir::Value operand(TensorType type, int depth = 0);
  mlir::Value operand(Sizes shape, mlir::Type element) { return operand(tensor(shape, element)); }
  mlir::Value fresh(TensorType type);
  mlir::Value indices(Sizes shape, int64_t limit);
  mlir::Value adapted(TensorType type);
  mlir::Value moved(TensorType type, int depth);
  mlir::Value computed(TensorType type, int depth);
  mlir::Value rewrapped(TensorType type, int depth);
  mlir::Value sliceOf(TensorType type, int depth);
  mlir::Value padOf(TensorType type, int depth);
  mlir::Value joined(TensorType type, int depth);
  mlir::Value broadcastTo(TensorType type, int depth);
  mlir::Value unary(mlir::Value value);
  mlir::Value binary(TensorType type, int depth);
  mlir::Value compared(mlir::Value left, mlir::Value right);

  // Emission.
  mlir::Value emit(llvm::StringRef name, mlir::TypeRange results, mlir::ValueRange operands,
                   const Attributes &attributes = {}, llvm::ArrayRef<int32_t> segments = {});
  mlir::NamedAttribute numbers(llvm::StringRef name, Sizes values) {
    return b.getNamedAttr(name, b.getDenseI64ArrayAttr(values));
  }
  mlir::NamedAttribute number(llvm::StringRef name, int64_t value) {
    return b.getNamedAttr(name, b.getI64IntegerAttr(value));
  }
  mlir::NamedAttribute real(llvm::StringRef name, double value) {
    return b.getNamedAttr(name, b.getF64FloatAttr(value));
  }

  mlir::MLIRContext *context;
  Random random;
  mlir::ImplicitLocOpBuilder b;
  mlir::func::FuncOp function;      ///< function that gets new arguments
  mlir::Type element;               ///< element type of most values
  int64_t mostElements, mostFlops;  ///< limits of a value, and of an op
  int64_t granule = 1;              ///< number that divides most sizes
  std::vector<mlir::Value> pool;    ///< all existing values
  std::vector<int64_t> indexLimits; ///< by argument; 0 for arguments that are no indices
};

// Heavy ops (KernelWindows.cpp, KernelContractions.cpp, KernelRows.cpp, KernelIndexing.cpp).
mlir::Value emitConvolution(KernelValues &v);
mlir::Value emitPool(KernelValues &v);
mlir::Value emitContraction(KernelValues &v);
mlir::Value emitAttention(KernelValues &v);
mlir::Value emitReduction(KernelValues &v);
mlir::Value emitRows(KernelValues &v);
mlir::Value emitChannels(KernelValues &v);
mlir::Value emitIndexing(KernelValues &v);
mlir::Value emitScatter(KernelValues &v);
mlir::Value emitWhole(KernelValues &v);

} // namespace reprise::fuzz

#endif
