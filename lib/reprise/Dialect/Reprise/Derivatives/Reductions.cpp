// reprise: derivatives of reductions and contractions.
#include "Pullback.h"

using namespace mlir;
using namespace reprise;

namespace reprise {

using Indices = SmallVector<int64_t>;

//===-- Reductions ----------------------------------------------------------------------------===//

static void differentiate(SumOp op, Pullback &p) {
  p.give(0, p.spread(p.getRaw(), p.typeOf(op.getOperand()).getShape(), op.getDims()));
}

static void differentiate(MeanOp op, Pullback &p) {
  auto from = p.typeOf(op.getOperand());
  int64_t count = 1;
  for (int64_t dim : op.getDims())
    count *= from.getDimSize(dim);
  Value g = p.get(), each = p.div(g, p.like(g, count));
  // Rounded before it is repeated: the same bits, fewer of them.
  if (p.wants(0))
    each = p.convert(each, p.getWanted(0).getElementType());
  p.give(0, p.spread(each, from.getShape(), op.getDims()));
}

/// The dimensions that are kept, then those that are reduced.
static Indices reducedLast(int64_t rank, ArrayRef<int64_t> reduced) {
  Indices order;
  for (int64_t d = 0; d < rank; ++d)
    if (!llvm::is_contained(reduced, d))
      order.push_back(d);
  llvm::append_range(order, reduced);
  return order;
}

/// All of the cotangent goes to the first maximum of `x` (row-major over the reduced dimensions).
static Value routeToMaximum(Pullback &p, Value x, ArrayRef<int64_t> dims, Value g) {
  auto type = p.typeOf(x);
  Indices order = reducedLast(type.getRank(), dims), inverse(order.size());
  for (auto [to, from] : llvm::enumerate(order))
    inverse[from] = to;
  // Several dimensions become one, the last; a single one stays where it is.
  Value rows = x;
  int64_t dim = dims.front();
  if (dims.size() > 1) {
    Indices shape = llvm::to_vector(p.typeOf(g).getShape());
    shape.push_back(type.getNumElements() / p.typeOf(g).getNumElements());
    rows = p.reshape(p.transpose(x, order), shape);
    dim = shape.size() - 1;
  }
  ArrayRef<int64_t> shape = p.typeOf(rows).getShape();
  Value first = ArgmaxOp::create(p.b, p.typeOf(g).clone(p.b.getI64Type()), rows, dim);
  Value spread = p.spread(g, shape, dim);
  Value routed = p.select(p.isAt(first, shape, dim), spread, p.like(spread, 0));
  if (dims.size() == 1)
    return routed;
  Indices permuted;
  for (int64_t d : order)
    permuted.push_back(type.getDimSize(d));
  return p.transpose(p.reshape(routed, permuted), inverse);
}

template <typename OpT> static void routeToExtreme(OpT op, Pullback &p, Value x) {
  // Nothing comes in if there are no elements.
  if (p.typeOf(op.getOperand()).getNumElements() != 0)
    p.give(0, routeToMaximum(p, x, op.getDims(), p.getRaw()));
}

static void differentiate(MaxOp op, Pullback &p) { routeToExtreme(op, p, op.getOperand()); }
static void differentiate(MinOp op, Pullback &p) { routeToExtreme(op, p, p.neg(op.getOperand())); }

//===-- dot_general ---------------------------------------------------------------------------===//

namespace {
/// One side of a contraction: the value and the roles of its dimensions, paired with the other
/// side's by position.
struct Side {
  Value value;
  Indices batch, contracting, free;
};
} // namespace

/// Which dimension of the wanted operand each dimension of dot(cotangent, other) is, or of
/// dot(other, cotangent).
static Indices layout(const Side &self, const Side &other, bool cotangentFirst) {
  Indices mine = self.free, contracted, dims = self.batch;
  // The other side's contracted dimensions become free there and come in their own order.
  Indices ascending = other.contracting;
  llvm::sort(ascending);
  for (int64_t dim : ascending)
    contracted.push_back(self.contracting[std::distance(other.contracting.begin(),
                                                        llvm::find(other.contracting, dim))]);
  llvm::append_range(dims, cotangentFirst ? mine : contracted);
  llvm::append_range(dims, cotangentFirst ? contracted : mine);
  return dims;
}

/// The cotangent of `self`: contracts `g`, whose dimensions are batch, then `self`'s free ones and
/// `other`'s in operand order, with `other` over the free dimensions of `other`.
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

static void differentiate(DotGeneralOp op, Pullback &p) {
  Value g = p.getRaw(), l = op.getLhs(), r = op.getRhs();
  // 16-bit operands with a result in f32: rounding its cotangent would lose bits, widening the
  // other operand loses none.
  Type element = p.typeOf(g).getElementType();
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

void attachReductionRules(MLIRContext *context) {
  attachRules<SumOp, MeanOp, MaxOp, MinOp, DotGeneralOp>(context);
}

} // namespace reprise
