// reprise: which micro-batches replay the forward passes of stages
#ifndef REPRISE_DIALECT_PIPE_IR_CHECKPOINTMODES_H
#define REPRISE_DIALECT_PIPE_IR_CHECKPOINTMODES_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

namespace reprise::pipe {

/// Value of `--checkpoint`, and whether stages replay their passes over micro-batches then.
struct CheckpointMode {
  llvm::StringLiteral name;
  bool replaysLast;   ///< the last micro-batch
  bool replaysOthers; ///< all micro-batches before the last one
};

/// Table of all modes; nothing else lists their names.
inline constexpr CheckpointMode checkpointModes[] = {
    {"always", true, true}, {"except-last", false, true}, {"never", false, false}};

/// Returns the mode of a name; null for any other text.
inline const CheckpointMode *findCheckpointMode(llvm::StringRef name) {
  const CheckpointMode *mode =
      llvm::find_if(checkpointModes, [&](const CheckpointMode &mode) { return mode.name == name; });
  return mode == std::end(checkpointModes) ? nullptr : mode;
}

} // namespace reprise::pipe

#endif // REPRISE_DIALECT_PIPE_IR_CHECKPOINTMODES_H
