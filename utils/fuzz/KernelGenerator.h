// reprise: random programs of few ops, for the kernels: one or two heavy ones between moves and
// elementwise ops
#ifndef REPRISE_UTILS_FUZZ_KERNELGENERATOR_H
#define REPRISE_UTILS_FUZZ_KERNELGENERATOR_H

#include "Ops.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace reprise::fuzz {

/// Makes one program with the entry @train. Sizes, strides, padding, dilation, groups, layouts and
/// element types are drawn together: around one vector, one block and one chain, below and above.
class KernelGenerator {
public:
  KernelGenerator(mlir::MLIRContext *context, uint64_t seed);
  mlir::OwningOpRef<mlir::ModuleOp> run();

private:
  using Shape = llvm::SmallVector<int64_t>;
  using Sizes = llvm::ArrayRef<int64_t>;
  using TensorType = mlir::RankedTensorType;
  using Attributes = llvm::SmallVector<mlir::NamedAttribute>;
  struct Window;      // one spatial dimension of a convolution or a pooling
  struct Contraction; // types and dimensions of a contraction
  struct Heads;       // types of an attention

  // Programs (KernelGenerator.cpp).
  void emitHeavy();
  void emitBehind();
  bool isDifferentiable();
  mlir::Value makeLoss(mlir::func::FuncOp of, bool isSecond);
  mlir::func::FuncOp addGradient(mlir::func::FuncOp of, bool isSecond);
  void returnResults();
  void nameInterface(mlir::func::FuncOp entry);

  // Sizes and types (KernelSizes.cpp).
  int64_t drawSize(int64_t most);
  void draw(llvm::ArrayRef<int64_t *> sizes, int64_t most);
  Shape drawShape(int64_t minRank, int64_t maxRank);
  /// That of a value that is there, or a new one.
  TensorType drawType(int64_t minRank, int64_t maxRank);
  mlir::Type drawFloat();
  mlir::Type computeType(mlir::Type element);
  TensorType tensor(Sizes shape, mlir::Type element) { return TensorType::get(shape, element); }

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
  Shape reshaped(Sizes shape);
  Shape permutation(int64_t rank);
  mlir::Value unary(mlir::Value value);
  mlir::Value binary(TensorType type, int depth);
  mlir::Value compared(mlir::Value left, mlir::Value right);

  // Heavy ops (KernelWindows.cpp, KernelContractions.cpp, KernelRows.cpp, KernelIndexing.cpp).
  mlir::Value emitConvolution();
  mlir::Value emitPool();
  mlir::Value emitContraction();
  mlir::Value emitAttention();
  mlir::Value emitReduction();
  mlir::Value emitRows();
  mlir::Value emitChannels();
  mlir::Value emitIndexing();
  mlir::Value emitScatter();
  mlir::Value emitWhole();
  Contraction drawContraction();
  Heads drawHeads();
  Window drawWindow(int64_t most, bool isPool);
  llvm::SmallVector<TensorType> drawConvolution(llvm::ArrayRef<Window> windows, int64_t &groups);
  Attributes windowAttributes(llvm::ArrayRef<Window> windows, bool isPool);

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
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
  mlir::Type element;               ///< of most values
  int64_t mostElements, mostFlops;  ///< of a value, of an op
  std::vector<mlir::Value> pool;    ///< all that are there
  std::vector<int64_t> indexLimits; ///< by argument; 0 for those that are no indices
};

} // namespace reprise::fuzz

#endif
