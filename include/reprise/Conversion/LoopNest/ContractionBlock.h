// reprise: a block of a contraction's results, on which a loop nest may go on
#ifndef REPRISE_CONVERSION_LOOPNEST_CONTRACTIONBLOCK_H
#define REPRISE_CONVERSION_LOOPNEST_CONTRACTIONBLOCK_H

#include "mlir/IR/Value.h"

#include <cstdint>

namespace reprise {

/// A block of finished results: element (row, column) of batch entry `batch` lies at scratch[(row −
/// row0) · ld + column − column0], in the accumulator's type, for row0 ≤ row < row1 and column0 ≤
/// column < column1. All are i64.
struct ContractionBlock {
  mlir::Value scratch, ld, batch, row0, row1, column0, column1;
  /// column0 is a multiple of this.
  int64_t columnStep;
};

} // namespace reprise

#endif // REPRISE_CONVERSION_LOOPNEST_CONTRACTIONBLOCK_H
