// reprise: the 64-bit hash of bundle checksums and result hashes
#ifndef REPRISE_RUNTIME_HASH_H
#define REPRISE_RUNTIME_HASH_H

#include <cstdint>
#include <cstring>
#include <string>

namespace reprise::runtime {

/// Hash by FNV-1a's scheme on 64-bit words; single bytes would take seconds for a large model. Each
/// word is xored in, multiplied by 2^64/golden ratio, and the high half folded down. Every step is
/// a bijection of the state and of the word, so every change within one aligned word of a field
/// changes the hash. The hash is not cryptographic.
class Hasher {
public:
  Hasher() = default;
  /// Continues from the value() of another hasher.
  explicit Hasher(uint64_t value) : state(value) {}
  /// Adds one field: its words, then its length.
  void update(const void *data, uint64_t size) {
    words(data, size);
    mix(size);
  }
  void update(const std::string &text) { update(text.data(), text.size()); }
  /// Adds the words of a part of a field and pads the last word with zeros. All parts but the last
  /// must be multiples of 8 bytes, and the caller mixes in the length.
  void words(const void *data, uint64_t size) {
    const char *bytes = static_cast<const char *>(data);
    for (; size >= 8; size -= 8, bytes += 8)
      mix(load(bytes, 8));
    if (size != 0)
      mix(load(bytes, size));
  }
  /// Adds one word without a length: the caller knows the number of words.
  void mix(uint64_t word) {
    state = (state ^ word) * 0x9e3779b97f4a7c15u;
    state ^= state >> 32;
  }
  uint64_t value() const { return state; }

private:
  static uint64_t load(const char *bytes, uint64_t size) {
    uint64_t word = 0;
    std::memcpy(&word, bytes, size);
    return word;
  }
  uint64_t state = 0xcbf29ce484222325u;
};

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_HASH_H
