// reprise: what an op does, wherever it stands: its kind, type and signature.
#ifndef REPRISE_DIALECT_REPRISE_IR_WORK_H
#define REPRISE_DIALECT_REPRISE_IR_WORK_H

#include "mlir/IR/Operation.h"

namespace reprise {

/// The kind of work: attention, contraction, convolution, normalization, reduction, pool, indexing,
/// random, view, elementwise or other. The first of these that an op's interfaces name is its kind.
llvm::StringRef getKindName(mlir::Operation *op);

/// True for the kinds whose work is sums of products.
bool isContractionKind(llvm::StringRef kind);

/// The element type of the first operand, or of the first result of an op without one, such as
/// "f32"; empty if it has neither.
std::string getElementTypeName(mlir::Operation *op);

/// A hash of name, types and inherent attributes: ops with one signature do the same work. Streams
/// and the marks of replays, in which layers and copies differ, are no part of it.
uint64_t getSignature(mlir::Operation *op);

} // namespace reprise

#endif
