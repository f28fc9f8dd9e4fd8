// reprise: which elementwise ops share the launch of a contraction
#ifndef REPRISE_CONVERSION_LOOPNEST_CONTRACTIONGROUP_H
#define REPRISE_CONVERSION_LOOPNEST_CONTRACTIONGROUP_H

#include "mlir/IR/Operation.h"

namespace reprise::nests {

/// One contraction or convolution, and elementwise ops on its result's shape after it, which its
/// blocks go through before they are stored.
bool isContractionGroup(llvm::ArrayRef<mlir::Operation *> ops);

} // namespace reprise::nests

#endif // REPRISE_CONVERSION_LOOPNEST_CONTRACTIONGROUP_H
