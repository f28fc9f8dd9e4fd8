// reprise: NVIDIA GPUs as a target of the phases: kernels as PTX
//
// Groups, loop nests (LoopNest/) and the arithmetic of elements are those of the CPU. Only the
// distribution of the work differs: a thread computes four neighbouring elements, or one lane of a
// row's reductions (docs/explanation/SecondTarget.md).
#ifndef REPRISE_CONVERSION_CUDA_CUDABACKEND_H
#define REPRISE_CONVERSION_CUDA_CUDABACKEND_H

#include "reprise/Target/Target.h"

namespace reprise {

class CudaBackend : public Target {
public:
  /// Returns whether the name is that of a supported GPU, such as `sm_90`: sm_80 or a later chip
  /// that this LLVM knows. Also accepts several chips, older chips first, such as `sm_80+sm_90`.
  static bool hasChips(llvm::StringRef chips);

  /// Returns whether this machine has ptxas, which makes machine code.
  static bool hasAssembler();

  /// Makes the backend. A GPU runs the code of the latest chip that is not later than the GPU. With
  /// `hasCubins`, the image holds machine code for each chip beside its PTX.
  explicit CudaBackend(llvm::StringRef chips, Contractions contractions = Contractions::TensorCores,
                       bool hasCubins = false);

  std::string getName() const override;
  std::vector<std::string> getFeatures() const override;
  bool canHold(llvm::ArrayRef<mlir::Operation *> ops) const override;
  InPlacePairs findInPlacePairs(mlir::Block &body) const override;
  mlir::OwningOpRef<mlir::Operation *> formNests(mlir::Block &body,
                                                 llvm::StringRef name) const override;
  /// Fails for what has no kernel there yet.
  mlir::FailureOr<EmittedLaunch> emitLaunch(mlir::Block &body, llvm::StringRef name,
                                            mlir::ModuleOp kernels) const override;
  mlir::FailureOr<EmittedLaunch> emitNests(mlir::Operation *program, llvm::StringRef name,
                                           mlir::ModuleOp kernels) const override;
  LibraryChoice findLibrary(mlir::Block &body) const override;
  mlir::FailureOr<Scratch> findScratch(mlir::Block &body) const override;
  mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
  lowerKernels(mlir::ModuleOp kernels) const override;
  mlir::FailureOr<Image> compileKernels(mlir::ModuleOp kernels) const override;

private:
  mlir::FailureOr<EmittedLaunch> emitKernels(mlir::Block &body, llvm::StringRef name,
                                             mlir::ModuleOp kernels) const;

  std::string chips;
  Contractions contractions;
  bool hasCubins;
};

} // namespace reprise

#endif // REPRISE_CONVERSION_CUDA_CUDABACKEND_H
