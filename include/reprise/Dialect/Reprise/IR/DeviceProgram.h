// reprise: which functions of a module are device programs.
#ifndef REPRISE_DIALECT_REPRISE_IR_DEVICEPROGRAM_H
#define REPRISE_DIALECT_REPRISE_IR_DEVICEPROGRAM_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace reprise {

/// The attribute of a function that is the program of a device: the number of the device. From the
/// end of `autodiff` on every phase works on such functions only, one at a time.
inline constexpr llvm::StringLiteral kDeviceAttr = "reprise.device";

/// Of a program whose choices `reprise-checkpoint` has followed: the kernels phase leaves its
/// originals in the launches that they have without replays, on which the planner counts.
inline constexpr llvm::StringLiteral kKeepsLaunchesAttr = "reprise.keeps_launches";

/// None for a function that is no device program.
std::optional<int64_t> getDevice(mlir::func::FuncOp function);
void setDevice(mlir::func::FuncOp function, int64_t device);

/// The device programs of a module, in its order.
llvm::SmallVector<mlir::func::FuncOp> findPrograms(mlir::ModuleOp module);

} // namespace reprise

#endif
