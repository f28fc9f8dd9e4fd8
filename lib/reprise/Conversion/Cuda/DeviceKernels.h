// reprise: the kernels of kernels/cuda, which this library holds as LLVM bitcode
#ifndef REPRISE_CONVERSION_CUDA_DEVICEKERNELS_H
#define REPRISE_CONVERSION_CUDA_DEVICEKERNELS_H

#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace reprise {

/// Links the functions of kernels/cuda that the module calls, and inlines all functions into its
/// kernel. A module that calls none stays as it is.
llvm::Error linkDeviceKernels(llvm::Module &module, llvm::TargetMachine &machine);

} // namespace reprise

#endif // REPRISE_CONVERSION_CUDA_DEVICEKERNELS_H
