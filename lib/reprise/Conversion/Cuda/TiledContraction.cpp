// reprise: contractions for blocks of threads of a GPU, one tile of the result per block
//
// The structure is that of the fastest single-precision kernels without tensor cores (CUTLASS,
// SIMT): operands go through shared memory in stages, a thread has a square of results in
// registers, and reads of shared memory are 16 bytes wide. Two things differ: the contracted index
// is never split among threads, and the sum of 4,096 terms ends before the next begins.
#include "TiledContraction.h"

#include "ContractionIndex.h"
#include "TileOperand.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace reprise {
namespace {

using Sums = Carried;

/// The part of one side of the tile that a thread has: `groups` times `width` neighbours.
struct Part {
  int64_t threads, width, groups;

  Part(int64_t extent, int64_t threads)
      : threads(threads), width(std::min<int64_t>(4, extent / threads)),
        groups(extent / threads / width) {}
  int64_t size() const { return width * groups; }
  int64_t distance() const { return width * threads; }
};

class Emitter {
public:
  Emitter(ThreadKernel &k, const ContractionSpec &spec, const ResultStrides &result,
          const TilePlan &plan, int64_t lhsAlignment, int64_t rhsAlignment,
          const TileEpilogue *epilogue, TileOrigin origin)
      : k(k), b(k.b), spec(spec), plan(plan), accumulator(spec.accumulatorType()),
        lhs(k, spec, true, plan.extents.rows, plan.threads(), lhsAlignment),
        rhs(k, spec, false, plan.extents.columns, plan.threads(), rhsAlignment),
        rowPart(plan.extents.rows, plan.threadsDown),
        columnPart(plan.extents.columns, plan.threadsAcross),
        tile(k, spec, result, plan.extents, epilogue, origin) {
    terms = countOf(spec.contracted);
    wholeChains = terms <= chainLength ? 0 : terms / chainLength;
  }

  void emit();

  static int64_t scratchBytes(const ContractionSpec &spec, const TilePlan &plan);

private:
  using Places = SmallVector<Value, 2>;

  static unsigned levelsOf(int64_t terms) {
    int64_t chains = llvm::divideCeil(terms, chainLength);
    return chains <= 1 ? 0 : llvm::Log2_64(chains) + 1;
  }
  /// Sets the tile of this block.
  void placeBlock();
  /// The stage of the tile that begins with a term.
  Value stageOf(Value first) { return k.rem(k.div(first, tileDepth), tileStages); }
  /// Loads a tile into its stage; if that needs registers, behind the work of `meanwhile`.
  void bringTile(Value first, llvm::function_ref<void()> meanwhile);
  /// Makes the next tile visible to every thread.
  void arrive();
  /// Returns the places of this thread's rows and columns in the stage of a tile.
  Places findPlaces(Value first);
  /// Reads the rows, and then the columns, of a term that this thread multiplies.
  Sums readTerm(ValueRange places, int64_t term);
  Sums multiply(ValueRange factors, ValueRange sums);
  /// Goes over all terms; the last chain's sums.
  Sums emitTiles();
  Sums multiplyTile(Value first, ValueRange before);
  Sums closeChain(Value first, const Sums &sums);
  /// Closed chains: sums of subtrees wait in memory of the thread, one per level.
  void push(Value chain, Sums sum);
  Sums close(Sums last, bool hasLast);
  Value placeInLevel(Value level, int64_t i);
  Sums readLevel(Value level);
  Sums addAll(const Sums &x, const Sums &y);
  void writeLevel(Value level, const Sums &sums);
  void store(const Sums &sums);

