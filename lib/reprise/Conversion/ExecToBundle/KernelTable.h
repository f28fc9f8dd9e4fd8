// reprise: the kernels of a bundle, one per structurally distinct launch body
#ifndef REPRISE_CONVERSION_EXECTOBUNDLE_KERNELTABLE_H
#define REPRISE_CONVERSION_EXECTOBUNDLE_KERNELTABLE_H

#include "reprise/Dialect/Exec/IR/Exec.h"
#include "reprise/Runtime/Bundle.h"
#include "reprise/Target/Target.h"
#include "llvm/ADT/StringMap.h"
#include <map>

namespace reprise {

/// Compiled launch, shared by all launches with an equal body.
struct CompiledLaunch {
  EmittedLaunch emitted;
  std::string label;                  ///< leading op and scope, for traces and errors
  llvm::SmallVector<int64_t> streams; ///< `streams` of the launch
};

/// Returns the kernel that counts for all work of the launch: the kernel with the launch's name;
/// others have a suffix. Empty for a launch that a library computes.
llvm::StringRef findMainKernel(const EmittedLaunch &launch);

class KernelTable {
public:
  KernelTable(mlir::MLIRContext *context, const Target &target);

  /// Emits the launch's kernels unless an equal body was added before.
  mlir::LogicalResult add(exec::LaunchOp launch);
  /// Compiles all kernels to one image.
  mlir::FailureOr<Image> compile();

  const CompiledLaunch &lookup(exec::LaunchOp launch) const { return launches.at(launch); }
  uint32_t indexOf(llvm::StringRef kernel) const { return indices.lookup(kernel); }
  /// The manifest's kernels, in the order of indexOf.
  std::vector<runtime::Kernel> describe(const Image &image) const;

private:
  void addKernels(exec::LaunchOp launch, const EmittedLaunch &emitted);

  mlir::OwningOpRef<mlir::ModuleOp> module;
  const Target &target;
  std::map<std::vector<uintptr_t>, EmittedLaunch> byBody; ///< by describeBody
  std::map<mlir::Operation *, CompiledLaunch> launches;
  llvm::StringMap<uint32_t> indices;
  std::vector<runtime::Kernel> kernels;
};

} // namespace reprise

#endif // REPRISE_CONVERSION_EXECTOBUNDLE_KERNELTABLE_H
