// reprise: the tiles of a contraction on a GPU without tensor cores, and their estimated time
#include "TilePlan.h"

#include "ContractionIndex.h"

using namespace mlir;

namespace reprise {
namespace {

using Parts = SmallVector<TiledPart, 2>;

/// Fused multiply-adds per cycle of a multiprocessor.
constexpr int64_t fmaPerCycle = 128;
/// Sums of a thread that reads shared memory seldom enough.
constexpr int64_t manySums = 64;

/// Returns the cycles per contracted index on a multiprocessor with `blocks` blocks: arithmetic, at
/// least that of one warp, plus latency that no other warp hides. Threads with few sums wait for
/// shared memory, for a quarter of the time.
int64_t timeOf(const TilePlan &plan, int64_t blocks) {
  constexpr int64_t unhidden = 40;
  int64_t sums = plan.perThread();
  int64_t work = std::max(sums, blocks * plan.threads() * sums / fmaPerCycle);
  return unhidden + (sums < manySums ? work * 4 / 3 : work);
}

/// Returns the cycles of all blocks. Blocks of a wave end together: the last wave takes as long as
/// any other, however few blocks it has, unless it is the only wave. Starting and ending a wave
/// costs some terms.
int64_t timeOfAll(const ContractionSpec &spec, const TilePlan &plan) {
  constexpr int64_t ofStart = 16;
  int64_t tiles = plan.extents.count(spec), wave = plan.together() * multiprocessors;
  int64_t time = tiles <= wave ? timeOf(plan, llvm::divideCeil(tiles, multiprocessors))
                               : llvm::divideCeil(tiles, wave) * timeOf(plan, plan.together());
  return time * (countOf(spec.contracted) + ofStart);
}

/// Plans tiles for 256 threads, for every tile: threads of small tiles have few sums.
TilePlan planWide(const ContractionSpec &spec) {
  constexpr int64_t side = 16;
  static_assert(side * side == blockThreads);
  TileExtents extents = TileExtents::largest(spec, spec.accumulatorType().isF64() ? 64 : 128);
  extents.spread(spec, [](TileExtents now) { return std::max(now.rows, now.columns) > 32; });
  return {extents, side, side};
}

TiledPart planPart(const ContractionSpec &spec, const ResultStrides &result) {
  TilePlan wide = planWide(spec);
  TiledPart best{spec, result, wide, timeOfAll(spec, wide)};
  if (spec.accumulatorType().isF64())
    return best;
  for (TilePlan plan :
       {TilePlan{{64, 128}, 8, 16}, TilePlan{{128, 64}, 16, 8}, TilePlan{{64, 64}, 8, 8}}) {
    bool isFilled =
        countOf(spec.rows) >= plan.extents.rows && countOf(spec.columns) >= plan.extents.columns;
    int64_t time = timeOfAll(spec, plan);
    if (isFilled && time < best.time)
      best.plan = plan, best.time = time;
  }
  return best;
}

/// Merges dimensions that are adjacent both in the operand and in the result.
void mergeSide(SmallVector<FreeDim> &dims, SmallVector<int64_t> &strides) {
  SmallVector<FreeDim> merged;
  SmallVector<int64_t> mergedStrides;
  for (auto [dim, stride] : llvm::zip_equal(dims, strides)) {
    bool isNext = !merged.empty() && merged.back().stride == dim.stride * dim.size &&
                  mergedStrides.back() == stride * dim.size;
    if (isNext) {
      merged.back() = {merged.back().size * dim.size, dim.stride};
      mergedStrides.back() = stride;
    } else if (dim.size > 1) {
      merged.push_back(dim);
      mergedStrides.push_back(stride);
    }
  }
  dims = merged, strides = mergedStrides;
}

/// Cuts off at most the first `size` rows or columns, in whole slices of the leading dimension, and
/// returns both parts; no parts if one would be empty.
Parts cut(const TiledPart &whole, bool ofRows, int64_t size) {
  ContractionSpec spec = whole.spec, restSpec = spec;
  ResultStrides result = whole.result, restResult = result;
  SmallVector<FreeDim> &dims = ofRows ? spec.rows : spec.columns;
  if (dims.empty())
    return {};
  FreeDim leading = dims.front();
  int64_t kept = size * leading.size / countOf(dims);
  if (kept == 0 || kept >= leading.size)
    return {};
  dims.front().size = kept;
  (ofRows ? restSpec.rows : restSpec.columns).front().size = leading.size - kept;
  (ofRows ? restSpec.lhsOffset : restSpec.rhsOffset) += kept * leading.stride;
  restResult.offset += kept * (ofRows ? result.rows : result.columns).front();
  TiledPart rest = planPart(restSpec, restResult);
  (ofRows ? rest.origin.row : rest.origin.column) = countOf(ofRows ? spec.rows : spec.columns);
  return {planPart(spec, result), rest};
}

int64_t timeOf(const Parts &parts) {
  int64_t time = 0;
  for (const TiledPart &part : parts)
    time += part.time;
  return time;
}

} // namespace

SmallVector<TiledPart, 2> planTiles(const ContractionSpec &spec, const ResultStrides &result) {
  TiledPart whole = planPart(spec, result);
  mergeSide(whole.spec.rows, whole.result.rows);
  mergeSide(whole.spec.columns, whole.result.columns);
  Parts best = {whole};
  TileExtents extents = whole.plan.extents;
  int64_t tiles = extents.count(spec), wave = whole.plan.together() * multiprocessors;
  int64_t inWaves = tiles / wave * wave;
  for (bool ofRows : {true, false}) {
    int64_t count = countOf(ofRows ? spec.rows : spec.columns);
    int64_t extent = ofRows ? extents.rows : extents.columns;
    int64_t others = tiles / llvm::divideCeil(count, extent);
    Parts parts = cut(whole, ofRows, inWaves / others * extent);
    if (!parts.empty() && timeOf(parts) < timeOf(best))
      best = parts;
  }
  return best;
}

int64_t estimateTiles(const ContractionSpec &spec) {
  return timeOf(planTiles(spec, ResultStrides::rowMajor(spec)));
}

} // namespace reprise
