// reprise: NVIDIA GPUs as a target of the phases: kernels as PTX
//
// The groups are those of the CPU, and so are the loop nests that they become (LoopNest/) and the
// arithmetic of their elements. What differs is who does the work: a thread has four neighbouring
// elements, or one lane of a row's reductions (docs/Rationale/SecondTarget.md).
#ifndef REPRISE_CONVERSION_CUDA_CUDABACKEND_H
#define REPRISE_CONVERSION_CUDA_CUDABACKEND_H

#include "reprise/Target/Target.h"

namespace reprise {

/// Which contractions, convolutions and attention are exact, chains of fma with the CPU's bits:
/// all; all but those of 16-bit types; or none but those of f64, and attention in f32. Library is
/// TensorCores, with the contractions of 16-bit types that a library can do there.
enum class Contractions { Exact, TensorCores, Tf32, Library };

class CudaBackend : public Target {
public:
  /// Whether the name is that of a GPU, such as `sm_90`, that has all that kernels use: sm_80 and
  /// later ones that this LLVM knows; or of several, older ones first, such as `sm_80+sm_90`.
  static bool hasChips(llvm::StringRef chips);

  /// Whether ptxas, which makes machine code, is on this machine.
  static bool hasAssembler();

  /// `exact`, `tf32` or `library`; TensorCores if it is empty.
  static std::optional<Contractions> parseContractions(llvm::StringRef name);

  /// Kernels are the same for all chips but for the version of their PTX: a GPU runs what was made
  /// for the latest chip that is not later than it.
  /// With `hasCubins`, machine code for each chip stands beside its PTX.
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
  LibraryChoice findLibrary(mlir::Block &body) const override;
  mlir::FailureOr<Scratch> findScratch(mlir::Block &body) const override;
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
