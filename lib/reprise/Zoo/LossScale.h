// reprise: dynamic loss scaling (Micikevicius et al. 2018, section 3.2) as ops
#ifndef REPRISE_ZOO_LOSSSCALE_H
#define REPRISE_ZOO_LOSSSCALE_H

#include "Model.h"

namespace reprise::zoo {

/// The factor of the loss and the number of steps since it last changed, as states.
std::vector<Tensor> lossScaleState(GraphBuilder &g);

/// The gradients of the loss from those of the scaled loss.
void unscale(GraphBuilder &g, const Values &values, llvm::MutableArrayRef<mlir::Value> gradients);

/// 1 if every element of every gradient is finite.
mlir::Value areFinite(GraphBuilder &g, llvm::ArrayRef<mlir::Value> gradients);

/// Keeps all of `next`, the next values of arguments, as they were unless `finite`.
void skipUnless(GraphBuilder &g, mlir::Value finite, const Values &values, NamedValues &next);

/// Appends the next scale: half of it after a step that was not finite, twice it after 2,000 that
/// were.
void appendLossScale(GraphBuilder &g, mlir::Value finite, const Values &values, NamedValues &next);

} // namespace reprise::zoo

#endif // REPRISE_ZOO_LOSSSCALE_H
