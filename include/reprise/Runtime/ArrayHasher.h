// reprise: the hash of a run's results
#ifndef REPRISE_RUNTIME_ARRAYHASHER_H
#define REPRISE_RUNTIME_ARRAYHASHER_H

#include "reprise/Runtime/ArrayFile.h"
#include "reprise/Runtime/Hash.h"

namespace reprise::runtime {

/// Hash over name, element type, shape and bits of arrays in their order; NaNs are canonical. The
/// next offset is not included. Consecutive parts of an array count as the whole array.
class ArrayHasher {
public:
  void add(const ArrayRef &array);
  uint64_t value() const { return hasher.value(); }

  /// Returns, and reads, the state of the hasher, so that another process can continue.
  std::string text() const;
  void goOn(const std::string &text);

private:
  void addBytes(const ArrayRef &array);

  Hasher hasher;
  std::string left; ///< bytes of a part that do not fill a word
};
uint64_t hashArrays(const std::vector<ArrayRef> &arrays);
/// Returns 16 hexadecimal digits.
std::string hashText(uint64_t hash);

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_ARRAYHASHER_H
