// reprise: dynamic loss scaling (Micikevicius et al. 2018, section 3.2) as ops
#ifndef REPRISE_ZOO_LOSSSCALE_H
#define REPRISE_ZOO_LOSSSCALE_H

#include "Model.h"

namespace reprise::zoo {

/// Returns the states of the loss scale: the factor of the loss, and the number of steps since its
/// last change.
std::vector<Tensor> lossScaleState(GraphBuilder &g);

/// Converts the gradients of the scaled loss to those of the loss.
void unscale(GraphBuilder &g, const Values &values, llvm::MutableArrayRef<mlir::Value> gradients);

/// 1 if every element of every gradient is finite.
mlir::Value areFinite(GraphBuilder &g, llvm::ArrayRef<mlir::Value> gradients);

/// Keeps the old values of all arguments in `next` unless `finite`.
void skipUnless(GraphBuilder &g, mlir::Value finite, const Values &values, NamedValues &next);

/// Appends the next scale: half after a step that was not finite, double after 2,000 finite steps.
void appendLossScale(GraphBuilder &g, mlir::Value finite, const Values &values, NamedValues &next);

} // namespace reprise::zoo

#endif // REPRISE_ZOO_LOSSSCALE_H
