// reprise: contractions on the tensor cores of a GPU, a tile of the result for each block
//
// Eight warps share a tile of up to 128 × 128 elements. Terms come through shared memory in two
// stages of 64 bytes a row, and each warp adds the products of its part in registers.
#include "TensorContraction.h"

#include "ContractionIndex.h"
#include "MatrixTile.h"
#include "ResultTile.h"

using namespace mlir;

namespace reprise {
namespace {

using Sums = TensorCore::Sums;

constexpr int64_t warps = blockThreads / 32;
/// The least that a warp has of each side.
constexpr int64_t leastSide = 16;

/// How the warps of a block share its tile.
struct WarpGrid {
  int64_t down, across, rows, columns; ///< warps, and what each has

  explicit WarpGrid(TileExtents extents)
      : down(extents.rows > extents.columns ? 4 : 2), across(warps / down),
        rows(extents.rows / down), columns(extents.columns / across) {}
};

class Emitter {
public:
  Emitter(ThreadKernel &k, const ContractionSpec &spec, const ResultStrides &result,
          TileExtents extents, int64_t lhsAlignment, int64_t rhsAlignment)
      : k(k), spec(spec), extents(extents), grid(extents), core(k, spec.lhsType),
        depth(64 / KernelBuilder::bytesOf(spec.lhsType)), terms(countOf(spec.contracted)),
        lhs(k, core, matrixOf(true, lhsAlignment), extents.rows, depth),
        rhs(k, core, matrixOf(false, rhsAlignment), extents.columns, depth),
        tile(k, spec, result, extents) {}

  void emit();

private:
  GlobalMatrix matrixOf(bool isLhs, int64_t alignment) const;
  Value addressOf(bool isLhs);
  /// What start() of both has loaded.
  struct Loaded {
    SmallVector<Value> lhs, rhs;
  };
  Loaded start(Value number, Value stage);
  void finish(const Loaded &loaded, Value stage);
  Sums multiply(Value stage, ValueRange sums);
  void store(const Sums &sums);

