// reprise: launches whose leader is a contraction or a convolution, for all targets
#ifndef REPRISE_CONVERSION_LOOPNEST_CONTRACTIONLAUNCH_H
#define REPRISE_CONVERSION_LOOPNEST_CONTRACTIONLAUNCH_H

#include "mlir/IR/Block.h"

namespace reprise {

/// One contraction or convolution, then elementwise ops on its result.
bool isContractionLaunch(mlir::Block &body);

/// The pairs (operand of the terminator, argument) that may lie at the same address (see
/// Target::findInPlacePairs), for the body of such a launch.
llvm::SmallVector<std::pair<unsigned, unsigned>> findContractionInPlacePairs(mlir::Block &body);

} // namespace reprise

#endif // REPRISE_CONVERSION_LOOPNEST_CONTRACTIONLAUNCH_H
