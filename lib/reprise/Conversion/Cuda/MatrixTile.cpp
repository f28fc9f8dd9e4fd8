// reprise: loads of matrix tiles into shared memory by a block of threads, for tensor cores
#include "MatrixTile.h"

#include "ContractionIndex.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace reprise {

int64_t findCommonPower(ArrayRef<int64_t> numbers, int64_t most) {
  int64_t all = most;
  for (int64_t number : numbers)
    all |= number;
  return all & -all;
}

/// Elements of 16 bytes.
constexpr int64_t chunk = 8;

/// Neighbours along one side that always lie at a multiple of their number.
static int64_t chooseUnit(const GlobalMatrix &matrix, Type type, bool terms) {
  const SmallVector<FreeDim> &along = terms ? matrix.terms : matrix.rows,
                             &across = terms ? matrix.rows : matrix.terms;
  if (along.empty() || along.back().stride != 1)
    return 1;
  SmallVector<int64_t> whole = {matrix.aligned, along.back().size};
  for (const FreeDim &dim : ArrayRef(along).drop_back())
    whole.push_back(dim.stride);
  for (const FreeDim &dim : across)
    whole.push_back(dim.stride);
  return findCommonPower(whole, 16 / bytesOf(type));
}

GlobalMatrix::Access GlobalMatrix::chooseAccess(Type type) const {
  auto isDense = [](const SmallVector<FreeDim> &dims) {
    return !dims.empty() && dims.back().stride == 1;
  };
  int64_t ofRows = chooseUnit(*this, type, false), ofTerms = chooseUnit(*this, type, true);
  bool alongTerms = ofTerms > ofRows || (ofTerms == ofRows && isDense(terms) && !isDense(rows));
  return {alongTerms, alongTerms ? ofTerms : ofRows};
}

bool MatrixTile::isCopied(const GlobalMatrix &matrix, Type type) {
  return matrix.chooseAccess(type).unit * bytesOf(type) >= 4;
}

MatrixTile::MatrixTile(ThreadKernel &k, TensorCore &core, const GlobalMatrix &matrix, int64_t rows,
                       int64_t terms, int64_t stages)
    : k(k), b(k.b), core(core), matrix(matrix), rows(rows), terms(terms), stages(stages),
      type(core.elementType()) {
  auto [chosen, neighbours] = matrix.chooseAccess(type);
  alongTerms = chosen, unit = neighbours;
}

/// Returns whether lines are swizzled. A gap costs memory, which three stages do not leave; a
/// swizzle costs registers for addresses.
bool MatrixTile::isSwizzled() const {
  return stages > 2 && llvm::isPowerOf2_64(lineLength() / chunk);
}

int64_t MatrixTile::pitch() const { return isSwizzled() ? lineLength() : lineLength() + 8; }

Value MatrixTile::indexOf(Value firstLine, Value line, Value column) {
  Value start = k.mul(k.add(firstLine, line), pitch());
  if (!isSwizzled())
    return k.add(start, column);
  // Eight lines use all banks once if lines that share banks have different numbers.
  int64_t chunks = std::min<int64_t>(lineLength() / chunk, 8), together = 8 / chunks;
  Value number = k.rem(k.div(line, together), chunks);
  Value place = arith::XOrIOp::create(b, k.div(column, chunk), number);
  return k.add(k.add(start, k.mul(place, chunk)), k.rem(column, chunk));
}

int64_t MatrixTile::sharedBytes() const { return stages * lines() * pitch() * bytesOf(type); }

int64_t MatrixTile::unitsPerThread() const {
  return llvm::divideCeil(lines() * lineLength() / unit, k.threadCount());
}

void MatrixTile::open(Value ofBlock, Value first) {
  shared = ofBlock;
  global = first;
}

