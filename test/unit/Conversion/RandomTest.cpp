// reprise: emitted Philox words and distributions against the interpreter's, to the bit
#include "reprise/Conversion/Random.h"
#include "MapKernel.h"
#include "reprise/Reference/Random.h"

using namespace mlir;
using namespace reprise;
using namespace reprise::test;

namespace {

constexpr int64_t count = 4096;
constexpr int64_t blockWidths[] = {4, 8, 16, 32};

/// States that meet every carry: of the low word of the counter, of the stream, of the 64-bit
/// position.
const reference::Draw states[] = {
    {0, 0, 0},
    {0x853c49e6748fea9b, 3, (uint64_t(1) << 34) - 64},
    {0xffffffffffffffff, 0xffffffff80000001, uint64_t(0) - 128},
    {1234, uint64_t(1) << 63 | 0x123456789, 4 * ((uint64_t(1) << 33) - 7)},
};

/// Kernels that read seed, stream and offset from their first buffer.
class EmittedRandom : public testing::Test {
protected:
  MapKernels kernels;
  OpBuilder &b = kernels.builder;

  struct State {
    Value seed, stream, position;
  };
  /// The state at element i.
  static State load(KernelBuilder &k, Value i) {
    Type i64 = k.b.getI64Type();
    Value state = k.buffer(0);
    return {emitLoad(k.b, i64, state, k.i64(0)), emitLoad(k.b, i64, state, k.i64(1)),
            k.add(emitLoad(k.b, i64, state, k.i64(2)), i)};
  }

  using EmitWords = std::function<Value(KernelBuilder &, Value words)>;
  using EmitAt = std::function<Value(KernelBuilder &, const State &, Value positions)>;

  /// Kernels "fast.W", from the words of W consecutive elements.
  void addFast(Type output, const EmitWords &emit) {
    for (int64_t width : blockWidths)
      kernels.add(
          "fast", {}, output,
          [&](KernelBuilder &k, ValueRange, Value i) {
            State s = load(k, i);
            return emit(k, emitPhiloxWords(k.b, s.seed, s.stream, s.position, width));
          },
          1, width);
  }
  /// Kernels "slow.W", from W positions.
  void addSlow(Type output, const EmitAt &emit) {
    for (int64_t width : widths)
      kernels.add(
          "slow", {}, output,
          [&](KernelBuilder &k, ValueRange, Value i) {
            State s = load(k, i);
            if (width == 1)
              return emit(k, s, s.position);
            auto type = VectorType::get(width, k.b.getI64Type());
            Value steps = arith::ConstantOp::create(
                k.b, DenseElementsAttr::get(type, ArrayRef(llvm::to_vector(llvm::seq(width)))));
            return emit(k, s, arith::AddIOp::create(k.b, emitSplat(k.b, s.position, width), steps));
          },
          1, width);
  }

