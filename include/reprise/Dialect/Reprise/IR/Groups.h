// reprise: means that belong to a group of samples
#ifndef REPRISE_DIALECT_REPRISE_IR_GROUPS_H
#define REPRISE_DIALECT_REPRISE_IR_GROUPS_H

#include "llvm/ADT/StringRef.h"

namespace reprise {

/// Mark of means over the batch and of quotients by the batch size; discardable. If the batch is
/// cut, each part is a group with its own mean. Batch norms and their derivatives carry it.
inline constexpr llvm::StringLiteral kPerGroupAttr = "reprise.per_group";

} // namespace reprise

#endif // REPRISE_DIALECT_REPRISE_IR_GROUPS_H
