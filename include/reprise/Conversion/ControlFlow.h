// reprise: emits loops and branches
#ifndef REPRISE_CONVERSION_CONTROLFLOW_H
#define REPRISE_CONVERSION_CONTROLFLOW_H

#include "reprise/Conversion/KernelBuilder.h"

namespace reprise {

/// Values that an iteration of a loop passes to the next iteration, or that a branch returns.
using Carried = llvm::SmallVector<mlir::Value>;
/// Body of a loop: gets the induction variable and the carried values, returns their next values.
using LoopBody = llvm::function_ref<Carried(mlir::Value, mlir::ValueRange)>;

/// Emits for (i = lo; i < hi; i += step), all i64. Returns the carried values after the last
/// iteration.
Carried forLoop(KernelBuilder &k, mlir::Value lo, mlir::Value hi, mlir::Value step,
                mlir::ValueRange carried, LoopBody body);
void forLoop(KernelBuilder &k, mlir::Value lo, mlir::Value hi, mlir::Value step,
             llvm::function_ref<void(mlir::Value)> body);

/// Emits a branch. Returns the values of `body` if the i1 holds, otherwise `otherwise`.
Carried where(mlir::ImplicitLocOpBuilder &b, mlir::Value condition, mlir::ValueRange otherwise,
              llvm::function_ref<Carried()> body);

/// Emits a branch. If the i1 holds it runs `body`, otherwise `otherwise`, unless that is null.
void ifThen(mlir::ImplicitLocOpBuilder &b, mlir::Value condition, llvm::function_ref<void()> body,
            llvm::function_ref<void()> otherwise = nullptr);

} // namespace reprise

#endif // REPRISE_CONVERSION_CONTROLFLOW_H
