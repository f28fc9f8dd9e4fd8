// reprise: the work of an op, independent of its place: its kind, type and signature.
#ifndef REPRISE_DIALECT_REPRISE_IR_WORK_H
#define REPRISE_DIALECT_REPRISE_IR_WORK_H

#include "mlir/IR/Operation.h"

namespace reprise {

/// Returns the kind of work: attention, contraction, convolution, normalization, reduction, pool,
/// indexing, random, view, elementwise or other. The first match among the op's interfaces counts.
llvm::StringRef getKindName(mlir::Operation *op);

/// Returns true for the kinds whose work is sums of products.
bool isContractionKind(llvm::StringRef kind);

/// Returns the element type, such as "f32", of the first operand, or of the first result of an op
/// without operands; empty if it has neither.
std::string getElementTypeName(mlir::Operation *op);

/// Returns a hash of name, types and inherent attributes: ops with one signature do the same work.
/// Streams and replay numbers, in which layers and copies differ, are not included.
uint64_t getSignature(mlir::Operation *op);

} // namespace reprise

#endif
