// reprise: emits the addresses of attention's operands, the visible keys of queries, and positions
// of words
#ifndef REPRISE_CONVERSION_ATTENTIONGEOMETRY_H
#define REPRISE_CONVERSION_ATTENTIONGEOMETRY_H

#include "reprise/Conversion/AttentionSpec.h"
#include "reprise/Conversion/ControlFlow.h"
#include "reprise/Conversion/Elements.h"

#include <array>

namespace reprise {

/// The (batch, head) at hand.
struct HeadIndex {
  mlir::Value number, batch, head;
};

/// Emits into one kernel. `Value`s without another type are i64.
class AttentionGeometry {
public:
  using Value = mlir::Value;

  AttentionGeometry(KernelBuilder &k, const AttentionSpec &spec) : k(k), b(k.b), spec(spec) {}

  KernelBuilder &k;
  mlir::ImplicitLocOpBuilder &b;
  const AttentionSpec &spec;

  Value max(Value x, Value y);
  /// Returns x, but at least lo and at most hi.
  Value clamp(Value x, Value lo, Value hi) { return max(lo, k.min(x, hi)); }

  /// The keys that the query `i` sees; of queries beyond the last one, all.
  Value visibleTo(Value i) {
    return spec.causal ? k.min(k.add(i, spec.shift() + 1), k.i64(spec.keys)) : k.i64(spec.keys);
  }

  /// Returns head `number` of all heads, with `heads` heads per batch entry.
  HeadIndex headOf(Value number, int64_t heads);
  /// Return the key head that a query head reads, and query head `number` of the query heads that
  /// read a key head.
  HeadIndex keyHeadOf(const HeadIndex &head);
  HeadIndex queryHeadOf(const HeadIndex &keyHead, Value number);
  /// The first element of a head in an operand of the given strides.
  Value headBase(unsigned buffer, mlir::Type type, const AttentionStrides &strides,
                 const HeadIndex &head);
};

/// Values that determine the words of dropout; unset if a spec does not draw.
struct AttentionDraw {
  /// Loads the values from the buffers from `firstBuffer`, the stream's buffer, on.
  AttentionDraw(AttentionGeometry &geometry, unsigned firstBuffer);

  /// The position of (query i, key 0).
  mlir::Value position(const HeadIndex &head, mlir::Value i);

  mlir::Value seed, stream, offset;
  std::array<mlir::Value, 4> origin;

private:
  AttentionGeometry &geometry;
};

} // namespace reprise

#endif // REPRISE_CONVERSION_ATTENTIONGEOMETRY_H
