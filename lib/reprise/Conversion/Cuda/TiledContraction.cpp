// reprise: contractions for blocks of threads of a GPU, a tile of the result each
//
// The way of the fastest single-precision kernels without tensor cores (CUTLASS, SIMT): operands go
// through shared memory in two stages, a thread has a square of results in registers, and reads of
// shared memory are 16 bytes wide. What is different is that the contracted index is never split
// among threads, and that the sum of 4,096 terms is closed before the next one begins.
#include "TiledContraction.h"

#include "ContractionIndex.h"
#include "ResultTile.h"
#include "TileOperand.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace reprise {
namespace {

/// Threads of a block along rows, and along columns.
constexpr int64_t threadsPerSide = 16;
static_assert(threadsPerSide * threadsPerSide == blockThreads);
using Sums = KernelBuilder::Carried;

/// The part of one side of the tile that a thread has: `groups` times `width` neighbours.
struct Part {
  int64_t width, groups;

  explicit Part(int64_t extent)
      : width(std::min<int64_t>(4, extent / threadsPerSide)),
        groups(extent / threadsPerSide / width) {}
  int64_t size() const { return width * groups; }
  int64_t distance() const { return width * threadsPerSide; }
};

class Emitter {
public:
  Emitter(ThreadKernel &k, const ContractionSpec &spec, const ResultStrides &result,
          TileExtents extents, int64_t lhsAlignment, int64_t rhsAlignment)
      : k(k), b(k.builder()), spec(spec), accumulator(spec.accumulatorType()),
        lhs(k, spec, true, extents.rows, lhsAlignment),
        rhs(k, spec, false, extents.columns, rhsAlignment), rowPart(extents.rows),
        columnPart(extents.columns), tile(k, spec, result, extents) {
    terms = countOf(spec.contracted);
    wholeChains = terms <= chainLength ? 0 : terms / chainLength;
  }

  void emit();

  static int64_t scratchBytes(const ContractionSpec &spec, TileExtents extents);

private:
  static unsigned levelsOf(int64_t terms) {
    int64_t chains = llvm::divideCeil(terms, chainLength);
    return chains <= 1 ? 0 : llvm::Log2_64(chains) + 1;
  }
  /// Sets the tile of this block.
  void placeBlock();
  /// A chain over all terms of the tiles [low, high), and `tail` terms of the tile `high`.
  Sums emitChain(Value low, Value high, int64_t tail);
  Sums multiply(Value stage, int64_t depth, ValueRange sums);
  /// Every thread sees what all have brought.
  void arrive();
  /// Closed chains: sums of subtrees wait in memory of the thread, one per level.
  void push(Value chain, Sums sum);
  Sums close(Sums last, bool hasLast);
  Sums readLevel(Value level);
  void writeLevel(Value level, const Sums &sums);
  Sums addAll(const Sums &x, const Sums &y);
  void store(const Sums &sums);

  ThreadKernel &k;
  ImplicitLocOpBuilder &b;
  const ContractionSpec &spec;
  Type accumulator;
  TileOperand lhs, rhs;
  Part rowPart, columnPart;
  ResultTile tile;
  int64_t terms, wholeChains;
  Value ownRow, ownColumn;
};

void Emitter::placeBlock() {
  tile.place();
  Value thread = k.numberInBlock();
  ownRow = k.mul(k.div(thread, threadsPerSide), rowPart.width);
  ownColumn = k.mul(k.rem(thread, threadsPerSide), columnPart.width);
}

void Emitter::arrive() {
  k.awaitCopies();
  k.barrier();
}

Sums Emitter::multiply(Value stage, int64_t depth, ValueRange sums) {
  Sums next(sums);
  auto readPart = [&](TileOperand &operand, const Part &part, int64_t term, Value own) {
    SmallVector<Value> values;
    for (int64_t group = 0; group < part.groups; ++group) {
      Value read = operand.read(stage, term, k.add(own, group * part.distance()), part.width);
      for (int64_t i = 0; i < part.width; ++i)
        values.push_back(vector::ExtractOp::create(b, read, i));
    }
    return values;
  };
  for (int64_t term = 0; term < depth; ++term) {
    SmallVector<Value> x = readPart(lhs, rowPart, term, ownRow);
    SmallVector<Value> y = readPart(rhs, columnPart, term, ownColumn);
    for (int64_t row = 0; row < rowPart.size(); ++row)
      for (int64_t column = 0; column < columnPart.size(); ++column) {
        Value &sum = next[row * columnPart.size() + column];
        sum = math::FmaOp::create(b, x[row], y[column], sum);
      }
  }
  return next;
}

/// The next tile is on its way while one is multiplied. The last one is brought twice, so that
/// there is nothing to ask.
Sums Emitter::emitChain(Value low, Value high, int64_t tail) {
  int64_t tiles = llvm::divideCeil(terms, tileDepth);
  auto stageOf = [&](Value tile) { return k.rem(tile, 2); };
  auto addTile = [&](Value tile, ValueRange sums) {
    arrive();
    Value next = k.min(k.add(tile, 1), k.i64(tiles - 1)), stage = stageOf(k.add(tile, 1));
    SmallVector<Value> x = lhs.start(next, stage), y = rhs.start(next, stage);
    Sums added = multiply(stageOf(tile), tileDepth, sums);
    lhs.finish(x, stage);
    rhs.finish(y, stage);
    return added;
  };
  Sums none(rowPart.size() * columnPart.size(), k.constant(accumulator, 0));
  Sums sums = k.forLoop(low, high, k.i64(1), none, addTile);
  if (tail == 0)
    return sums;
  arrive();
  return multiply(stageOf(high), tail, sums);
}

Sums Emitter::addAll(const Sums &x, const Sums &y) {
  Sums sums;
  for (auto [own, other] : llvm::zip_equal(x, y))
    sums.push_back(arith::AddFOp::create(b, own, other));
  return sums;
}

/// Neighbouring numbers of one thread: its memory is interleaved with that of the others.
Sums Emitter::readLevel(Value level) {
  Sums sums;
  int64_t size = rowPart.size() * columnPart.size();
  for (int64_t i = 0; i < size; ++i)
    sums.push_back(k.load(accumulator, k.workspace(), k.add(k.mul(level, size), i)));
  return sums;
}

void Emitter::writeLevel(Value level, const Sums &sums) {
  for (auto [i, sum] : llvm::enumerate(sums))
    k.store(accumulator, sum, k.workspace(),
            k.add(k.mul(level, static_cast<int64_t>(sums.size())), static_cast<int64_t>(i)));
}

/// As a carry goes through the bits of a counter: through as many as are set at its end.
void Emitter::push(Value chain, Sums sum) {
  Value level = k.i64(0), next = k.add(chain, 1);
  for (unsigned bit = 1; bit < levelsOf(terms); ++bit) {
    Value isSet = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, k.rem(next, int64_t(1) << bit),
                                        k.i64(0));
    level = k.add(level, arith::ExtUIOp::create(b, b.getI64Type(), isSet));
  }
  Sums met = k.forLoop(k.i64(0), level, k.i64(1), sum, [&](Value below, ValueRange sums) {
    return addAll(readLevel(below), Sums(sums));
  });
  writeLevel(level, met);
}

