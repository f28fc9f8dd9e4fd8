// reprise: the arithmetic of a score of attention, as functions of kernels/cuda
#include "AttentionFunctions.h"

#include "../Lanes.h"
#include "../Polynomials.h"
#include "AttentionScores.h"
#include "LaunchFunctions.h"
#include "TensorAttention.h"
#include "reprise/Conversion/Elementary.h"
#include "reprise/Conversion/Random.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace reprise::cuda {
namespace {

/// Emitter of the body of one function.
class Body : public AttentionScores {
public:
  Body(LaunchFunction &function, const AttentionSpec &spec, const AttentionBuffers &buffers,
       double rate)
      : AttentionScores(function, spec, buffers), function(function), rate(rate) {}

  // Functions of a place, which is the second argument.
  Value emitScore() {
    Place place = readPlace();
    return score(function.argument(2), place.head, place.query, place.key);
  }
  Value emitSees() {
    Place place = readPlace();
    return arith::ExtUIOp::create(b, b.getI32Type(), sees(place.head, place.query, place.key));
  }
  Value emitWord() {
    Place place = readPlace();
    return word(place.head, place.query, place.key);
  }
  Value emitWords() {
    Place place = readPlace();
    Words words = drawBlock(k.add(draw.position(place.head, place.query), place.key));
    for (auto [i, word] : llvm::enumerate(words))
      emitStore(b, b.getI32Type(), word, function.argument(2), k.i64(static_cast<int64_t>(i)));
    return {};
  }

  /// Returns a power: the exponent is added to that of 2^rest, in [0.7, 1.42). At -127 the rest is
  /// 0, and the sum +0.
  Value emitPower() {
    Value score = function.argument(0);
    Lanes l(b, score);
    Value x = l.fma(score, l.f(unit() * log2e), l.neg(function.argument(1)));
    x = arith::MaximumFOp::create(b, x, l.f(-l.format.bias()));
    Value shift = l.f(l.format.integerShift()), shifted = l.add(x, shift);
    Value rest = l.sub(x, l.sub(shifted, shift));
    Value power = l.fma(l.hornerOf(emission::f32::coarsePowerOfTwo, rest), rest, l.f(1));
    return l.fromBits(
        l.addBits(l.toBits(power), l.shiftLeft(l.toBits(shifted), l.format.mantissaBits())));
  }
  Value emitBase() { return multiply(function.argument(0), number(unit() * log2e)); }
  Value emitLse() {
    return add(multiply(function.argument(0), number(unit())), emitLog(b, function.argument(1)));
  }
  Value emitQuotient() { return quotient(function.argument(0), function.argument(1)); }
  Value emitScaled() { return scaled(function.argument(0)); }
  Value emitDropped() { return emitDropout(b, function.argument(0), function.argument(1), rate); }
  Value storeOne() {
    emitStoreRounded(b, spec.type, function.argument(1), function.argument(0), k.i64(0));
    return {};
  }
  Value storePair() {
    Value both = vector::FromElementsOp::create(
        b, VectorType::get({2}, compute), ValueRange{function.argument(1), function.argument(2)});
    emitStoreRounded(b, spec.type, both, function.argument(0), k.i64(0), /*aligned=*/2);
    return {};
  }

private:
  struct Place {
    HeadIndex head;
    Value query, key;
  };
  Place readPlace() {
    auto read = [&](int64_t i) {
      return emitLoad(b, b.getI64Type(), function.argument(1), k.i64(i));
    };
    return {{{}, read(0), read(1)}, read(2), read(3)};
  }
  /// Returns the units of products that stand for scores.
  double unit() const { return isProduct(spec) ? spec.scale : 1; }

  LaunchFunction &function;
  double rate; ///< of dropout
};

} // namespace

void addAttentionFunctions(gpu::GPUModuleOp module, const AttentionSpec &spec,
                           const AttentionBuffers &buffers) {
  MLIRContext *context = module.getContext();
  Type f32 = Float32Type::get(context), i32 = IntegerType::get(context, 32);
  Type pointer = LLVM::LLVMPointerType::get(context);
  Type global = LLVM::LLVMPointerType::get(context, globalMemory);
  // A function without the launch draws nothing, so it must not read the buffers of words.
  AttentionSpec plain = spec;
  plain.rate = 0;
  auto add = [&](StringRef name, ArrayRef<Type> arguments, Type result, Value (Body::*emit)()) {
    LaunchFunction function(module, name, arguments, result ? ArrayRef(result) : ArrayRef<Type>());
    Body body(function, arguments.front() == pointer ? spec : plain, buffers, spec.rate);
    Value value = (body.*emit)();
    if (result)
      function.setResult(value);
  };
  add("attention_score", {pointer, pointer, f32}, f32, &Body::emitScore);
  add("attention_sees", {pointer, pointer}, i32, &Body::emitSees);
  if (spec.draws()) {
    add("attention_word", {pointer, pointer}, i32, &Body::emitWord);
    add("attention_words", {pointer, pointer, pointer}, {}, &Body::emitWords);
    add("attention_dropout", {i32, f32}, f32, &Body::emitDropped);
  }
  add("attention_power", {f32, f32}, f32, &Body::emitPower);
  add("attention_base", {f32}, f32, &Body::emitBase);
  add("attention_lse", {f32, f32}, f32, &Body::emitLse);
  add("attention_quotient", {f32, f32}, f32, &Body::emitQuotient);
  add("attention_scaled", {f32}, f32, &Body::emitScaled);
  add("attention_store", {global, f32}, {}, &Body::storeOne);
  add("attention_store_pair", {global, f32, f32}, {}, &Body::storePair);
}

} // namespace reprise::cuda
