// reprise: contractions on the tensor cores of a GPU, one tile of the result per block
//
// The warps of a block share a tile of up to 128 × 128 elements. Terms come through shared memory
// in stages of 64 bytes a row, and each warp adds the products of its part in registers. Four warps
// read each element of the operands twice, eight warps up to four times, which makes the banks of
// shared memory the bottleneck. But elements that copies cannot load wait in registers, of which
// four warps have too few.
#include "TensorContraction.h"

#include "ContractionIndex.h"
#include "MatrixTile.h"
#include "ResultTile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace reprise {
namespace {

using Sums = TensorCore::Sums;

/// The least that a warp has of each side.
constexpr int64_t leastSide = 16;

/// Partition of a block's tile among its warps.
struct WarpGrid {
  int64_t down, across, rows, columns; ///< numbers of warps, and the size of each part

  WarpGrid(TileExtents extents, int64_t warps)
      : down(warps == 8 && extents.rows > extents.columns ? 4 : 2), across(warps / down),
        rows(extents.rows / down), columns(extents.columns / across) {}
  bool isWide() const { return rows >= leastSide && columns >= leastSide; }
};

class Emitter {
public:
  Emitter(ThreadKernel &k, const ContractionSpec &spec, const ResultStrides &result,
          TileExtents extents, const GlobalMatrix &lhs, const GlobalMatrix &rhs,
          const TileEpilogue *epilogue)
      : k(k), spec(spec), extents(extents), grid(extents, k.threadCount() / 32),
        core(k, spec.lhsType), stages(core.hasHalves() ? 3 : 2), depth(64 / bytesOf(spec.lhsType)),
        terms(countOf(spec.contracted)), lhs(k, core, lhs, extents.rows, depth, stages),
        rhs(k, core, rhs, extents.columns, depth, stages),
        tile(k, spec, result, extents, epilogue) {}

  void emit();

private:
  Value addressOf(bool isLhs);
  /// Elements that start() of both operands has loaded.
  struct Loaded {
    SmallVector<Value> lhs, rhs;
  };
  Loaded start(Value number, Value stage);
  Value equal(Value x, Value y) {
    return arith::CmpIOp::create(k.b, arith::CmpIPredicate::eq, x, y);
  }
  void finish(const Loaded &loaded, Value stage);
  Sums multiply(Value stage, ValueRange sums);
  void store(const Sums &sums);
  void storeFours(const Sums &sums);

