// reprise: the arrays whose parts live on the devices of the model axis
#ifndef REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_MODELARRAYS_H
#define REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_MODELARRAYS_H

#include "ModelRules.h"

namespace reprise {

/// Returns true for an op that belongs to a gradient, or that a gradient is taken of.
bool isOfGradient(mlir::Operation &op);

/// Returns true if the op computes each element of its result from the same elements of its
/// operands, outside of gradients.
bool isUpdate(mlir::Operation &op);

/// Returns the dimension along which arrays are stored in parts, for each of these arrays and for
/// the results of the ops that update them. The elementwise ops of an update connect a parameter
/// with its states and next values, which all have the cut of the parameter's rule. Connected
/// arrays with different rules stay whole.
llvm::DenseMap<mlir::Value, int64_t> findModelArrays(ProgramOp step, const ArgumentCuts &arguments);

} // namespace reprise

#endif // REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_MODELARRAYS_H
