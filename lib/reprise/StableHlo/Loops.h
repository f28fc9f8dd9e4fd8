// reprise: loops that are being imported
#ifndef REPRISE_LIB_STABLEHLO_LOOPS_H
#define REPRISE_LIB_STABLEHLO_LOOPS_H

#include "mlir/IR/Region.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "llvm/ADT/DenseSet.h"

namespace reprise::stablehlo {

/// The body of a loop on its way. It stands apart until it is whole.
struct LoopBody {
  mlir::Region region;
  int64_t trips;
  mlir::Value counter;               ///< in the body; null if it does not count 0, 1, 2, …
  size_t level;                      ///< its place among the regions that are open
  llvm::SmallVector<mlir::Value> xs; ///< what it reads row by row: an argument each
  llvm::DenseSet<mlir::Operation *> rowWrites; ///< updates of row `counter`
};

} // namespace reprise::stablehlo

#endif // REPRISE_LIB_STABLEHLO_LOOPS_H
