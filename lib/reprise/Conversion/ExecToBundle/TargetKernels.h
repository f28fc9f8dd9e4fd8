// reprise: the kernels that the devices of one target share in a bundle
#ifndef REPRISE_CONVERSION_EXECTOBUNDLE_TARGETKERNELS_H
#define REPRISE_CONVERSION_EXECTOBUNDLE_TARGETKERNELS_H

#include "KernelTable.h"
#include "reprise/Conversion/ExecToBundle.h"

namespace reprise {

/// The functions that the device has, with the names of their programs.
llvm::SmallVector<std::pair<llvm::StringRef, ProgramOp>> listPrograms(const BundlePrograms &device);

/// First the launches of all devices are added, then the kernels to the bundle.
struct TargetKernels {
  TargetKernels(mlir::MLIRContext *context, const Target &target)
      : target(target), table(context, target) {}

  mlir::LogicalResult add(const BundlePrograms &device);
  /// Compiles the kernels to an image.
  mlir::LogicalResult addTo(runtime::Bundle &bundle);

  const Target &target;
  KernelTable table;
  uint32_t firstKernel = 0; ///< number in the bundle
};

} // namespace reprise

#endif // REPRISE_CONVERSION_EXECTOBUNDLE_TARGETKERNELS_H