  ThreadKernel &k;
  ImplicitLocOpBuilder &b;
  const ContractionSpec &spec;
  const TilePlan &plan;
  Type accumulator;
  TileOperand lhs, rhs;
  Part rowPart, columnPart;
  ResultTile tile;
  int64_t terms, wholeChains;
  Value ownRow, ownColumn;
};

/// Assigns parts of the tile to lanes. Two neighbouring lanes read the same columns, and two
/// neighbouring pairs the same rows: shared memory then serves 16 lanes at once, not eight.
void Emitter::placeBlock() {
  tile.place();
  Value thread = k.numberInBlock();
  Value lane = k.rem(thread, lanesDown * lanesAcross),
        warp = k.div(thread, lanesDown * lanesAcross);
  int64_t warpsAcross = plan.threadsAcross / lanesAcross;
  Value down = k.add(k.rem(lane, 2), k.mul(k.div(lane, 16), 2));
  Value across = k.rem(k.div(lane, 2), lanesAcross);
  down = k.add(down, k.mul(k.div(warp, warpsAcross), lanesDown));
  across = k.add(across, k.mul(k.rem(warp, warpsAcross), lanesAcross));
  ownRow = k.mul(down, rowPart.width);
  ownColumn = k.mul(across, columnPart.width);
}

void Emitter::bringTile(Value first, llvm::function_ref<void()> meanwhile) {
  Value stage = stageOf(first);
  SmallVector<Value> x = lhs.start(first, stage), y = rhs.start(first, stage);
  k.commitCopies();
  meanwhile();
  lhs.finish(x, stage);
  rhs.finish(y, stage);
}

void Emitter::arrive() {
  k.awaitGroups(tileStages - 2);
  k.barrier();
}

Emitter::Places Emitter::findPlaces(Value first) {
  return {lhs.find(stageOf(first), ownRow), rhs.find(stageOf(first), ownColumn)};
}

Sums Emitter::readTerm(ValueRange places, int64_t term) {
  Sums factors;
  auto readPart = [&](TileOperand &operand, const Part &part, Value place) {
    for (int64_t group = 0; group < part.groups; ++group) {
      Value read = operand.read(place, term, group * part.distance(), part.width);
      for (int64_t i = 0; i < part.width; ++i)
        factors.push_back(vector::ExtractOp::create(b, read, i));
    }
  };
  readPart(lhs, rowPart, places[0]);
  readPart(rhs, columnPart, places[1]);
  return factors;
}

/// Squares of neighbours one after the other, and their lines to and fro: this order lets ptxas
/// place sums so that few instructions read three registers of one bank.
Sums Emitter::multiply(ValueRange factors, ValueRange sums) {
  Sums next(sums);
  ValueRange x = factors.take_front(rowPart.size()), y = factors.drop_front(rowPart.size());
  int64_t width = columnPart.width;
  for (int64_t row = 0; row < rowPart.size(); row += rowPart.width)
    for (int64_t column = 0; column < columnPart.size(); column += width)
      for (int64_t i = row; i < row + rowPart.width; ++i)
        for (int64_t j = 0; j < width; ++j) {
          int64_t place = column + (i % 2 == 0 ? j : width - 1 - j);
          Value &sum = next[i * columnPart.size() + place];
          sum = math::FmaOp::create(b, x[i], y[place], sum);
        }
  return next;
}

/// Multiplies a tile. Factors of the next term are read while those of this term are multiplied,
/// also across the barrier. The stage that is refilled is that of the previous tile, which no
/// thread reads any more.
Sums Emitter::multiplyTile(Value first, ValueRange before) {
  Sums sums(before.take_front(plan.perThread())),
      factors(before.drop_front(plan.perThread()).drop_back(2));
  bringTile(k.add(first, (tileStages - 1) * tileDepth), [&] {
    for (int64_t term = 1; term < tileDepth; ++term) {
      Sums next = readTerm(before.take_back(2), term);
      sums = multiply(factors, sums);
      factors = next;
    }
  });
  arrive();
  Places places = findPlaces(k.add(first, tileDepth));
  Sums next = readTerm(places, 0);
  sums = multiply(factors, sums);
  if (wholeChains)
    sums = closeChain(first, sums);
  sums.append(next);
  sums.append(places);
  return sums;
}

/// Emits all tiles in one loop over all chains, since counters of a second loop would need more
/// registers than there are. The last terms end their tile.
Sums Emitter::emitTiles() {
  Sums carried(plan.perThread(), emitConstant(b, accumulator, 0));
  Places begin = findPlaces(k.i64(0));
  carried.append(readTerm(begin, 0));
  carried.append(begin);
  int64_t tail = terms % tileDepth;
  carried = forLoop(k, k.i64(0), k.i64(terms - tail), k.i64(tileDepth), carried,
                    [&](Value first, ValueRange before) { return multiplyTile(first, before); });
  ValueRange last(carried);
  Sums sums(last.take_front(plan.perThread()));
  for (int64_t term = tileDepth - tail; term < tileDepth; ++term)
    sums = multiply(readTerm(last.take_back(2), term), sums);
  return sums;
}

/// Stores sums behind the last tile of a chain, and begins the next chain with zeros.
Sums Emitter::closeChain(Value first, const Sums &sums) {
  Value isLast = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, k.rem(first, chainLength),
                                       k.i64(chainLength - tileDepth));
  auto branch = scf::IfOp::create(b, TypeRange(ValueRange(sums)), isLast, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  push(k.div(first, chainLength), sums);
  scf::YieldOp::create(b, Sums(sums.size(), emitConstant(b, accumulator, 0)));
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, sums);
  return Sums(branch.getResults());
}

