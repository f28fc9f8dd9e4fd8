// reprise: the hash of a run's results
#include "reprise/Runtime/ArrayHasher.h"
#include "reprise/Runtime/Hash.h"

#include <cstring>

using namespace reprise::runtime;

/// Adds the mixes of `count` elements from position `first` on. The constants are those of
/// splitmix64 (Vigna, https://prng.di.unimi.it/splitmix64.c).
template <typename Word>
static uint64_t sumWords(const char *data, uint64_t count, uint64_t first) {
  uint64_t sum = 0, key = (first + 1) * 0x9e3779b97f4a7c15u;
  for (uint64_t i = 0; i < count; ++i, key += 0x9e3779b97f4a7c15u) {
    Word word;
    std::memcpy(&word, data + i * sizeof word, sizeof word);
    uint64_t mixed = (key ^ key >> 32 ^ word) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ mixed >> 32) * 0x94d049bb133111ebu;
    sum += mixed ^ mixed >> 32;
  }
  return sum;
}

static uint64_t sumWords(const char *data, uint64_t count, uint64_t first, uint64_t wordBytes) {
  switch (wordBytes) {
  case 1:
    return sumWords<uint8_t>(data, count, first);
  case 2:
    return sumWords<uint16_t>(data, count, first);
  case 4:
    return sumWords<uint32_t>(data, count, first);
  default:
    return sumWords<uint64_t>(data, count, first);
  }
}

uint64_t reprise::runtime::sumElements(const ArrayRef &array) {
  uint64_t sum = 0, size = elementBytes(array.dtype);
  forEachChunk(array, [&](const void *chunk, uint64_t bytes, uint64_t at) {
    sum += sumWords(static_cast<const char *>(chunk), bytes / size, at / size, size);
    return true;
  });
  return sum;
}

uint64_t reprise::runtime::hashArrays(const std::vector<ArrayRef> &arrays,
                                      const std::vector<uint64_t> &sums) {
  Hasher hasher;
  uint64_t sum = 0;
  for (size_t i = 0; i < arrays.size(); ++i) {
    const ArrayRef &array = arrays[i];
    if (array.firstRow == 0) {
      std::vector<int64_t> shape = array.wholeShape();
      hasher.update(array.name);
      hasher.update(dtypeName(array.dtype));
      hasher.update(shape.data(), shape.size() * sizeof(int64_t));
      sum = 0;
    }
    sum += sums[i];
    if (array.endsWhole())
      hasher.mix(sum);
  }
  return hasher.value();
}

uint64_t reprise::runtime::hashArrays(const std::vector<ArrayRef> &arrays) {
  std::vector<uint64_t> sums;
  for (const ArrayRef &array : arrays)
    sums.push_back(sumElements(array));
  return hashArrays(arrays, sums);
}

std::string reprise::runtime::hashText(uint64_t hash) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}
