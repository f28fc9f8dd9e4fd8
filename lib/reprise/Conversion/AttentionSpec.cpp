// reprise: scaled dot-product attention and its backward, as sizes and strides
#include "reprise/Conversion/AttentionSpec.h"

namespace reprise {

llvm::SmallVector<BufferSlot> AttentionBuffers::slots(const AttentionSpec &spec) const {
  llvm::SmallVector<BufferSlot> slots;
  for (int64_t i = 0; i < outputs; ++i)
    slots.push_back({BufferSlot::Input, i, 0});
  for (int64_t i = 0; i < llvm::count(spec.stored, true); ++i)
    slots.push_back({BufferSlot::Output, i, 0});
  return slots;
}

} // namespace reprise
