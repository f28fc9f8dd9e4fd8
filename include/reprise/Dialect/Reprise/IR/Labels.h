// reprise: what labels ask for
#ifndef REPRISE_DIALECT_REPRISE_IR_LABELS_H
#define REPRISE_DIALECT_REPRISE_IR_LABELS_H

#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise {

/// Returns true for labels that a plan may not override.
inline bool isMust(Label label) {
  return label == Label::must_save || label == Label::must_recompute ||
         label == Label::must_offload;
}

/// Returns true for `must_save` and `prefer_save`.
inline bool asksToSave(Label label) {
  return label == Label::must_save || label == Label::prefer_save;
}

/// Returns true for `must_recompute` and `prefer_recompute`.
inline bool asksToRecompute(Label label) {
  return label == Label::must_recompute || label == Label::prefer_recompute;
}

} // namespace reprise

#endif // REPRISE_DIALECT_REPRISE_IR_LABELS_H