/// An odd last one moves up until it meets another.
Sums Emitter::close(Sums last, bool hasLast) {
  Sums sum = last;
  for (unsigned level = 0; level < levelsOf(terms); ++level)
    if (wholeChains >> level & 1) {
      Sums waiting = readLevel(k.i64(level));
      sum = hasLast ? addAll(waiting, sum) : waiting;
      hasLast = true;
    }
  return sum;
}

void Emitter::store(const Sums &sums) {
  int64_t width = columnPart.width;
  for (int64_t i = 0; i < rowPart.size(); ++i) {
    int64_t inPart = i / rowPart.width * rowPart.distance() + i % rowPart.width;
    tile.storeRow(k.add(ownRow, inPart), [&](Value line) {
      for (int64_t group = 0; group < columnPart.groups; ++group)
        tile.storeColumns(line, k.add(ownColumn, group * columnPart.distance()),
                          ArrayRef(sums).slice(i * columnPart.size() + group * width, width));
    });
  }
}

void Emitter::emit() {
  // One waits at its barrier while the other multiplies. Behind a part of a tile, single stores and
  // several contracted dimensions take more registers than that leaves; then ptxas has the choice,
  // for it wastes and spills registers where it is told that one block will do.
  bool isSimple = tile.hasNeighbours(columnPart.width) && spec.contracted.size() == 1;
  if (isSimple || terms % tileDepth == 0)
    k.setBlocksTogether(2);
  placeBlock();
  Value memory = k.shared(lhs.sharedBytes() + rhs.sharedBytes());
  lhs.open(memory, tile.firstRow(), tile.batch());
  rhs.open(k.pointer(b.getI8Type(), memory, k.i64(lhs.sharedBytes())), tile.firstColumn(),
           tile.batch());
  Value zero = k.i64(0);
  SmallVector<Value> x = lhs.start(zero, zero), y = rhs.start(zero, zero);
  lhs.finish(x, zero);
  rhs.finish(y, zero);
  constexpr int64_t tilesPerChain = chainLength / tileDepth;
  if (wholeChains)
    k.forLoop(zero, k.i64(wholeChains), k.i64(1), [&](Value chain) {
      Value low = k.mul(chain, tilesPerChain);
      push(chain, emitChain(low, k.add(low, tilesPerChain), 0));
    });
  int64_t begin = wholeChains * tilesPerChain, end = terms / tileDepth;
  bool hasRest = begin * tileDepth < terms;
  Sums sums;
  if (hasRest)
    sums = emitChain(k.i64(begin), k.i64(end), terms % tileDepth);
  k.awaitCopies();
  store(close(sums, hasRest));
}

int64_t Emitter::scratchBytes(const ContractionSpec &spec, TileExtents extents) {
  int64_t perThread = extents.rows * extents.columns / blockThreads;
  return levelsOf(countOf(spec.contracted)) * perThread *
         KernelBuilder::bytesOf(spec.accumulatorType());
}

/// Large tiles read operands less often, small ones leave fewer threads without work.
TileExtents chooseExtents(const ContractionSpec &spec) {
  TileExtents extents = TileExtents::largest(spec, spec.accumulatorType().isF64() ? 64 : 128);
  extents.spread(spec, [](TileExtents now) { return std::max(now.rows, now.columns) > 32; });
  return extents;
}

} // namespace

bool suitsTiles(const ContractionSpec &spec) {
  constexpr int64_t fewest = threadsPerSide;
  return countOf(spec.rows) >= fewest && countOf(spec.columns) >= fewest &&
         countOf(spec.contracted) >= tileDepth;
}

EmittedCommand emitTiledContraction(ModuleOp kernels, StringRef name, const ContractionSpec &spec,
                                    const ResultStrides &result, int64_t lhsAlignment,
                                    int64_t rhsAlignment) {
  TileExtents extents = chooseExtents(spec);
  ThreadKernel k(kernels, name, /*buffers=*/3, Emitter::scratchBytes(spec, extents));
  Emitter(k, spec, result, extents, lhsAlignment, rhsAlignment).emit();
  EmittedCommand command{name.str(), extents.count(spec), {}};
  command.itemThreads = blockThreads;
  command.blockThreads = blockThreads;
  return command;
}

} // namespace reprise
