// reprise: contractions for the threads of a GPU, one element of the result per thread
#include "PlainContraction.h"

#include "ContractionIndex.h"
#include "ThreadChains.h"
#include "ThreadKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace reprise {
namespace {

/// A dimension, with its distances in lhs, rhs and the result.
struct Dim {
  int64_t size;
  std::array<int64_t, 3> strides;
};
/// Place of an element in lhs, rhs and the result.
using Place = std::array<Value, 3>;

class Emitter {
public:
  Emitter(ThreadKernel &k, const ContractionSpec &spec, const ResultStrides &result,
          const TileEpilogue *epilogue);

  int64_t items() const { return countOf(elements); }
  void emit();

private:
  /// Adds an inner dimension, as part of the last one where all distances allow that.
  static void append(SmallVector<Dim> &dims, const Dim &dim);

  Place move(Place from, const Dim &dim, Value index) {
    for (auto [place, stride] : llvm::zip_equal(from, dim.strides))
      place = k.add(place, k.mul(index, stride));
    return from;
  }
  /// Takes an index of some dimensions apart.
  Place locate(ArrayRef<Dim> dims, Value index, Place from);

  Value addTerm(const Place &at, Value sum) {
    Value x = emitLoadWide(b, spec.lhsType, k.buffer(0), at[0]);
    Value y = emitLoadWide(b, spec.rhsType, k.buffer(1), at[1]);
    return math::FmaOp::create(b, x, y, sum);
  }
  /// The chain over all terms of the dimensions, a loop each.
  Value emitLoops(ArrayRef<Dim> dims, const Place &from, Value sum);
  /// The chain over terms [low, high), from +0.
  Value emitChain(Value low, Value high, const Place &start);
  void store(Value item, Value sum, Value place);

  ThreadKernel &k;
  ImplicitLocOpBuilder &b;
  const ContractionSpec &spec;
  const TileEpilogue *epilogue;
  Type accumulator;
  int64_t firstResult;
  SmallVector<Dim> elements, contracted;
  int64_t terms, chains;
};

Emitter::Emitter(ThreadKernel &k, const ContractionSpec &spec, const ResultStrides &result,
                 const TileEpilogue *epilogue)
    : k(k), b(k.b), spec(spec), epilogue(epilogue), accumulator(spec.accumulatorType()),
      firstResult(result.offset) {
  for (auto [dim, stride] : llvm::zip_equal(spec.batch, result.batch))
    append(elements, {dim.size, {dim.lhsStride, dim.rhsStride, stride}});
  for (auto [dim, stride] : llvm::zip_equal(spec.rows, result.rows))
    append(elements, {dim.size, {dim.stride, 0, stride}});
  for (auto [dim, stride] : llvm::zip_equal(spec.columns, result.columns))
    append(elements, {dim.size, {0, dim.stride, stride}});
  for (const SharedDim &dim : spec.contracted)
    append(contracted, {dim.size, {dim.lhsStride, dim.rhsStride, 0}});
  terms = countOf(contracted);
  chains = llvm::divideCeil(terms, chainLength);
}

void Emitter::append(SmallVector<Dim> &dims, const Dim &dim) {
  if (dim.size == 1)
    return;
  auto continues = [&](auto strides) {
    auto [outer, inner] = strides;
    return outer == inner * dim.size;
  };
  if (!dims.empty() && llvm::all_of(llvm::zip_equal(dims.back().strides, dim.strides), continues))
    dims.back() = {dims.back().size * dim.size, dim.strides};
  else
    dims.push_back(dim);
}

Place Emitter::locate(ArrayRef<Dim> dims, Value index, Place from) {
  for (; !dims.empty(); dims = dims.drop_back()) {
    bool isOutermost = dims.size() == 1;
    from = move(from, dims.back(), isOutermost ? index : k.rem(index, dims.back().size));
    if (!isOutermost)
      index = k.div(index, dims.back().size);
  }
  return from;
}

Value Emitter::emitLoops(ArrayRef<Dim> dims, const Place &from, Value sum) {
  if (dims.empty())
    return addTerm(from, sum);
  auto body = [&](Value index, ValueRange sums) -> Carried {
    return {emitLoops(dims.drop_front(), move(from, dims.front(), index), sums[0])};
  };
  return forLoop(k, k.i64(0), k.i64(dims.front().size), k.i64(1), sum, body)[0];
}

Value Emitter::emitChain(Value low, Value high, const Place &start) {
  auto body = [&](Value term, ValueRange sums) -> Carried {
    return {addTerm(locate(contracted, term, start), sums[0])};
  };
  return forLoop(k, low, high, k.i64(1), emitConstant(b, accumulator, 0), body)[0];
}

void Emitter::store(Value item, Value sum, Value place) {
  if (!epilogue)
    return emitStoreRounded(b, spec.resultType, sum, k.buffer(2), place);
  EpilogueEmitter ops(k, *epilogue);
  ops.begin();
  int64_t columns = countOf(spec.columns), rows = countOf(spec.rows);
  Value row = k.div(item, columns);
  nests::Scope scope = ops.enterRow(k.div(row, rows), k.rem(row, rows));
  ops.compute(scope, k.rem(item, columns), sum);
  ops.flush();
}

void Emitter::emit() {
  Value item = k.threadNumber();
  Value isInside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, item, k.i64(items()));
  ifThen(b, isInside, [&] {
    Place start = {k.i64(spec.lhsOffset), k.i64(spec.rhsOffset), k.i64(firstResult)};
    start = locate(elements, item, start);
    Value sum = spec.continuesSums ? emitLoadWide(b, accumulator, k.buffer(3), start[2])
                                   : emitConstant(b, accumulator, 0);
    if (chains > 1)
      sum = emitChains(k, terms, accumulator, 1, [&](Value low, Value high) {
        return Carried{emitChain(low, high, start)};
      })[0];
    else if (terms > 0)
      sum = emitLoops(contracted, start, sum);
    store(item, sum, start[2]);
  });
}

} // namespace

EmittedCommand emitPlainContraction(ModuleOp kernels, StringRef name, const ContractionSpec &spec,
                                    const ResultStrides &result, const TileEpilogue *epilogue) {
  ThreadKernel k(kernels, name, countBuffers(epilogue) + spec.continuesSums, /*scratchBytes=*/0);
  Emitter emitter(k, spec, result, epilogue);
  emitter.emit();
  EmittedCommand command{name.str(), emitter.items(), {}};
  command.itemThreads = 1;
  command.blockThreads = blockThreads;
  return command;
}

} // namespace reprise
