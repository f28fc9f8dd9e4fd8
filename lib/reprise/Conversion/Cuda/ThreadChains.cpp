// reprise: the canonical order of contractions, for sums in the registers of a thread
#include "ThreadChains.h"

#include "reprise/Conversion/ContractionSpec.h"
#include "reprise/Conversion/Elements.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace reprise {

/// Adds the sums of chain number `chain` to the tree. `waiting` has a register for each level of
/// the tree and each sum; sums move up as a carry moves through the bits of a counter.
static Carried addToTree(KernelBuilder &k, Value chain, Carried sums, ValueRange waiting) {
  ImplicitLocOpBuilder &b = k.b;
  Value carries = arith::ConstantIntOp::create(b, 1, 1);
  Carried next;
  for (size_t level = 0; level < waiting.size() / sums.size(); ++level) {
    Value bit = k.rem(k.div(chain, int64_t(1) << level), 2);
    Value meets = arith::AndIOp::create(
        b, carries, arith::CmpIOp::create(b, arith::CmpIPredicate::eq, bit, k.i64(1)));
    Value rests = arith::XOrIOp::create(b, carries, meets);
    for (Value &sum : sums) {
      Value other = waiting[next.size()];
      next.push_back(arith::SelectOp::create(b, rests, sum, other));
      Value both = arith::AddFOp::create(b, other, sum);
      sum = arith::SelectOp::create(b, meets, both, sum);
    }
    carries = meets;
  }
  return next;
}

Carried emitChains(KernelBuilder &k, int64_t terms, Type type, size_t count,
                   llvm::function_ref<Carried(Value, Value)> chain) {
  int64_t chains = llvm::divideCeil(terms, chainLength);
  if (chains <= 1)
    return chain(k.i64(0), k.i64(terms));
  size_t levels = llvm::Log2_64(chains) + 1;
  SmallVector<Value> none(levels * count, emitConstant(k.b, type, 0));
  Carried waiting =
      forLoop(k, k.i64(0), k.i64(chains), k.i64(1), none, [&](Value number, ValueRange before) {
        Value low = k.mul(number, chainLength);
        Value high = k.min(k.add(low, chainLength), k.i64(terms));
        Carried sums = chain(low, high);
        return count ? addToTree(k, number, std::move(sums), before) : sums;
      });
  // An odd last sum moves up until it meets another.
  Carried result;
  for (size_t level = 0; level < levels; ++level)
    for (size_t i = 0; (chains >> level & 1) && i < count; ++i) {
      Value sum = waiting[level * count + i];
      if (result.size() == count)
        result[i] = arith::AddFOp::create(k.b, sum, result[i]);
      else
        result.push_back(sum);
    }
  return result;
}

} // namespace reprise
