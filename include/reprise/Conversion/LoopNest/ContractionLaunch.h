// reprise: launches whose leader is a contraction or a convolution, for all targets
#ifndef REPRISE_CONVERSION_LOOPNEST_CONTRACTIONLAUNCH_H
#define REPRISE_CONVERSION_LOOPNEST_CONTRACTIONLAUNCH_H

#include "mlir/IR/Block.h"

namespace reprise {

/// True if the body is a contraction or convolution, followed by elementwise ops on its result.
bool isContractionLaunch(mlir::Block &body);

/// Returns the pairs (operand of the terminator, argument) that may lie at the same address, for
/// the body of a contraction launch (see Target::findInPlacePairs).
llvm::SmallVector<std::pair<unsigned, unsigned>> findContractionInPlacePairs(mlir::Block &body);

} // namespace reprise

#endif // REPRISE_CONVERSION_LOOPNEST_CONTRACTIONLAUNCH_H
