// reprise: the hash of a run's results
#include "reprise/Runtime/ArrayHasher.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace reprise::runtime;

void ArrayHasher::add(const ArrayRef &array) {
  if (array.firstRow == 0) {
    std::vector<int64_t> shape = array.wholeShape();
    hasher.update(array.name);
    hasher.update(dtypeName(array.dtype));
    hasher.update(shape.data(), shape.size() * sizeof(int64_t));
  }
  addBytes(array);
  if (array.endsWhole())
    hasher.mix(array.wholeBytes());
}

/// Adds whole words, so that the hash equals that of an array in one piece.
void ArrayHasher::addBytes(const ArrayRef &array) {
  constexpr uint64_t chunkBytes = 1 << 16;
  std::vector<uint64_t> chunk(chunkBytes / 8 + 1);
  char *begin = reinterpret_cast<char *>(chunk.data());
  const char *data = static_cast<const char *>(array.data);
  uint64_t bytes = array.bytes();
  for (uint64_t at = 0; at < bytes; at += chunkBytes) {
    uint64_t part = std::min(bytes - at, chunkBytes), filled = left.size();
    std::memcpy(begin, left.data(), filled);
    std::memcpy(begin + filled, data + at, part);
    canonicalizeNaNs(array.dtype, begin + filled, part / elementBytes(array.dtype));
    bool isEnd = array.endsWhole() && at + part == bytes;
    uint64_t ready = isEnd ? filled + part : (filled + part) / 8 * 8;
    hasher.words(begin, ready);
    left.assign(begin + ready, filled + part - ready);
  }
}

std::string ArrayHasher::text() const { return hashText(hasher.value()) + left; }

void ArrayHasher::goOn(const std::string &text) {
  hasher = Hasher(std::strtoull(text.substr(0, 16).c_str(), nullptr, 16));
  left = text.substr(std::min<size_t>(text.size(), 16));
}

uint64_t reprise::runtime::hashArrays(const std::vector<ArrayRef> &arrays) {
  ArrayHasher hasher;
  for (const ArrayRef &array : arrays)
    hasher.add(array);
  return hasher.value();
}

std::string reprise::runtime::hashText(uint64_t hash) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}
