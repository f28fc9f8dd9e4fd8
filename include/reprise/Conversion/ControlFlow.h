// reprise: emits loops and branches
#ifndef REPRISE_CONVERSION_CONTROLFLOW_H
#define REPRISE_CONVERSION_CONTROLFLOW_H

#include "reprise/Conversion/KernelBuilder.h"

namespace reprise {

/// Values that an iteration of a loop hands to the next one, or that a branch results in.
using Carried = llvm::SmallVector<mlir::Value>;
/// Gets the induction variable and the carried values, returns their next values.
using LoopBody = llvm::function_ref<Carried(mlir::Value, mlir::ValueRange)>;

/// Emits for (i = lo; i < hi; i += step), all i64. Returns the carried values after the last
/// iteration.
Carried forLoop(KernelBuilder &k, mlir::Value lo, mlir::Value hi, mlir::Value step,
                mlir::ValueRange carried, LoopBody body);
void forLoop(KernelBuilder &k, mlir::Value lo, mlir::Value hi, mlir::Value step,
             llvm::function_ref<void(mlir::Value)> body);

/// Emits a branch. Returns the values of `body` if the i1 holds, else `otherwise`.
Carried where(mlir::ImplicitLocOpBuilder &b, mlir::Value condition, mlir::ValueRange otherwise,
              llvm::function_ref<Carried()> body);

/// Emits a branch: `body` if the i1 holds, else `otherwise`, if there is one.
void ifThen(mlir::ImplicitLocOpBuilder &b, mlir::Value condition, llvm::function_ref<void()> body,
            llvm::function_ref<void()> otherwise = nullptr);

} // namespace reprise

#endif // REPRISE_CONVERSION_CONTROLFLOW_H
