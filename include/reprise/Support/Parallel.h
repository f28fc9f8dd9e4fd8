// reprise: work on several threads with the messages of a single thread
#ifndef REPRISE_SUPPORT_PARALLEL_H
#define REPRISE_SUPPORT_PARALLEL_H

#include "mlir/IR/Diagnostics.h"

namespace reprise {

/// Calls each(0) … each(count - 1) on the threads of the context. Messages and result are those of
/// a loop that ends at the first failure. The work loads no dialects.
mlir::LogicalResult forEachInParallel(mlir::MLIRContext &context, size_t count,
                                      llvm::function_ref<mlir::LogicalResult(size_t)> each);

/// Guard that suppresses the diagnostics of this thread during its lifetime.
class QuietThread {
public:
  explicit QuietThread(mlir::MLIRContext &context);

private:
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace reprise

#endif // REPRISE_SUPPORT_PARALLEL_H
