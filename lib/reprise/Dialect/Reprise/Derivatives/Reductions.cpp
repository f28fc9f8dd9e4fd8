// reprise: derivatives of reductions and contractions.
#include "Pullback.h"

#include <limits>

using namespace mlir;
using namespace reprise;

namespace reprise {

using Indices = SmallVector<int64_t>;

//===-- Reductions ----------------------------------------------------------------------------===//

template <> void differentiate(SumOp op, Pullback &p) {
  p.give(0, p.spread(p.getRaw(), tensorTypeOf(op.getOperand()).getShape(), op.getDims()));
}

template <> void differentiate(MeanOp op, Pullback &p) {
  auto from = tensorTypeOf(op.getOperand());
  int64_t count = 1;
  for (int64_t dim : op.getDims())
    count *= from.getDimSize(dim);
  Value g = p.get(), each = p.div(g, p.like(g, count));
  // We round before we repeat: the bits are the same, and fewer elements are rounded.
  if (p.wants(0))
    each = p.convert(each, p.getWanted(0).getElementType());
  p.give(0, p.spread(each, from.getShape(), op.getDims()));
}

namespace {
/// Several reduced dimensions as one, the last; a single dimension stays in its place.
class ReducedAsOne {
public:
  ReducedAsOne(Pullback &p, RankedTensorType type, ArrayRef<int64_t> reduced);
  int64_t getDim() const { return dim; }
  /// The shape without the dimension.
  ArrayRef<int64_t> getKept() const { return kept; }
  Value join(Value x) { return isSplit ? p.reshape(p.transpose(x, order), joined) : x; }
  Value split(Value x) { return isSplit ? p.transpose(p.reshape(x, permuted), inverse) : x; }

private:
  Pullback &p;
  bool isSplit;
  int64_t dim;
  /// Permutation to kept dimensions, then reduced dimensions, and its inverse.
  Indices order, inverse, permuted, kept, joined;
};
} // namespace

ReducedAsOne::ReducedAsOne(Pullback &p, RankedTensorType type, ArrayRef<int64_t> reduced)
    : p(p), isSplit(reduced.size() > 1), dim(reduced.front()), inverse(type.getRank()) {
  int64_t count = 1;
  for (int64_t d = 0; d < type.getRank(); ++d) {
    if (llvm::is_contained(reduced, d)) {
      count *= type.getDimSize(d);
      continue;
    }
    order.push_back(d);
    kept.push_back(type.getDimSize(d));
  }
  llvm::append_range(order, reduced);
  for (auto [to, from] : llvm::enumerate(order)) {
    inverse[from] = to;
    permuted.push_back(type.getDimSize(from));
  }
  joined = kept;
  joined.push_back(count);
  if (isSplit)
    dim = kept.size();
}

/// Routes the whole cotangent to the first maximum of `x` (row-major over the reduced dimensions).
static Value routeToMaximum(Pullback &p, Value x, ArrayRef<int64_t> dims, Value g) {
  ReducedAsOne one(p, tensorTypeOf(x), dims);
  Value rows = one.join(x);
  ArrayRef<int64_t> shape = tensorTypeOf(rows).getShape();
  Value first = ArgmaxOp::create(p.b, tensorTypeOf(g).clone(p.b.getI64Type()), rows, one.getDim());
  Value spread = p.spread(g, shape, one.getDim());
  return one.split(p.select(isAt(p, first, shape, one.getDim()), spread, p.like(spread, 0)));
}

template <typename OpT> static void routeToExtreme(OpT op, Pullback &p, Value x) {
  // Without elements there is no cotangent.
  if (tensorTypeOf(op.getOperand()).getNumElements() != 0)
    p.give(0, routeToMaximum(p, x, op.getDims(), p.getRaw()));
}

template <> void differentiate(MaxOp op, Pullback &p) { routeToExtreme(op, p, op.getOperand()); }
template <> void differentiate(MinOp op, Pullback &p) {
  routeToExtreme(op, p, p.neg(op.getOperand()));
}

/// Returns, along a dimension, the product of `x` at the indices before each index (or after it): x
/// shifted by one, then products of runs that double in length.
static Value multiplyRuns(Pullback &p, Value x, int64_t dim, bool after) {
  auto type = tensorTypeOf(x);
  int64_t size = type.getDimSize(dim);
  auto one = cast<TypedAttr>(p.b.getFloatAttr(type.getElementType(), 1));
  auto shift = [&](Value value, int64_t distance) {
    Indices none(type.getRank(), 0), starts = none, low = none, high = none;
    Indices limits = llvm::to_vector(type.getShape());
    starts[dim] = after ? distance : 0;
    limits[dim] = after ? size : size - distance;
    (after ? high : low)[dim] = distance;
    Value rest = SliceOp::create(p.b, value, starts, limits, Indices(type.getRank(), 1));
    return PadOp::create(p.b, type, rest, one, low, high, none);
  };
  Value run = shift(x, 1);
  for (int64_t distance = 1; distance < size - 1; distance *= 2)
    run = p.mul(run, shift(run, distance));
  return run;
}

/// The product of all others. Without a division, a zero is like any number, for further
/// derivatives too.
template <> void differentiate(ProdOp op, Pullback &p) {
  auto type = tensorTypeOf(op.getOperand());
  if (type.getNumElements() == 0)
    return;
  Value x = p.widen(op.getOperand());
  ReducedAsOne one(p, type, op.getDims());
  int64_t dim = one.getDim();
  Value rows = one.join(x);
  Value others = p.mul(multiplyRuns(p, rows, dim, false), multiplyRuns(p, rows, dim, true));
  p.give(0, one.split(p.mul(p.spread(p.get(), tensorTypeOf(rows).getShape(), dim), others)));
}

/// g·exp(x - y); 0 if all elements are -inf. The y of a 16-bit op is too short for that.
template <> void differentiate(LogSumExpOp op, Pullback &p) {
  Value x = p.widen(op.getOperand()), y = op.getResult();
  if (tensorTypeOf(x) != op.getOperand().getType())
    y = LogSumExpOp::create(p.b, x, op.getDims());
  ArrayRef<int64_t> shape = tensorTypeOf(x).getShape();
  Value nothing = p.like(y, -std::numeric_limits<double>::infinity());
  Value isNothing = p.compare(ComparePredicate::eq, y, nothing);
  Value shift = p.spread(p.select(isNothing, p.like(y, 0), y), shape, op.getDims());
  p.give(0, p.mul(p.spread(p.get(), shape, op.getDims()), p.exp(p.sub(x, shift))));
}

//===-- cumsum, top_k -------------------------------------------------------------------------===//

/// The sum of the cotangents of all later elements, in the type that the operand asks for.
template <> void differentiate(CumsumOp op, Pullback &p) {
  if (!p.wants(0))
    return;
  Value g = p.convert(p.getRaw(), p.getWanted(0).getElementType());
  auto reverse = op.getReverse() ? UnitAttr() : p.b.getUnitAttr();
  p.give(0, CumsumOp::create(p.b, g.getType(), g, op.getDimAttr(), reverse));
}

template <> void differentiate(TopKOp op, Pullback &p) {
  if (!p.wants(0) || !p.getRaw(0))
    return;
  Value g = p.convert(p.getRaw(0), p.getWanted(0).getElementType());
  p.give(0, ScatterAddAlongOp::create(p.b, p.getWanted(0), op.getIndices(), g));
}

//===-- dot_general ---------------------------------------------------------------------------===//

namespace {
/// Side of a contraction: the value and the roles of its dimensions, paired with the other side's
/// by position.
struct Side {
  Value value;
  Indices batch, contracting, free;
};
} // namespace

/// Returns the dimension of the wanted operand for each dimension of dot(cotangent, other), or of
/// dot(other, cotangent).
static Indices layout(const Side &self, const Side &other, bool cotangentFirst) {
  Indices mine = self.free, contracted, dims = self.batch;
  // The other side's contracted dimensions become free dimensions in ascending order.
  Indices ascending = other.contracting;
  llvm::sort(ascending);
  for (int64_t dim : ascending)
    contracted.push_back(self.contracting[std::distance(other.contracting.begin(),
                                                        llvm::find(other.contracting, dim))]);
  llvm::append_range(dims, cotangentFirst ? mine : contracted);
  llvm::append_range(dims, cotangentFirst ? contracted : mine);
  return dims;
}

/// Returns the cotangent of `self`: contracts `g`, whose dimensions are batch, then `self`'s free
/// ones and `other`'s in operand order, with `other` over the free dimensions of `other`.
static Value contractCotangent(Pullback &p, Value g, const Side &self, const Side &other,
                               bool selfIsLhs, Type elementType, TypeAttr accumulation) {
  int64_t batch = self.batch.size();
  Indices gBatch = llvm::to_vector(llvm::seq<int64_t>(0, batch)), gContracting;
  int64_t start = batch + (selfIsLhs ? self.free.size() : 0);
  for (size_t i = 0; i < other.free.size(); ++i)
    gContracting.push_back(start + i);
  bool cotangentFirst =
      llvm::is_sorted(layout(self, other, true)) || !llvm::is_sorted(layout(self, other, false));
  Indices dims = layout(self, other, cotangentFirst), permutation(dims.size());
  for (auto [from, to] : llvm::enumerate(dims))
    permutation[to] = from;
  auto dot = cotangentFirst ? DotGeneralOp::create(p.b, g, other.value, gBatch, other.batch,
                                                   gContracting, other.free, elementType)
                            : DotGeneralOp::create(p.b, other.value, g, other.batch, gBatch,
                                                   other.free, gContracting, elementType);
  dot.setAccumulationAttr(accumulation);
  return p.transpose(dot, permutation);
}

template <typename OpT> static void differentiateDot(OpT op, Pullback &p) {
  Value g = p.getRaw(), l = op.getLhs(), r = op.getRhs();
  // For 16-bit operands with an f32 result, rounding the cotangent would lose bits, but widening
  // the other operand loses none.
  Type element = tensorTypeOf(g).getElementType();
  Side lhs{p.convert(l, element), llvm::to_vector(op.getLhsBatch()),
           llvm::to_vector(op.getLhsContracting()), op.getLhsFree()};
  Side rhs{p.convert(r, element), llvm::to_vector(op.getRhsBatch()),
           llvm::to_vector(op.getRhsContracting()), op.getRhsFree()};
  auto result = [&](unsigned i) {
    Type wanted = p.getWanted(i).getElementType();
    return wanted == getComputeType(wanted) ? wanted : element;
  };
  if (p.wants(0))
    p.give(0, contractCotangent(p, g, lhs, rhs, true, result(0), op.getAccumulationAttr()));
  if (p.wants(1))
    p.give(1, contractCotangent(p, g, rhs, lhs, false, result(1), op.getAccumulationAttr()));
}

template <> void differentiate(DotGeneralOp op, Pullback &p) { differentiateDot(op, p); }

/// Gradients contract other dimensions, so they have no lanes.
template <> void differentiate(DotLanesOp op, Pullback &p) { differentiateDot(op, p); }

template <> void differentiate(DotAccumulateOp op, Pullback &p) {
  differentiateDot(op, p);
  if (p.wants(2))
    p.give(2, p.getRaw());
}

} // namespace reprise
