// reprise: loops under import
#ifndef REPRISE_LIB_STABLEHLO_LOOPS_H
#define REPRISE_LIB_STABLEHLO_LOOPS_H

#include "mlir/IR/Region.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "llvm/ADT/DenseSet.h"

namespace reprise::stablehlo {

/// Body of a loop under construction, detached until it is complete.
struct LoopBody {
  mlir::Region region;
  int64_t trips;
  mlir::Value counter;               ///< counter in the body; null unless it counts 0, 1, 2, …
  size_t level;                      ///< index in the open regions
  llvm::SmallVector<mlir::Value> xs; ///< values read row by row, with an argument each
  llvm::DenseSet<mlir::Operation *> rowWrites; ///< updates of row `counter`
};

} // namespace reprise::stablehlo

#endif // REPRISE_LIB_STABLEHLO_LOOPS_H
