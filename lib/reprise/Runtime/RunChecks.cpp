// reprise: checks of a run between its commands: indices, and replays against their originals
#include "RunChecks.h"

#include "reprise/Runtime/Npy.h"

#include <algorithm>
#include <cstring>

using namespace reprise::runtime;

template <typename Index> static Error checkRange(const IndexCheck &check, const void *data) {
  const Index *indices = static_cast<const Index *>(data);
  uint64_t first = 0, wrong = 0;
  for (uint64_t i = 0; i < check.count; ++i)
    if ((indices[i] < 0 || int64_t(indices[i]) >= check.limit) && wrong++ == 0)
      first = i;
  if (wrong == 0)
    return Error::success();
  return Error::make("indices of " + check.name + " outside [0, " + std::to_string(check.limit) +
                     "): " + std::to_string(wrong) + " of " + std::to_string(check.count) +
                     ", the first is " + std::to_string(indices[first]) + " at position " +
                     std::to_string(first));
}

Error reprise::runtime::checkIndices(Executable &executable, const Addresses &places,
                                     const Command &command,
                                     const std::vector<int64_t> &iterations) {
  for (const IndexCheck &check : command.indexChecks) {
    const void *data = places.of(command.operands[check.operand], iterations);
    std::vector<uint64_t> copy; // words, so that integers are aligned
    if (!executable.device().hasHostMemory()) {
      uint64_t bytes = check.count * elementBytes(check.dtype);
      copy.resize(bytes / 8 + 1);
      if (Error error = executable.readMemory(copy.data(), data, bytes))
        return error;
      data = copy.data();
    }
    Error error = check.dtype == DType::I32 ? checkRange<int32_t>(check, data)
                                            : checkRange<int64_t>(check, data);
    if (error)
      return error;
  }
  return Error::success();
}

static Error compareReplay(Executable &executable, const Addresses &places,
                           const ReplayCheck &check) {
  uint8_t *original = places.of(check.original), *replayed = places.of(check.replayed);
  uint64_t bytes = check.original.bytes, width = elementBytes(check.dtype);
  std::vector<uint8_t> copies;
  if (!executable.device().hasHostMemory()) {
    copies.resize(2 * bytes);
    if (Error error = executable.readMemory(copies.data(), original, bytes))
      return error;
    if (Error error = executable.readMemory(copies.data() + bytes, replayed, bytes))
      return error;
    original = copies.data();
    replayed = original + bytes;
  }
  if (std::memcmp(original, replayed, bytes) == 0)
    return Error::success();
  canonicalizeNaNs(check.dtype, original, bytes / width);
  canonicalizeNaNs(check.dtype, replayed, bytes / width);
  uint64_t at = std::mismatch(original, original + bytes, replayed).first - original;
  if (at == bytes)
    return Error::success();
  return Error::make(check.name + " differs from its original at element " +
                     std::to_string(at / width));
}

Error reprise::runtime::compareReplays(Executable &executable, const Addresses &places) {
  for (const ReplayCheck &check : executable.bundle().replayChecks)
    if (Error error = compareReplay(executable, places, check))
      return error;
  return Error::success();
}
