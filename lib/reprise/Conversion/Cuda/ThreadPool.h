// reprise: poolings for the threads of a GPU, one element of the result per thread
#ifndef REPRISE_CONVERSION_CUDA_THREADPOOL_H
#define REPRISE_CONVERSION_CUDA_THREADPOOL_H

#include "../LoopNest/LaunchOperands.h"

namespace reprise {

/// Emits the launch of a body whose leader is the pooling `op`.
mlir::FailureOr<EmittedLaunch> emitThreadPool(mlir::Operation *op, llvm::StringRef name,
                                              mlir::ModuleOp kernels, LaunchOperands operands);

} // namespace reprise

#endif // REPRISE_CONVERSION_CUDA_THREADPOOL_H
