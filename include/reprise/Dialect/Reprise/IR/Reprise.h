// reprise: the dialect of the model graph.
#ifndef REPRISE_DIALECT_REPRISE_IR_REPRISE_H
#define REPRISE_DIALECT_REPRISE_IR_REPRISE_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "reprise/Interfaces/Interfaces.h"

#include "reprise/Dialect/Reprise/IR/RepriseDialect.h.inc"
#include "reprise/Dialect/Reprise/IR/RepriseEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "reprise/Dialect/Reprise/IR/RepriseAttributes.h.inc"

namespace reprise {

/// Returns true for tensor<i64>.
bool isI64Scalar(mlir::Type type);

/// Returns true if `op` carries a replay number: no fold or rewrite may undo it.
bool isReplay(mlir::Operation *op);

/// Returns the type in which an op computes: f32 for 16-bit floats, otherwise the type itself.
mlir::Type getComputeType(mlir::Type elementType);

/// Infers the NumPy broadcast of ranked tensor types; emits an error at `location` if shapes or
/// element types disagree.
llvm::LogicalResult inferBroadcastType(std::optional<mlir::Location> location,
                                       mlir::TypeRange operands,
                                       llvm::SmallVectorImpl<mlir::Type> &results);

/// Infers the type of `operand` without the dimensions `dims`, which must ascend.
llvm::LogicalResult inferReducedType(std::optional<mlir::Location> location, mlir::Type operand,
                                     llvm::ArrayRef<int64_t> dims,
                                     llvm::SmallVectorImpl<mlir::Type> &results);

/// Adds a write effect to a drawing op before the random phase, so that it is never merged, dropped
/// or reordered.
void addDrawEffects(
    mlir::Operation *op,
    llvm::SmallVectorImpl<mlir::SideEffects::EffectInstance<mlir::MemoryEffects::Effect>> &effects);

/// Verifies that seed and offset come together, that the origin fits the rank, and that rates and
/// ranges are valid.
llvm::LogicalResult verifyDraw(mlir::Operation *op);

/// Positions [begin, end) of one spatial dimension, all inside the image, that a window covers.
struct WindowRange {
  int64_t begin, end;
};
/// Returns the positions that output `i` of `steps` outputs of the pooling `op` covers, of `size`
/// positions in spatial dimension `dim`.
WindowRange getWindowRange(mlir::Operation *op, size_t dim, int64_t size, int64_t steps, int64_t i);
/// Returns the number of results of the pooling `op` times the size of its window.
int64_t countWindowTerms(mlir::Operation *op);

} // namespace reprise

#define GET_OP_CLASSES
#include "reprise/Dialect/Reprise/IR/RepriseOps.h.inc"

#endif