std::pair<Value, Value> MatrixTile::placeOf(int64_t number) {
  int64_t perLine = lineLength() / unit, all = lines() * perLine, threads = k.threadCount();
  Value own = k.numberInBlock();
  if (threads % perLine == 0 && all % threads == 0)
    return {k.add(k.div(own, perLine), number * (threads / perLine)),
            k.mul(k.rem(own, perLine), unit)};
  own = k.add(own, number * threads);
  if (all % threads != 0)
    own = k.min(own, k.i64(all - 1));
  return {k.div(own, perLine), k.mul(k.rem(own, perLine), unit)};
}

void MatrixTile::ifThere(int64_t number, llvm::function_ref<void()> body) {
  int64_t all = lines() * lineLength() / unit, threads = k.threadCount();
  if ((number + 1) * threads <= all)
    return body();
  ifThen(b,
         arith::CmpIOp::create(b, arith::CmpIPredicate::slt, k.numberInBlock(),
                               k.i64(all - number * threads)),
         body);
}

Value MatrixTile::sharedIndex(int64_t number, Value stage) {
  auto [line, begin] = placeOf(number);
  return k.add(indexOf(k.i64(0), line, begin), k.mul(stage, lines() * pitch()));
}

/// Returns the index, clamped to the existing units; a unit exists with all its elements or not at
/// all.
Value MatrixTile::limit(Value index, int64_t count, Value &inside) {
  Value own = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, index, k.i64(count));
  inside = inside ? arith::AndIOp::create(b, inside, own).getResult() : own;
  return arith::SelectOp::create(b, own, index, k.i64(0));
}

MatrixTile::Source MatrixTile::findSource(int64_t number, Value row, Value term, bool isInside) {
  auto [line, begin] = placeOf(number);
  row = k.add(row, alongTerms ? line : begin);
  term = k.add(term, alongTerms ? begin : line);
  Source source;
  if (!isInside)
    row = limit(row, countOf(matrix.rows), source.isInside);
  if (countOf(matrix.terms) % terms != 0)
    term = limit(term, countOf(matrix.terms), source.isInside);
  Value index =
      k.add(locate(k, matrix.rows, row, strideOf), locate(k, matrix.terms, term, strideOf));
  source.address = emitAddress(b, type, global, index);
  return source;
}

SmallVector<Value> MatrixTile::start(Value row, Value term, Value stage, bool isInside) {
  SmallVector<Value> loaded;
  int64_t bytes = unit * bytesOf(type);
  for (int64_t i = 0; i < unitsPerThread(); ++i) {
    Source source = findSource(i, row, term, isInside);
    if (isCopied()) {
      Value to = emitAddress(b, type, shared, sharedIndex(i, stage));
      ifThere(i, [&] { k.copyAsync(to, source.address, bytes, source.isInside); });
      continue;
    }
    Value value = emitLoad(b, type, source.address, k.i64(0));
    if (source.isInside)
      value = arith::SelectOp::create(b, source.isInside, value, emitConstant(b, type, 0));
    loaded.push_back(value);
  }
  return loaded;
}

void MatrixTile::finish(ArrayRef<Value> loaded, Value stage) {
  for (auto [i, value] : llvm::enumerate(loaded)) {
    auto number = static_cast<int64_t>(i);
    Value element = value;
    ifThere(number, [&] { emitStore(b, type, element, shared, sharedIndex(number, stage)); });
  }
}

/// First lines are multiples of eight, columns of 16.
TensorCore::Fragment MatrixTile::readLines(Value stage, Value firstLine, Value firstColumn,
                                           bool isByRows) {
  Value first = k.mul(stage, lines() * pitch());
  return core.load(shared, isByRows, [&](Value line, Value column) {
    return k.add(first, indexOf(firstLine, line, k.add(firstColumn, column)));
  });
}

TensorCore::Fragment MatrixTile::read(Value stage, Value row, int64_t term) {
  Value terms = k.i64(term);
  return readLines(stage, alongTerms ? row : terms, alongTerms ? terms : row, alongTerms);
}

TensorCore::Fragment MatrixTile::readTurned(Value stage, int64_t row, int64_t term) {
  Value line = k.i64(alongTerms ? row : term), column = k.i64(alongTerms ? term : row);
  return readLines(stage, line, column, !alongTerms);
}

} // namespace reprise
