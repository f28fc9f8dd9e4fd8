// reprise: the manifest of a bundle as a row of fields, written and read
#ifndef REPRISE_LIB_RUNTIME_BUNDLESTREAM_H
#define REPRISE_LIB_RUNTIME_BUNDLESTREAM_H

#include "reprise/Runtime/Bundle.h"

#include <cstring>

namespace reprise::runtime {

/// Appender of fields to the manifest. Reader has the same members, so that one list of fields
/// (BundleFile.cpp) serves both directions.
class Writer {
public:
  std::vector<uint8_t> bytes;

  void raw(const void *data, uint64_t size) {
    const uint8_t *begin = static_cast<const uint8_t *>(data);
    bytes.insert(bytes.end(), begin, begin + size);
  }
  template <typename T> void number(const T &value) { raw(&value, sizeof value); }
  template <typename T> void enumerator(const T &value, unsigned) { number(uint8_t(value)); }
  void flag(const bool &value) { number(uint8_t(value)); }
  void text(const std::string &value) {
    number(uint64_t(value.size()));
    raw(value.data(), value.size());
  }
  /// Small numbers of either sign take few bytes: seven bits each, the lowest first.
  void difference(int64_t value) {
    uint64_t left = (uint64_t(value) << 1) ^ uint64_t(value >> 63);
    for (; left >= 0x80; left >>= 7)
      bytes.push_back(uint8_t(left | 0x80));
    bytes.push_back(uint8_t(left));
  }
  void bytesOf(const Image &image) { number(uint64_t(image.bytes.size())); }
  template <typename T, typename Each>
  void sequence(const std::vector<T> &values, uint64_t, Each each) {
    number(uint64_t(values.size()));
    for (const T &value : values)
      each(value);
  }
};

/// Reader of fields. After the first field that does not fit, `failed` is set and values stay
/// unchanged.
class Reader {
public:
  bool failed = false;
  std::vector<uint64_t> imageBytes;

  Reader(const uint8_t *data, uint64_t size) : data(data), left(size) {}

  bool atEnd() const { return left == 0; }
  bool raw(void *into, uint64_t size) {
    if (failed || size > left) {
      failed = true;
      return false;
    }
    if (size != 0)
      std::memcpy(into, data, size);
    data += size;
    left -= size;
    return true;
  }
  template <typename T> void number(T &value) { raw(&value, sizeof value); }
  template <typename T> void enumerator(T &value, unsigned limit) {
    uint8_t byte = 0;
    number(byte);
    if (byte >= limit)
      failed = true;
    else
      value = T(byte);
  }
  void flag(bool &value) { enumerator(value, 2); }
  void text(std::string &value) {
    uint64_t size = 0;
    number(size);
    if (failed || size > left) {
      failed = true;
      return;
    }
    value.resize(size);
    raw(value.data(), size);
  }
  int64_t difference() {
    uint64_t value = 0;
    uint8_t byte = 0x80;
    for (unsigned shift = 0; !failed && (byte & 0x80); shift += 7) {
      byte = 0;
      number(byte);
      failed |= shift > 63;
      value |= failed ? 0 : uint64_t(byte & 0x7f) << shift;
    }
    return int64_t(value >> 1) ^ -int64_t(value & 1);
  }
  /// Reads only the number of bytes: memory is allocated only when the bytes are known to fit.
  void bytesOf(Image &) { number(imageBytes.emplace_back()); }
  /// Reads a sequence. `least` is the minimum of bytes per element: a hostile count cannot request
  /// more memory than a small multiple of the file's size.
  template <typename T, typename Each>
  void sequence(std::vector<T> &values, uint64_t least, Each each) {
    uint64_t count = 0;
    number(count);
    if (failed || count > left / least) {
      failed = true;
      return;
    }
    values.resize(count);
    for (T &value : values)
      each(value);
  }

private:
  const uint8_t *data;
  uint64_t left;
};

} // namespace reprise::runtime

#endif // REPRISE_LIB_RUNTIME_BUNDLESTREAM_H