/// Returns the place of neighbouring numbers of one thread in a level: its memory is interleaved
/// with that of other threads. LLVM would keep a single level in registers, which the next chain
/// needs.
Value Emitter::placeInLevel(Value level, int64_t i) {
  return emitAddress(b, accumulator, k.workspace(), k.add(k.mul(level, plan.perThread()), i));
}

Sums Emitter::readLevel(Value level) {
  Sums sums;
  for (int64_t i = 0; i < plan.perThread(); ++i)
    sums.push_back(LLVM::LoadOp::create(b, accumulator, placeInLevel(level, i), /*alignment=*/0,
                                        /*isVolatile=*/true));
  return sums;
}

Sums Emitter::addAll(const Sums &x, const Sums &y) {
  Sums sums;
  for (auto [own, other] : llvm::zip_equal(x, y))
    sums.push_back(arith::AddFOp::create(b, own, other));
  return sums;
}

void Emitter::writeLevel(Value level, const Sums &sums) {
  for (auto [i, sum] : llvm::enumerate(sums))
    LLVM::StoreOp::create(b, sum, placeInLevel(level, static_cast<int64_t>(i)), /*alignment=*/0,
                          /*isVolatile=*/true);
}

/// Pushes a sum into the tree as a carry through the bits of a counter: through as many levels as
/// bits are set at its end.
void Emitter::push(Value chain, Sums sum) {
  Value level = k.i64(0), next = k.add(chain, 1);
  for (unsigned bit = 1; bit < levelsOf(terms); ++bit) {
    Value isSet = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, k.rem(next, int64_t(1) << bit),
                                        k.i64(0));
    level = k.add(level, arith::ExtUIOp::create(b, b.getI64Type(), isSet));
  }
  Sums met = forLoop(k, k.i64(0), level, k.i64(1), sum, [&](Value below, ValueRange sums) {
    return addAll(readLevel(below), Sums(sums));
  });
  writeLevel(level, met);
}

/// Combines the last sums: an odd last sum moves up until it meets another.
Sums Emitter::close(Sums last, bool hasLast) {
  for (int64_t level = 0; wholeChains >> level; ++level)
    if (wholeChains >> level & 1) {
      Sums waiting = readLevel(k.i64(level));
      last = hasLast ? addAll(waiting, last) : waiting;
      hasLast = true;
    }
  return last;
}

/// The place is found again: the loop needs all registers.
void Emitter::store(const Sums &sums) {
  k.readNumbersAnew();
  placeBlock();
  tile.beginStores();
  int64_t width = columnPart.width;
  for (int64_t i = 0; i < rowPart.size(); ++i) {
    int64_t inPart = i / rowPart.width * rowPart.distance() + i % rowPart.width;
    tile.storeRow(ownRow, inPart, [&](ResultTile::Line line) {
      for (int64_t group = 0; group < columnPart.groups; ++group)
        tile.storeColumns(line, ownColumn, group * columnPart.distance(),
                          ArrayRef(sums).slice(i * columnPart.size() + group * width, width));
    });
  }
}

