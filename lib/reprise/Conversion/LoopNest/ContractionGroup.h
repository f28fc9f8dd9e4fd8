// reprise: which elementwise ops share the launch of a contraction
#ifndef REPRISE_CONVERSION_LOOPNEST_CONTRACTIONGROUP_H
#define REPRISE_CONVERSION_LOOPNEST_CONTRACTIONGROUP_H

#include "mlir/IR/Operation.h"

namespace reprise::nests {

/// True if the ops are a contraction or convolution, followed by elementwise ops on the shape of
/// its result. The kernel applies these ops to each block of the result before it stores the block.
bool isContractionGroup(llvm::ArrayRef<mlir::Operation *> ops);

} // namespace reprise::nests

#endif // REPRISE_CONVERSION_LOOPNEST_CONTRACTIONGROUP_H