  ThreadKernel &k;
  const ContractionSpec &spec;
  TileExtents extents;
  WarpGrid grid;
  TensorCore core;
  int64_t stages;
  int64_t depth; ///< terms per stage
  int64_t terms;
  MatrixTile lhs, rhs;
  ResultTile tile;
  Value warpRow, warpColumn; ///< begin within the tile
};

GlobalMatrix matrixOf(const ContractionSpec &spec, bool isLhs, int64_t alignment) {
  SmallVector<int64_t> free, shared, batch;
  for (const FreeDim &dim : isLhs ? spec.rows : spec.columns)
    free.push_back(dim.stride);
  for (const SharedDim &dim : spec.contracted)
    shared.push_back(isLhs ? dim.lhsStride : dim.rhsStride);
  int64_t offset = isLhs ? spec.lhsOffset : spec.rhsOffset;
  SmallVector<int64_t> starts = {offset};
  for (const SharedDim &dim : spec.batch)
    starts.push_back(isLhs ? dim.lhsStride : dim.rhsStride);
  int64_t elements = std::max<int64_t>(1, alignment / bytesOf(spec.lhsType));
  return {mergeDims(isLhs ? spec.rows : spec.columns, free), mergeDims(spec.contracted, shared),
          findCommonPower(starts, elements)};
}

Value Emitter::addressOf(bool isLhs) {
  Value inBatch = isLhs ? locate(k, spec.batch, tile.batch(), strideOfLhs)
                        : locate(k, spec.batch, tile.batch(), strideOfRhs);
  return emitAddress(k.b, spec.lhsType, k.buffer(isLhs ? 0 : 1),
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
  tile.beginStores();
  if (tile.wantsNeighbours(4))
    return storeFours(sums);
  int64_t perRow = grid.columns / TensorCore::columns;
  Value ownColumn = k.add(warpColumn, k.mul(core.member(), 2));
  for (int64_t i = 0; i < grid.rows / TensorCore::rows; ++i)
    for (int64_t half : {0, 1}) {
      int64_t farther = i * TensorCore::rows + half * 8;
      tile.storeRow(k.add(warpRow, core.group()), farther, [&](ResultTile::Line line) {
        for (int64_t j = 0; j < perRow; ++j)
          tile.storeColumns(line, ownColumn, j * TensorCore::columns,
                            ArrayRef(sums).slice((i * perRow + j) * 4 + half * 2, 2));
      });
    }
}

/// Stores four neighbours per lane. A lane has two neighbours in each of two rows and exchanges two
/// with the lane beside it, so that each lane has four neighbours in one row.
void Emitter::storeFours(const Sums &sums) {
  ImplicitLocOpBuilder &b = k.b;
  int64_t perRow = grid.columns / TensorCore::columns;
  Value isOdd = equal(k.rem(core.member(), 2), k.i64(1));
  auto choose = [&](Value ofOdd, Value ofEven) {
    return arith::SelectOp::create(b, isOdd, ofOdd, ofEven).getResult();
  };
  Value ownRow = k.add(k.add(warpRow, core.group()), choose(k.i64(8), k.i64(0)));
  Value ownColumn = k.add(warpColumn, k.mul(k.div(core.member(), 2), 4));
  for (int64_t i = 0; i < grid.rows / TensorCore::rows; ++i) {
    Sums fours;
    for (ValueRange own(ArrayRef(sums).slice(i * perRow * 4, perRow * 4)); !own.empty();
         own = own.drop_front(4)) {
      Value first = k.exchange(choose(own[0], own[2]), 1);
      Value second = k.exchange(choose(own[1], own[3]), 1);
      fours.append({choose(first, own[0]), choose(second, own[1]), choose(own[2], first),
                    choose(own[3], second)});
    }
    tile.storeRow(ownRow, i * TensorCore::rows, [&](ResultTile::Line line) {
      for (int64_t j = 0; j < perRow; ++j)
        tile.storeColumns(line, ownColumn, j * TensorCore::columns,
                          ArrayRef(fours).slice(j * 4, 4));
    });
  }
}

/// Emits the kernel. The next tiles are loaded while one tile is multiplied; the last tile is
/// loaded again.
void Emitter::emit() {
  tile.place();
  Value warp = k.div(k.numberInBlock(), 32);
  warpRow = k.mul(k.div(warp, grid.across), grid.rows);
  warpColumn = k.mul(k.rem(warp, grid.across), grid.columns);
  Value memory = k.shared(lhs.sharedBytes() + rhs.sharedBytes());
  lhs.open(memory, addressOf(true));
  rhs.open(emitAddress(k.b, k.b.getI8Type(), memory, k.i64(lhs.sharedBytes())), addressOf(false));
  int64_t tiles = llvm::divideCeil(terms, depth);
  Value zero = k.i64(0);
  for (int64_t i = 0; i < stages - 1; ++i) {
    finish(start(k.i64(std::min(i, tiles - 1)), k.i64(i)), k.i64(i));
    k.commitCopies();
  }
  Sums carried(grid.rows * grid.columns / 32, emitConstant(k.b, spec.accumulatorType(), 0));
  carried.push_back(zero);
  Sums sums =
      forLoop(k, zero, k.i64(tiles), k.i64(1), carried, [&](Value number, ValueRange before) {
        k.awaitGroups(static_cast<uint32_t>(stages - 2));
        k.barrier();
        Value stage = before.back(), next = k.add(number, stages - 1), last = k.i64(stages - 1);
        // All warps have finished the previous stage.
        Value free = arith::SelectOp::create(k.b, equal(stage, zero), last, k.sub(stage, k.i64(1)));
        Loaded loaded = start(k.min(next, k.i64(tiles - 1)), free);
        k.commitCopies();
        Sums added = multiply(stage, before.drop_back());
        finish(loaded, free);
        added.push_back(arith::SelectOp::create(k.b, equal(stage, last), zero, k.add(stage, 1)));
        return added;
      });
  k.awaitGroups(0);
  sums.pop_back();
  store(sums);
}

TileExtents chooseExtents(const ContractionSpec &spec, int64_t warps) {
  TileExtents extents = TileExtents::largest(spec, 128);
  if (!WarpGrid(extents, warps).isWide())
    extents.columns = 64;
  extents.spread(spec, [&](TileExtents now) {
    (now.rows >= now.columns ? now.rows : now.columns) /= 2;
    return WarpGrid(now, warps).isWide();
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

bool isCopiedByThreads(const ContractionSpec &spec, bool isLhs) {
  return MatrixTile::isCopied(matrixOf(spec, isLhs, widestAccess), spec.lhsType);
}

EmittedCommand emitTensorContraction(ModuleOp kernels, StringRef name, const ContractionSpec &spec,
                                     const ResultStrides &result, int64_t lhsAlignment,
                                     int64_t rhsAlignment, const TileEpilogue *epilogue) {
  GlobalMatrix lhs = matrixOf(spec, true, lhsAlignment), rhs = matrixOf(spec, false, rhsAlignment);
  bool isCopied = !spec.lhsType.isF32() && MatrixTile::isCopied(lhs, spec.lhsType) &&
                  MatrixTile::isCopied(rhs, spec.lhsType);
  int64_t warps = isCopied ? 4 : 8;
  TileExtents extents = chooseExtents(spec, warps);
  ThreadKernel k(kernels, name, countBuffers(epilogue), /*scratchBytes=*/0, warps * 32);
  Emitter(k, spec, result, extents, lhs, rhs, epilogue).emit();
  EmittedCommand command{name.str(), extents.count(spec), {}};
  command.itemThreads = command.blockThreads = warps * 32;
  return command;
}

} // namespace reprise