void Emitter::emit() {
  // We ask for two blocks per multiprocessor, so that one waits at its barrier while the other
  // multiplies. Behind a part of a tile, single stores and several contracted dimensions need more
  // registers than that leaves; then ptxas chooses, because it wastes and spills registers if it is
  // told that one block is enough. It also chooses if there are no more blocks than
  // multiprocessors.
  bool isSimple = tile.hasNeighbours(columnPart.width) && spec.contracted.size() == 1;
  bool isAlone = plan.extents.count(spec) <= multiprocessors;
  if (!isAlone && (isSimple || terms % tileDepth == 0))
    k.setBlocksTogether(plan.together());
  placeBlock();
  Value memory = k.shared(lhs.sharedBytes() + rhs.sharedBytes());
  lhs.open(memory, tile.firstRow(), tile.batch());
  rhs.open(emitAddress(b, b.getI8Type(), memory, k.i64(lhs.sharedBytes())), tile.firstColumn(),
           tile.batch());
  for (int64_t tile = 0; tile + 1 < tileStages; ++tile)
    bringTile(k.i64(tile * tileDepth), [] {});
  arrive();
  Sums sums = emitTiles();
  k.awaitGroups(0);
  store(close(sums, /*hasLast=*/wholeChains * chainLength < terms));
}

int64_t Emitter::scratchBytes(const ContractionSpec &spec, const TilePlan &plan) {
  return levelsOf(countOf(spec.contracted)) * plan.perThread() * bytesOf(spec.accumulatorType());
}

/// Returns the largest distance of a buffer's elements from its first element.
template <typename Dims> int64_t reachOf(const Dims &dims, llvm::ArrayRef<int64_t> strides) {
  int64_t reach = 0;
  for (auto [dim, stride] : llvm::zip_equal(dims, strides))
    reach += (dim.size - 1) * std::abs(stride);
  return reach;
}

/// Returns whether 32 bits hold all places.
bool isNear(const ContractionSpec &spec, const ResultStrides &result) {
  auto reachIn = [&](const auto &dims, auto stride) {
    return reachOf(dims, llvm::map_to_vector(dims, stride));
  };
  int64_t ofLhs = spec.lhsOffset + reachIn(spec.batch, strideOfLhs) + reachIn(spec.rows, strideOf) +
                  reachIn(spec.contracted, strideOfLhs);
  int64_t ofRhs = spec.rhsOffset + reachIn(spec.batch, strideOfRhs) +
                  reachIn(spec.columns, strideOf) + reachIn(spec.contracted, strideOfRhs);
  int64_t ofResult = result.offset + reachOf(spec.batch, result.batch) +
                     reachOf(spec.rows, result.rows) + reachOf(spec.columns, result.columns);
  return std::max({ofLhs, ofRhs, ofResult}) < int64_t(1) << 30;
}

} // namespace

bool suitsTiles(const ContractionSpec &spec) {
  constexpr int64_t fewest = 16;
  return countOf(spec.rows) >= fewest && countOf(spec.columns) >= fewest &&
         countOf(spec.contracted) >= tileDepth;
}

EmittedCommand emitTiledContraction(ModuleOp kernels, StringRef name, const TiledPart &part,
                                    int64_t lhsAlignment, int64_t rhsAlignment,
                                    const TileEpilogue *epilogue) {
  const auto &[spec, result, plan, time, origin] = part;
  ThreadKernel k(kernels, name, countBuffers(epilogue), Emitter::scratchBytes(spec, plan),
                 plan.threads());
  if (isNear(spec, result) && (!epilogue || epilogue->isNear()))
    k.narrowIndices();
  Emitter(k, spec, result, plan, lhsAlignment, rhsAlignment, epilogue, origin).emit();
  EmittedCommand command{name.str(), plan.extents.count(spec), {}};
  command.itemThreads = plan.threads();
  command.blockThreads = plan.threads();
  return command;
}

} // namespace reprise
