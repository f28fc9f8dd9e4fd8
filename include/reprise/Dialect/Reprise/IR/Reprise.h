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

/// True for tensor<i64>.
bool isI64Scalar(mlir::Type type);

/// True if `op` carries a replay number: no fold or rewrite may undo it.
bool isReplay(mlir::Operation *op);

/// f32 for 16-bit floats, the type itself otherwise: what an op computes in.
mlir::Type getComputeType(mlir::Type elementType);

/// The NumPy broadcast of ranked tensor types; an error at `location` if shapes or element types
/// disagree.
llvm::LogicalResult inferBroadcastType(std::optional<mlir::Location> location,
                                       mlir::TypeRange operands,
                                       llvm::SmallVectorImpl<mlir::Type> &results);

/// The type of `operand` without the dimensions `dims`, which must ascend.
llvm::LogicalResult inferReducedType(std::optional<mlir::Location> location, mlir::Type operand,
                                     llvm::ArrayRef<int64_t> dims,
                                     llvm::SmallVectorImpl<mlir::Type> &results);

/// Until the random phase a drawing op writes: it is never merged, dropped or reordered.
void addDrawEffects(
    mlir::Operation *op,
    llvm::SmallVectorImpl<mlir::SideEffects::EffectInstance<mlir::MemoryEffects::Effect>> &effects);

/// Seed and offset come together, origin fits the rank, rates and ranges make sense.
llvm::LogicalResult verifyDraw(mlir::Operation *op);

/// The positions [begin, end) of one spatial dimension, all inside the image, that a window covers.
struct WindowRange {
  int64_t begin, end;
};
/// What output `i` of `steps` of the pooling `op` covers of `size` positions in spatial dimension
/// `dim`.
WindowRange getWindowRange(mlir::Operation *op, size_t dim, int64_t size, int64_t steps, int64_t i);
/// The number of results of the pooling `op` times the size of its window.
int64_t countWindowTerms(mlir::Operation *op);

} // namespace reprise

#define GET_OP_CLASSES
#include "reprise/Dialect/Reprise/IR/RepriseOps.h.inc"

#endif
