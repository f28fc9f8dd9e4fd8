// reprise: contractions of few elements and many terms, whose terms are divided among blocks
#include "SplitContraction.h"

#include "ContractionIndex.h"
#include "TilePlan.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

using namespace mlir;

namespace reprise {

/// The largest divisor of `number` that is at most `most`.
static int64_t findDivisor(int64_t number, int64_t most) {
  int64_t divisor = std::min(number, most);
  while (number % divisor != 0)
    --divisor;
  return divisor;
}

/// Cuts leading contracted dimensions into about `wanted` parts, at most that many.
static SplitContraction cutTerms(const ContractionSpec &whole, int64_t wanted) {
  SplitContraction split{whole, 1, 0, PartsOrder::Rows, whole.resultType};
  SmallVector<SharedDim> parts;
  for (SharedDim &dim : split.spec.contracted) {
    int64_t count = findDivisor(dim.size, wanted / split.parts), size = dim.size / count;
    if (count > 1)
      parts.push_back({count, dim.lhsStride * size, dim.rhsStride * size});
    split.parts *= count;
    dim.size = size;
    if (size > 1)
      break;
  }
  split.spec.batch.insert(split.spec.batch.begin(), parts.begin(), parts.end());
  split.spec.resultType = whole.accumulatorType();
  split.elements = countOf(whole.batch) * countOf(whole.rows) * countOf(whole.columns);
  return split;
}

/// Returns an estimate in hundredths of the time per term of one of two blocks on a multiprocessor.
/// A block alone needs two thirds of the time of two. Writing and reading a tile of a part costs
/// about one term; starting a block, and a second kernel, about a hundred terms.
static int64_t estimate(const SplitContraction &split, TileExtents extents) {
  constexpr int64_t multiprocessors = 132, ofStart = 128;
  int64_t tiles = extents.count(split.spec), rest = tiles % (2 * multiprocessors);
  int64_t waves = tiles / (2 * multiprocessors) * 100;
  waves += rest == 0 ? 0 : rest <= multiprocessors ? 66 : 100;
  int64_t time = waves * (countOf(split.spec.contracted) + ofStart);
  return split.parts == 1 ? time : time + 100 * (tiles + ofStart);
}

/// Returns an estimate in cycles, for tiles with canonical bits. Memory moves some 2,700 bytes per
/// cycle; parts are written, and a second kernel reads them.
static int64_t estimateCanonical(const SplitContraction &split) {
  constexpr int64_t bytesPerCycle = 2700, ofKernel = 5000;
  int64_t time = estimateTiles(split.spec);
  return split.parts == 1 ? time : time + 2 * split.scratchBytes() / bytesPerCycle + ofKernel;
}

/// Returns whether chains are whole, and as many as a subtree of the canonical tree has.
static bool keepsOrder(const SplitContraction &split) {
  int64_t terms = countOf(split.spec.contracted);
  return terms % chainLength == 0 && llvm::isPowerOf2_64(terms / chainLength);
}

std::optional<SplitContraction> splitContraction(const ContractionSpec &spec, PartsOrder order) {
  constexpr int64_t leastTerms = 1024, mostParts = 512, mostCanonical = 16;
  if (countOf(spec.contracted) < 2 * leastTerms)
    return std::nullopt;
  bool isCanonical = order == PartsOrder::Canonical;
  TileExtents extents = TileExtents::largest(spec, 128);
  auto timeOf = [&](const SplitContraction &split) {
    return isCanonical ? estimateCanonical(split) : estimate(split, extents);
  };
  SplitContraction best = cutTerms(spec, 1);
  int64_t least = timeOf(best);
  for (int64_t wanted = 2; wanted <= (isCanonical ? mostCanonical : mostParts); wanted *= 2) {
    SplitContraction split = cutTerms(spec, wanted);
    if (countOf(split.spec.contracted) < leastTerms)
      break;
    int64_t time = timeOf(split);
    if (time >= least || (isCanonical && !keepsOrder(split)))
      continue;
    least = time;
    best = split;
  }
  best.order = order;
  return best.parts > 1 ? std::optional(best) : std::nullopt;
}

int64_t SplitContraction::scratchBytes() const {
  return parts * elements * bytesOf(spec.resultType);
}

/// Neighbours meet, and an odd last one moves up.
static Value addInTree(ImplicitLocOpBuilder &b, Value parts) {
  auto type = cast<RankedTensorType>(parts.getType());
  int64_t count = type.getDimSize(0), elements = type.getDimSize(1);
  SmallVector<Value> sums;
  for (int64_t part = 0; part < count; ++part) {
    Value row = SliceOp::create(b, parts, ArrayRef<int64_t>{part, 0},
                                ArrayRef<int64_t>{part + 1, elements}, ArrayRef<int64_t>{1, 1});
    sums.push_back(ReshapeOp::create(b, type.clone({elements}), row));
  }
  while (sums.size() > 1) {
    SmallVector<Value> met;
    for (size_t i = 0; i + 1 < sums.size(); i += 2)
      met.push_back(AddOp::create(b, sums[i], sums[i + 1]));
    if (sums.size() % 2 == 1)
      met.push_back(sums.back());
    sums = met;
  }
  return sums.front();
}

RankedTensorType SplitContraction::typeOfParts() const {
  return RankedTensorType::get({parts, elements}, spec.resultType);
}

Value SplitContraction::buildSum(ImplicitLocOpBuilder &b, Value value) const {
  Value sum = order == PartsOrder::Canonical
                  ? addInTree(b, value)
                  : SumOp::create(b, value, ArrayRef<int64_t>{0}).getResult();
  auto made = RankedTensorType::get({elements}, resultType);
  return sum.getType() == made ? sum : CastOp::create(b, made, sum);
}

} // namespace reprise
