// reprise: the ops of the dialect by ODS, and the random numbers of the fuzzer
#ifndef REPRISE_UTILS_FUZZ_OPS_H
#define REPRISE_UTILS_FUZZ_OPS_H

#include "reprise/Support/SplitMix.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <algorithm>
#include <cassert>
#include <cstdint>
#include <iterator>
#include <vector>

namespace reprise::fuzz {

struct OperandSpec {
  enum Count { One, Optional, Variadic };
  llvm::StringRef name;
  Count count;
  llvm::StringRef type; ///< constraint in words, which name the accepted element types
};

struct AttributeSpec {
  llvm::StringRef name;
  llvm::StringRef storage; ///< class: "DenseI64ArrayAttr", …
  llvm::StringRef element; ///< ODS' name of the value type, or empty
  bool optional;
  std::vector<llvm::StringRef> literals; ///< all values of an enumeration, in both spellings
};

struct OpSpec {
  llvm::StringRef name; ///< "reprise.add"
  std::vector<OperandSpec> operands;
  std::vector<AttributeSpec> attributes;
  std::vector<OperandSpec> results;
  unsigned regions;
  bool isTerminator;
  bool hasOwnParent; ///< whether it stands only in one kind of op, not among those of a function
};

/// Returns all ops of the dialect. `op-table.py` writes them from ODS, so a new op is included with
/// the next build.
const std::vector<OpSpec> &allOps();

/// Returns true for an op that no program of a fuzzer holds. The interpreter judges programs, and
/// knows no function of a host; a program of one device pulls nothing.
inline bool isBeyondPrograms(const OpSpec &spec) {
  return spec.name == "reprise.custom_call" || spec.name == "reprise.pull";
}

class Random : public SplitMix {
public:
  using SplitMix::SplitMix;

  /// Returns a number in [0, n).
  int64_t below(int64_t n) {
    assert(n > 0);
    return static_cast<int64_t>(next() % static_cast<uint64_t>(n));
  }
  /// Returns a number in [low, high].
  int64_t within(int64_t low, int64_t high) { return low + below(high - low + 1); }
  bool chance(int percent) { return below(100) < percent; }
  template <typename Range> auto &pick(Range &&range) { return range[below(std::size(range))]; }
  /// Picks an operand, rather from the end: the later one of two picks.
  template <typename Range> auto &pickLate(Range &&range) {
    int64_t size = std::size(range), first = below(size), second = below(size);
    return range[std::max(first, second)];
  }
};

} // namespace reprise::fuzz

#endif
