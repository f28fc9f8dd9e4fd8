// reprise: contractions for the threads of a GPU, an element of the result each
#include "PlainContraction.h"

#include "ThreadKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace reprise {
namespace {

/// Offsets of an index of both operands, in elements.
using Offsets = std::pair<Value, Value>;

class Emitter {
public:
  Emitter(ThreadKernel &k, const ContractionSpec &spec)
      : k(k), b(k.builder()), spec(spec), accumulator(spec.accumulatorType()) {
    terms = countOf(spec.contracted);
    chains = std::max<int64_t>(1, llvm::divideCeil(terms, chainLength));
  }

  int64_t items() const { return countOf(spec.batch) * countOf(spec.rows) * countOf(spec.columns); }
  void emit();

private:
  template <typename Dims> static int64_t countOf(const Dims &dims) {
    int64_t count = 1;
    for (const auto &dim : dims)
      count *= dim.size;
    return count;
  }
  static std::pair<int64_t, int64_t> stridesOf(const SharedDim &dim) {
    return {dim.lhsStride, dim.rhsStride};
  }

  /// Takes an index of some dimensions apart; `strides` tells those of both operands.
  template <typename Dims, typename Strides>
  Offsets locate(const Dims &dims, Value index, Offsets from, Strides strides) {
    for (const auto &dim : llvm::reverse(dims)) {
      Value digit = dims.size() == 1 ? index : k.rem(index, dim.size);
      auto [lhs, rhs] = strides(dim);
      from = {k.add(from.first, k.mul(digit, lhs)), k.add(from.second, k.mul(digit, rhs))};
      index = k.div(index, dim.size);
    }
    return from;
  }

  /// The chain over terms [low, high), from +0.
  Value emitChain(Value low, Value high, Offsets start);
  /// Chains in order; the sums of whole subtrees wait in a register per level.
  Value emitTree(Offsets start);

  ThreadKernel &k;
  ImplicitLocOpBuilder &b;
  const ContractionSpec &spec;
  Type accumulator;
  int64_t terms, chains;
};

Value Emitter::emitChain(Value low, Value high, Offsets start) {
  auto addTerm = [&](Value term, ValueRange sums) -> KernelBuilder::Carried {
    auto [lhs, rhs] = locate(spec.contracted, term, start, stridesOf);
    Value x = k.loadCompute(spec.lhsType, k.buffer(0), lhs);
    Value y = k.loadCompute(spec.rhsType, k.buffer(1), rhs);
    return {math::FmaOp::create(b, x, y, sums[0])};
  };
  return k.forLoop(low, high, k.i64(1), k.constant(accumulator, 0), addTerm)[0];
}

Value Emitter::emitTree(Offsets start) {
  unsigned levels = llvm::Log2_64(chains);
  auto addChain = [&](Value chain, ValueRange waiting) {
    Value low = k.mul(chain, chainLength);
    Value high = k.min(k.add(low, chainLength), k.i64(terms));
    Value sum = emitChain(low, high, start);
    // As a carry goes through the bits of a counter.
    Value carries = arith::ConstantIntOp::create(b, 1, 1);
    KernelBuilder::Carried next;
    for (unsigned level = 0; level <= levels; ++level) {
      Value bit = k.rem(k.div(chain, int64_t(1) << level), 2);
      Value meets = arith::AndIOp::create(
          b, carries, arith::CmpIOp::create(b, arith::CmpIPredicate::eq, bit, k.i64(1)));
      Value rests = arith::XOrIOp::create(b, carries, meets);
      next.push_back(arith::SelectOp::create(b, rests, sum, waiting[level]));
      Value both = arith::AddFOp::create(b, waiting[level], sum);
      sum = arith::SelectOp::create(b, meets, both, sum);
      carries = meets;
    }
    return next;
  };
  SmallVector<Value> none(levels + 1, k.constant(accumulator, 0));
  KernelBuilder::Carried waiting = k.forLoop(k.i64(0), k.i64(chains), k.i64(1), none, addChain);
  // An odd last one moves up until it meets another.
  Value sum;
  for (unsigned level = 0; level <= levels; ++level)
    if (chains >> level & 1)
      sum = sum ? arith::AddFOp::create(b, waiting[level], sum).getResult() : waiting[level];
  return sum;
}

void Emitter::emit() {
  Value item = k.threadNumber();
  Value isInside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, item, k.i64(items()));
  k.ifThen(isInside, [&] {
    int64_t columns = countOf(spec.columns), rows = countOf(spec.rows);
    Offsets start = {k.i64(spec.lhsOffset), k.i64(spec.rhsOffset)};
    start = locate(spec.columns, k.rem(item, columns), start,
                   [](const FreeDim &dim) { return std::pair<int64_t, int64_t>(0, dim.stride); });
    Value matrix = k.div(item, columns);
    start = locate(spec.rows, k.rem(matrix, rows), start,
                   [](const FreeDim &dim) { return std::pair<int64_t, int64_t>(dim.stride, 0); });
    start = locate(spec.batch, k.div(matrix, rows), start, stridesOf);
    Value sum = chains == 1 ? emitChain(k.i64(0), k.i64(terms), start) : emitTree(start);
    k.storeCompute(spec.resultType, sum, k.buffer(2), item);
  });
}

} // namespace

EmittedCommand emitPlainContraction(ModuleOp kernels, StringRef name, const ContractionSpec &spec) {
  ThreadKernel k(kernels, name, /*buffers=*/3, /*scratchBytes=*/0);
  Emitter emitter(k, spec);
  emitter.emit();
  EmittedCommand command{name.str(), emitter.items(), {}};
  command.itemThreads = 1;
  command.blockThreads = blockThreads;
  return command;
}

} // namespace reprise
