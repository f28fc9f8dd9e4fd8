// reprise: random programs of few ops, for the kernels: one or two heavy ones between moves and
// elementwise ops
#ifndef REPRISE_UTILS_FUZZ_KERNELGENERATOR_H
#define REPRISE_UTILS_FUZZ_KERNELGENERATOR_H

#include "KernelValues.h"

namespace reprise::fuzz {

/// Makes one program with the entry @train. Sizes, strides, padding, dilation, groups, layouts and
/// element types are drawn together: around one vector, one block and one chain, below and above.
class KernelGenerator {
public:
  /// Most sizes are multiples of `granule`.
  KernelGenerator(mlir::MLIRContext *context, uint64_t seed, int64_t granule = 1);
  mlir::OwningOpRef<mlir::ModuleOp> run();

private:
  void emitHeavy();
  void emitBehind();
  bool isDifferentiable();
  mlir::Value makeLoss(mlir::func::FuncOp of, bool isSecond);
  mlir::func::FuncOp addGradient(mlir::func::FuncOp of, bool isSecond);
  void returnResults();
  void nameInterface(mlir::func::FuncOp entry);

  KernelValues v;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace reprise::fuzz

#endif