  ThreadKernel &k;
  const ContractionSpec &spec;
  TileExtents extents;
  WarpGrid grid;
  TensorCore core;
  int64_t depth; ///< terms of a stage
  int64_t terms;
  MatrixTile lhs, rhs;
  ResultTile tile;
  Value warpRow, warpColumn; ///< within the tile
};

GlobalMatrix Emitter::matrixOf(bool isLhs, int64_t alignment) const {
  SmallVector<int64_t> free, shared, batch;
  for (const FreeDim &dim : isLhs ? spec.rows : spec.columns)
    free.push_back(dim.stride);
  for (const SharedDim &dim : spec.contracted)
    shared.push_back(isLhs ? dim.lhsStride : dim.rhsStride);
  int64_t offset = isLhs ? spec.lhsOffset : spec.rhsOffset;
  SmallVector<int64_t> starts = {offset};
  for (const SharedDim &dim : spec.batch)
    starts.push_back(isLhs ? dim.lhsStride : dim.rhsStride);
  int64_t elements = std::max<int64_t>(1, alignment / KernelBuilder::bytesOf(spec.lhsType));
  return {mergeDims(isLhs ? spec.rows : spec.columns, free), mergeDims(spec.contracted, shared),
          findCommonPower(starts, elements)};
}

Value Emitter::addressOf(bool isLhs) {
  Value inBatch = isLhs ? locate(k, spec.batch, tile.batch(), strideOfLhs)
                        : locate(k, spec.batch, tile.batch(), strideOfRhs);
  return k.pointer(spec.lhsType, k.buffer(isLhs ? 0 : 1),
                   k.add(inBatch, isLhs ? spec.lhsOffset : spec.rhsOffset));
}

Emitter::Loaded Emitter::start(Value number, Value stage) {
  Value term = k.mul(number, depth);
  return {lhs.start(tile.firstRow(), term, stage, countOf(spec.rows) >= extents.rows),
          rhs.start(tile.firstColumn(), term, stage, countOf(spec.columns) >= extents.columns)};
}

void Emitter::finish(const Loaded &loaded, Value stage) {
  lhs.finish(loaded.lhs, stage);
  rhs.finish(loaded.rhs, stage);
}

Sums Emitter::multiply(Value stage, ValueRange sums) {
  auto read = [&](TensorCore::Side side, Value first, int64_t extent, int64_t term) {
    MatrixTile &operand = side == TensorCore::Side::First ? lhs : rhs;
    SmallVector<TensorCore::Fragment> fragments;
    for (int64_t i = 0; i < extent; i += TensorCore::rows)
      fragments.push_back(operand.read(side, stage, k.add(first, i), term));
    return fragments;
  };
  Sums added(sums);
  for (int64_t term = 0; term < depth; term += core.depth())
    added = core.multiplyAll(read(TensorCore::Side::First, warpRow, grid.rows, term),
                             read(TensorCore::Side::Second, warpColumn, grid.columns, term), added);
  return added;
}

void Emitter::store(const Sums &sums) {
  int64_t perRow = grid.columns / TensorCore::columns;
  Value ownColumn = k.add(warpColumn, k.mul(core.member(), 2));
  for (int64_t i = 0; i < grid.rows / TensorCore::rows; ++i)
    for (int64_t half : {0, 1}) {
      Value row = k.add(k.add(warpRow, core.group()), i * TensorCore::rows + half * 8);
      tile.storeRow(row, [&](Value line) {
        for (int64_t j = 0; j < perRow; ++j)
          tile.storeColumns(line, k.add(ownColumn, j * TensorCore::columns),
                            ArrayRef(sums).slice((i * perRow + j) * 4 + half * 2, 2));
      });
    }
}

/// The next tile is on its way while one is multiplied; the last one is brought twice.
void Emitter::emit() {
  tile.place();
  Value warp = k.div(k.numberInBlock(), 32);
  warpRow = k.mul(k.div(warp, grid.across), grid.rows);
  warpColumn = k.mul(k.rem(warp, grid.across), grid.columns);
  Value memory = k.shared(lhs.sharedBytes() + rhs.sharedBytes());
  lhs.open(memory, addressOf(true));
  rhs.open(k.pointer(k.builder().getI8Type(), memory, k.i64(lhs.sharedBytes())), addressOf(false));
  int64_t tiles = llvm::divideCeil(terms, depth);
  Value zero = k.i64(0);
  finish(start(zero, zero), zero);
  Sums none(grid.rows * grid.columns / 32, k.constant(spec.accumulatorType(), 0));
  Sums sums = k.forLoop(zero, k.i64(tiles), k.i64(1), none, [&](Value number, ValueRange before) {
    k.awaitCopies();
    k.barrier();
    Value next = k.add(number, 1), stage = k.rem(next, 2);
    Loaded loaded = start(k.min(next, k.i64(tiles - 1)), stage);
    Sums added = multiply(k.rem(number, 2), before);
    finish(loaded, stage);
    return added;
  });
  k.awaitCopies();
  store(sums);
}

TileExtents chooseExtents(const ContractionSpec &spec) {
  TileExtents extents = TileExtents::largest(spec, 128);
  if (extents.rows + extents.columns == 64)
    extents.columns = 64;
  extents.spread(spec, [](TileExtents now) {
    (now.rows >= now.columns ? now.rows : now.columns) /= 2;
    WarpGrid grid(now);
    return grid.rows >= leastSide && grid.columns >= leastSide;
  });
  return extents;
}

} // namespace

bool suitsTensorCores(const ContractionSpec &spec, Contractions contractions) {
  bool isHalf = spec.lhsType.isBF16() || spec.lhsType.isF16();
  bool isChosen = isHalf ? contractions != Contractions::Exact
                         : spec.lhsType.isF32() && contractions == Contractions::Tf32;
  return isChosen && spec.lhsType == spec.rhsType && countOf(spec.rows) >= leastSide &&
         countOf(spec.columns) >= leastSide && countOf(spec.contracted) >= leastSide;
}

EmittedCommand emitTensorContraction(ModuleOp kernels, StringRef name, const ContractionSpec &spec,
                                     const ResultStrides &result, int64_t lhsAlignment,
                                     int64_t rhsAlignment) {
  TileExtents extents = chooseExtents(spec);
  ThreadKernel k(kernels, name, /*buffers=*/3, /*scratchBytes=*/0);
  Emitter(k, spec, result, extents, lhsAlignment, rhsAlignment).emit();
  EmittedCommand command{name.str(), extents.count(spec), {}};
  command.itemThreads = blockThreads;
  command.blockThreads = blockThreads;
  return command;
}

} // namespace reprise