  /// Runs every kernel for every state.
  template <typename T, typename Reference> void compare(Reference reference) {
    std::vector<T> expected(count), output(count);
    kernels.forEachTarget([&](const CpuTarget &target, const MappedImage &image) {
      for (const reference::Draw &draw : states) {
        for (int64_t i = 0; i < count; ++i)
          expected[i] = static_cast<T>(reference(draw, i));
        kernels.module->walk([&](LLVM::LLVMFuncOp function) {
          std::string name = function.getName().str();
          uint64_t state[] = {draw.seed, draw.stream, draw.offset};
          void *buffers[] = {state, output.data()};
          image.kernel(name)(buffers, 0, count, nullptr);
          expectSameBits(output, expected, [&](int64_t i) {
            return target.name + " " + name + " element " + std::to_string(i);
          });
        });
      }
    });
  }
};

TEST_F(EmittedRandom, Words) {
  addFast(b.getI32Type(), [](KernelBuilder &, Value words) { return words; });
  addSlow(b.getI32Type(), [](KernelBuilder &k, const State &s, Value positions) {
    return emitPhiloxWordsAt(k.b, s.seed, s.stream, positions);
  });
  compare<uint32_t>([](const reference::Draw &draw, uint64_t i) { return draw.word(i); });
}

TEST_F(EmittedRandom, WordsOfAnUnalignedRow) {
  // The slow form starts anywhere.
  addSlow(b.getI32Type(), [](KernelBuilder &k, const State &s, Value positions) {
    Value three = emitConstant(k.b, positions.getType(), 3);
    return emitPhiloxWordsAt(k.b, s.seed, s.stream, arith::AddIOp::create(k.b, positions, three));
  });
  compare<uint32_t>([](const reference::Draw &draw, uint64_t i) { return draw.word(i + 3); });
}

TEST_F(EmittedRandom, UniformF32) {
  addFast(b.getF32Type(), [](KernelBuilder &k, Value words) {
    return emitUniform(k.b, words, k.b.getF32Type(), -0.1, 0.7);
  });
  compare<float>([](auto &draw, uint64_t i) { return reference::uniformF32(draw, i, -0.1, 0.7); });
}

TEST_F(EmittedRandom, UniformF64) {
  addFast(b.getF64Type(), [](KernelBuilder &k, Value words) {
    return emitUniform(k.b, words, k.b.getF64Type(), 0, 1);
  });
  compare<double>([](auto &draw, uint64_t i) { return reference::uniformF64(draw, i); });
}

TEST_F(EmittedRandom, UniformOnSixteenBitGrids) {
  addFast(b.getF32Type(), [](KernelBuilder &k, Value words) {
    ImplicitLocOpBuilder &b = k.b;
    return arith::AddFOp::create(b, emitUniform(b, words, b.getBF16Type(), 0, 1),
                                 emitUniform(b, words, b.getF16Type(), 1, 3))
        .getResult();
  });
  compare<float>([](auto &draw, uint64_t i) {
    return reference::uniformBf16(draw, i) + reference::uniformF16(draw, i, 1, 3);
  });
}

TEST_F(EmittedRandom, UniformIntegers) {
  addFast(b.getI64Type(), [](KernelBuilder &k, Value words) {
    return emitUniformInt(k.b, words, k.b.getI64Type(), -5, 50257);
  });
  compare<int64_t>(
      [](auto &draw, uint64_t i) { return reference::uniformInt(draw, i, -5, 50257); });
}

TEST_F(EmittedRandom, UniformIntegersOfTheWholeRange) {
  const int64_t low = -2147483648ll, high = 2147483648ll;
  addFast(b.getI32Type(), [&](KernelBuilder &k, Value words) {
    return emitUniformInt(k.b, words, k.b.getI32Type(), low, high);
  });
  compare<int32_t>(
      [&](auto &draw, uint64_t i) { return reference::uniformInt(draw, i, low, high); });
}

TEST_F(EmittedRandom, UniformBooleans) {
  addFast(b.getI1Type(), [&](KernelBuilder &k, Value words) {
    return emitUniformInt(k.b, words, k.b.getI1Type(), 0, 2);
  });
  compare<uint8_t>([&](auto &draw, uint64_t i) { return reference::uniformInt(draw, i, 0, 2); });
}

TEST_F(EmittedRandom, Normal) {
  addFast(b.getF32Type(),
          [](KernelBuilder &k, Value words) { return emitNormal(k.b, words, 0.5, 0.02); });
  addSlow(b.getF32Type(), [](KernelBuilder &k, const State &s, Value positions) {
    return emitNormalAt(k.b, s.seed, s.stream, positions, 0.5, 0.02);
  });
  compare<float>([](auto &draw, uint64_t i) { return reference::normal(draw, i, 0.5, 0.02); });
}

TEST_F(EmittedRandom, Bernoulli) {
  for (double p : {0.0, 0.3, 1 - 0x1p-32, 1.0}) {
    kernels.module = ModuleOp::create(UnknownLoc::get(&kernels.context));
    addFast(b.getI1Type(),
            [p](KernelBuilder &k, Value words) { return emitBernoulli(k.b, words, p); });
    compare<uint8_t>([p](auto &draw, uint64_t i) { return reference::bernoulli(draw, i, p); });
  }
}

TEST_F(EmittedRandom, Dropout) {
  for (double rate : {0.0, 0.1, 1.0}) {
    kernels.module = ModuleOp::create(UnknownLoc::get(&kernels.context));
    addFast(b.getF32Type(), [rate](KernelBuilder &k, Value words) {
      // Half of the operands are NaN; a dropped element is +0 nevertheless.
      ImplicitLocOpBuilder &b = k.b;
      Value odd = arith::AndIOp::create(b, words, emitConstant(b, words.getType(), 1));
      Value x = emitUniform(b, words, b.getF32Type(), -2, -1);
      Value isNan = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, odd,
                                          emitConstant(b, words.getType(), 0));
      x = arith::SelectOp::create(b, isNan, emitConstant(b, x.getType(), NAN), x);
      return emitDropout(b, words, x, rate);
    });
    compare<float>([rate](auto &draw, uint64_t i) {
      float x = draw.word(i) & 1 ? NAN : reference::uniformF32(draw, i, -2, -1);
      return reference::dropout(draw, i, x, rate);
    });
  }
}

} // namespace
