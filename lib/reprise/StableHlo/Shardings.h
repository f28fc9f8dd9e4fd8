// reprise: shardings of Shardy as ops of MLIR's dialect shard
#ifndef REPRISE_LIB_STABLEHLO_SHARDINGS_H
#define REPRISE_LIB_STABLEHLO_SHARDINGS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace reprise::stablehlo {

/// Reads `sdy.sharding` of the source's arguments, and writes `shard.shard` ops for the arguments
/// of the model, with a `shard.grid` of the mesh. `axes` renames axes of the mesh, as `tp:model`.
/// An axis of size 1 is dropped. Errors, with the number of the argument: a form of a sharding that
/// is not read; two axes for one dimension; an axis that is neither data nor model; a sharding that
/// is only in `mhlo.sharding`.
mlir::LogicalResult importShardings(mlir::ModuleOp module, mlir::func::FuncOp source,
                                    mlir::func::FuncOp model, llvm::ArrayRef<std::string> axes);

} // namespace reprise::stablehlo

#endif // REPRISE_LIB_STABLEHLO_SHARDINGS_H
