// reprise: the bytes of a tensor in memory
#ifndef REPRISE_SUPPORT_BYTESIZE_H
#define REPRISE_SUPPORT_BYTESIZE_H

#include "mlir/IR/Types.h"

namespace reprise {

/// Bytes of a ranked tensor type in memory; i1 takes one byte per element.
int64_t getByteSize(mlir::Type type);

} // namespace reprise

#endif // REPRISE_SUPPORT_BYTESIZE_H
