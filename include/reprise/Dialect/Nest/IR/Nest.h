// reprise: the dialect of launches as loop nests over elements
#ifndef REPRISE_DIALECT_NEST_IR_NEST_H
#define REPRISE_DIALECT_NEST_IR_NEST_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "reprise/Dialect/Nest/IR/Shape.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Target/Launch.h"

namespace reprise::nests {

/// A place in a buffer: a sum of indices of a kernel.
struct Place : Sum<mlir::Value> {
  Place() = default;
  /// The last coefficient is the offset.
  Place(mlir::ValueRange indices, llvm::ArrayRef<int64_t> coefficients);
  llvm::SmallVector<mlir::Value> indices() const {
    return llvm::to_vector(llvm::make_first_range(terms));
  }
  /// The coefficients, and last the offset.
  llvm::SmallVector<int64_t> coefficients() const;
};

/// The type of an element.
inline mlir::RankedTensorType elementOf(mlir::Type type) {
  return mlir::RankedTensorType::get({}, type);
}
bool isElement(mlir::Type type);

/// Buffers as the numbers of `slots`: kind, index and offset of each.
llvm::SmallVector<int64_t> spellSlots(llvm::ArrayRef<BufferSlot> buffers);
llvm::SmallVector<BufferSlot> readSlots(llvm::ArrayRef<int64_t> numbers);

llvm::LogicalResult verifyPlace(mlir::Operation *op, mlir::ValueRange indices,
                                llvm::ArrayRef<int64_t> coefficients);

} // namespace reprise::nests

#include "reprise/Dialect/Nest/IR/NestDialect.h.inc"
#include "reprise/Dialect/Nest/IR/NestEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "reprise/Dialect/Nest/IR/NestAttributes.h.inc"
#define GET_TYPEDEF_CLASSES
#include "reprise/Dialect/Nest/IR/NestTypes.h.inc"
#define GET_OP_CLASSES
#include "reprise/Dialect/Nest/IR/NestOps.h.inc"

#endif // REPRISE_DIALECT_NEST_IR_NEST_H
