// reprise: loads of contraction operands into shared memory by a block of threads, tile by tile
#include "TileOperand.h"

#include "ContractionIndex.h"
#include "reprise/Conversion/Elementary.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

using namespace mlir;

namespace reprise {

TileOperand::TileOperand(ThreadKernel &k, const ContractionSpec &spec, bool isLhs, int64_t extent,
                         int64_t threads, int64_t alignment)
    : k(k), spec(spec), isLhs(isLhs), extent(extent), threads(threads),
      type(isLhs ? spec.lhsType : spec.rhsType), compute(getComputeType(type)),
      rows(isLhs ? spec.rows : spec.columns) {
  for (const SharedDim &dim : spec.contracted)
    terms.push_back({dim.size, isLhs ? dim.lhsStride : dim.rhsStride});
  findTileTerms();
  isCopied = type == compute;
  alongTerms = runsAlongTerms();
  unit = chooseUnit(alignment);
}

/// Returns whether neighbouring threads load along terms, which they do if terms are contiguous.
bool TileOperand::runsAlongTerms() const {
  auto isDense = [](const SmallVector<FreeDim> &dims) {
    return !dims.empty() && dims.back().stride == 1 && dims.back().size > 1;
  };
  return isDense(terms) && !isDense(rows);
}

/// Returns the rows per copy, if rows are contiguous and aligned for a copy of that many.
int64_t TileOperand::chooseUnit(int64_t alignment) const {
  int64_t most = std::min<int64_t>({extent * tileDepth / threads, 4, 16 / bytesOf(type)});
  if (alongTerms || rows.empty() || rows.back().stride != 1)
    return 1;
  auto fits = [&](int64_t width) {
    auto isWhole = [&](int64_t stride) { return stride % width == 0; };
    int64_t offset = isLhs ? spec.lhsOffset : spec.rhsOffset;
    return alignment % (width * bytesOf(type)) == 0 && rows.back().size % width == 0 &&
           isWhole(offset) &&
           llvm::all_of(ArrayRef(rows).drop_back(),
                        [&](auto dim) { return isWhole(dim.stride); }) &&
           llvm::all_of(terms, [&](auto dim) { return isWhole(dim.stride); }) &&
           llvm::all_of(spec.batch, [&](const SharedDim &dim) {
             return isWhole(isLhs ? dim.lhsStride : dim.rhsStride);
           });
  };
  while (most > 1 && !fits(most))
    most /= 2;
  return most;
}

bool TileOperand::hasWholeTiles() const { return countOf(rows) >= extent; }

/// Sizes that divide tileDepth are powers of two, as are tileDepth and pass(). So no sum of a
/// thread's first term and a distance between its terms carries from one digit to the next.
void TileOperand::findTileTerms() {
  int64_t left = tileDepth;
  for (const FreeDim &dim : llvm::reverse(terms)) {
    if (terms.size() == 1 || dim.size % left == 0) {
      tileTerms.insert(tileTerms.begin(), {left, dim.stride});
      return;
    }
    if (left % dim.size != 0)
      break;
    tileTerms.insert(tileTerms.begin(), dim);
    left /= dim.size;
  }
  tileTerms.clear();
}

Value TileOperand::locateRow(Value row) { return locate(k, rows, row, strideOf); }
Value TileOperand::locateTerm(Value term) { return locate(k, terms, term, strideOf); }

/// Opens the operand. If there are fewer rows than in a tile, the last row stands for missing rows.
void TileOperand::open(Value given, Value firstRow, Value batch) {
  memory = given;
  Value start = k.i64(isLhs ? spec.lhsOffset : spec.rhsOffset);
  start = k.add(start, isLhs ? locate(k, spec.batch, batch, strideOfLhs)
                             : locate(k, spec.batch, batch, strideOfRhs));
  int64_t units = extent / unit;
  Value thread = k.numberInBlock(), row, term;
  if (alongTerms) {
    term = k.rem(thread, tileDepth);
    row = k.div(thread, tileDepth);
  } else {
    row = k.mul(k.rem(thread, units), unit);
    term = k.div(thread, units);
  }
  ownPlace = k.add(k.mul(term, pitch()), row);
  for (int64_t i = 0; i < unitsPerThread(); ++i) {
    termInTile.push_back(alongTerms ? term : k.add(term, i * pass()));
    Value inside = k.add(firstRow, alongTerms ? k.add(row, i * pass()) : row);
    if (!hasWholeTiles())
      inside = k.min(inside, k.i64(countOf(rows) - unit));
    Value begin = k.add(start, locateRow(inside));
    rowStart.push_back(k.add(begin, locate(k, tileTerms, termInTile.back(), strideOf)));
  }
}

/// Returns the distance in elements from the first unit of a thread to another, if it is constant:
/// the units then share an address, which saves registers.
std::optional<int64_t> TileOperand::findDistance(int64_t number) const {
  if (number == 0 || (alongTerms ? rows.size() != 1 || !hasWholeTiles() : tileTerms.empty()))
    return std::nullopt;
  int64_t index = number * pass();
  if (alongTerms)
    return index * rows.front().stride;
  int64_t distance = 0;
  for (const FreeDim &dim : llvm::reverse(tileTerms)) {
    distance += index % dim.size * dim.stride;
    index /= dim.size;
  }
  return distance;
}

/// Returns the place of a unit. Constant distances come last, so that they become part of copy,
/// read and write instructions.
Value TileOperand::placeOf(int64_t number, Value stage) {
  Value place = emitAddress(k.b, compute, emitAddress(k.b, compute, memory, ownPlace),
                            k.mul(stage, stageElements()));
  return emitAddress(k.b, compute, place, k.i64(number * pass() * (alongTerms ? 1 : pitch())));
}

Value TileOperand::addressOf(int64_t number, Value firstTerm) {
  Value operand = k.buffer(isLhs ? 0 : 1);
  if (!tileTerms.empty())
    return emitAddress(k.b, type, emitAddress(k.b, type, operand, rowStart[number]),
                       locateTerm(firstTerm));
  Value term = k.add(firstTerm, termInTile[number]);
  return emitAddress(k.b, type, operand, k.add(rowStart[number], locateTerm(term)));
}

SmallVector<Value> TileOperand::start(Value firstTerm, Value stage) {
  SmallVector<Value> loaded;
  firstTerm = k.min(firstTerm, k.i64(countOf(terms) - tileDepth));
  Value first = addressOf(0, firstTerm), zero = k.i64(0);
  for (int64_t i = 0; i < unitsPerThread(); ++i) {
    std::optional<int64_t> distance = findDistance(i);
    Value from = i == 0     ? first
                 : distance ? emitAddress(k.b, type, first, k.i64(*distance))
                            : addressOf(i, firstTerm);
    if (isCopied)
      k.copyAsync(placeOf(i, stage), from, unit * bytesOf(type));
    else
      loaded.push_back(emitLoad(k.b, type, from, zero, unit, /*aligned=*/unit));
  }
  return loaded;
}

void TileOperand::finish(ArrayRef<Value> loaded, Value stage) {
  for (auto [i, value] : llvm::enumerate(loaded))
    emitStore(k.b, compute, emitCast(k.b, value, compute), placeOf(i, stage), k.i64(0),
              /*aligned=*/unit);
}

Value TileOperand::find(Value stage, Value row) {
  return emitAddress(k.b, compute, emitAddress(k.b, compute, memory, row),
                     k.mul(stage, stageElements()));
}

Value TileOperand::read(Value place, int64_t term, int64_t farther, int64_t width) {
  return emitLoad(k.b, compute, place, k.i64(term * pitch() + farther), width, /*aligned=*/width);
}

} // namespace reprise
