// reprise: parameter updates as ops
#ifndef REPRISE_ZOO_OPTIMIZERS_H
#define REPRISE_ZOO_OPTIMIZERS_H

#include "Model.h"

namespace reprise::zoo {

/// A learning rate that trains small models.
double defaultRate(Optimizer optimizer);

/// The state arguments of the optimizer for `parameters`.
std::vector<Tensor> optimizerState(GraphBuilder &g, Optimizer optimizer,
                                   const std::vector<Tensor> &parameters);

/// Scales gradients in place so that the norm of all of them is at most `largest`, as
/// torch.nn.utils.clip_grad_norm_ does. Returns the norm before.
mlir::Value clipNorm(GraphBuilder &g, llvm::MutableArrayRef<mlir::Value> gradients, double largest);

/// Builds the updates from the value named learning_rate, the state and one gradient per parameter;
/// appends the next value of every parameter and state to `results`.
void appendUpdates(GraphBuilder &g, Optimizer optimizer, const std::vector<Tensor> &parameters,
                   const Values &values, llvm::ArrayRef<mlir::Value> gradients,
                   NamedValues &results);

} // namespace reprise::zoo

#endif // REPRISE_ZOO_OPTIMIZERS_H
