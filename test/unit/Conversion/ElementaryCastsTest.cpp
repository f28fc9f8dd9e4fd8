// reprise: emitted conversions and integer division against the interpreter's, to the bit
#include "MapKernel.h"
#include "reprise/Conversion/Elementary.h"
#include "reprise/Reference/Numbers.h"

#include <random>

using namespace mlir;
using namespace reprise;
using namespace reprise::test;

namespace {

constexpr int64_t count = 1 << 17;

/// Returns bits of every magnitude; one value in four has few ones, as ties have. NaNs and
/// infinities occur by chance.
template <typename T> std::vector<T> everyKind(uint64_t seed) {
  std::vector<T> values(count);
  std::mt19937_64 random(seed);
  for (int64_t i = 0; i < count; ++i) {
    uint64_t bits = random();
    if (i % 4 == 0)
      bits &= ~uint64_t(0) << random() % 64;
    // The range of the narrow types.
    if (i % 4 == 1 && std::is_same_v<T, double>)
      bits = (bits & 0x800fffffffffffff) | (uint64_t(865) + random() % 300) << 52;
    if (i % 8 == 4 && std::is_integral_v<T>)
      bits = static_cast<uint64_t>(static_cast<int64_t>(bits) >> random() % 64);
    std::memcpy(&values[i], &bits, sizeof(T));
  }
  return values;
}

class EmittedCast : public testing::Test {
protected:
  MapKernels kernels;
  OpBuilder &b = kernels.builder;

  /// Converts `input` by kernels and by `reference`. Bits of 16-bit floats are integers here, so
  /// NaNs count.
  template <typename In, typename Out, typename Reference>
  void compare(Type from, Type to, const std::vector<In> &input, Reference reference) {
    kernels.module = ModuleOp::create(UnknownLoc::get(&kernels.context));
    kernels.add("cast", from, to,
                [&](KernelBuilder &k, ValueRange x, Value) { return emitCast(k.b, x[0], to); });
    std::vector<Out> expected, output(input.size());
    for (In x : input)
      expected.push_back(reference(x));
    kernels.forEachTarget([&](const CpuTarget &target, const MappedImage &image) {
      for (int64_t width : widths) {
        void *buffers[] = {const_cast<In *>(input.data()), output.data()};
        image.kernel("cast." + std::to_string(width))(buffers, 0, input.size(), nullptr);
        expectSameBits(output, expected, [&](int64_t i) {
          std::string text;
          llvm::raw_string_ostream(text) << target.name << " width " << width << ": " << from
                                         << " to " << to << " of element " << i;
          return text;
        });
      }
    });
  }
};

TEST_F(EmittedCast, ToSixteenBitsRoundsOnce) {
  Type bf16 = b.getBF16Type(), f16 = b.getF16Type();
  auto toBf16 = [](auto x) { return reference::toBf16(x); };
  auto toF16 = [](auto x) { return reference::toF16(x); };
  compare<float, uint16_t>(b.getF32Type(), bf16, everyKind<float>(1), toBf16);
  compare<float, uint16_t>(b.getF32Type(), f16, everyKind<float>(2), toF16);
  compare<double, uint16_t>(b.getF64Type(), bf16, everyKind<double>(3), toBf16);
  compare<double, uint16_t>(b.getF64Type(), f16, everyKind<double>(4), toF16);
  compare<int64_t, uint16_t>(b.getI64Type(), bf16, everyKind<int64_t>(5), toBf16);
  compare<int64_t, uint16_t>(b.getI64Type(), f16, everyKind<int64_t>(6), toF16);
  compare<int32_t, uint16_t>(b.getI32Type(), bf16, everyKind<int32_t>(7),
                             [](int32_t x) { return reference::toBf16(int64_t(x)); });
  compare<int32_t, uint16_t>(b.getI32Type(), f16, everyKind<int32_t>(8),
                             [](int32_t x) { return reference::toF16(int64_t(x)); });
}

TEST_F(EmittedCast, FromSixteenBits) {
  std::vector<uint16_t> all(1 << 16);
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = i;
  Type bf16 = b.getBF16Type(), f16 = b.getF16Type();
  compare<uint16_t, float>(bf16, b.getF32Type(), all, reference::fromBf16);
  compare<uint16_t, float>(f16, b.getF32Type(), all, reference::fromF16);
  compare<uint16_t, double>(bf16, b.getF64Type(), all, reference::fromBf16);
  compare<uint16_t, double>(f16, b.getF64Type(), all, reference::fromF16);
  compare<uint16_t, uint16_t>(f16, bf16, all,
                              [](uint16_t x) { return reference::toBf16(reference::fromF16(x)); });
  compare<uint16_t, int32_t>(bf16, b.getI32Type(), all,
                             [](uint16_t x) { return reference::toInt32(reference::fromBf16(x)); });
  compare<uint16_t, uint8_t>(f16, b.getI1Type(), all,
                             [](uint16_t x) { return reference::fromF16(x) != 0; });
}

TEST_F(EmittedCast, FloatToIntegerSaturates) {
  auto toInt32 = [](auto x) { return reference::toInt32(x); };
  auto toInt64 = [](auto x) { return reference::toInt64(x); };
  compare<float, int32_t>(b.getF32Type(), b.getI32Type(), everyKind<float>(1), toInt32);
  compare<float, int64_t>(b.getF32Type(), b.getI64Type(), everyKind<float>(2), toInt64);
  compare<double, int32_t>(b.getF64Type(), b.getI32Type(), everyKind<double>(3), toInt32);
  compare<double, int64_t>(b.getF64Type(), b.getI64Type(), everyKind<double>(4), toInt64);
}

TEST_F(EmittedCast, BetweenWideTypes) {
  auto toFloat = [](auto x) { return static_cast<float>(x); };
  auto toDouble = [](auto x) { return static_cast<double>(x); };
  auto isNotZero = [](auto x) { return x != 0; };
  compare<double, float>(b.getF64Type(), b.getF32Type(), everyKind<double>(1), toFloat);
  compare<float, double>(b.getF32Type(), b.getF64Type(), everyKind<float>(2), toDouble);
  compare<int32_t, float>(b.getI32Type(), b.getF32Type(), everyKind<int32_t>(3), toFloat);
  compare<int64_t, float>(b.getI64Type(), b.getF32Type(), everyKind<int64_t>(4), toFloat);
  compare<int64_t, double>(b.getI64Type(), b.getF64Type(), everyKind<int64_t>(5), toDouble);
  compare<int64_t, int32_t>(b.getI64Type(), b.getI32Type(), everyKind<int64_t>(6),
                            [](int64_t x) { return static_cast<int32_t>(x); });
  compare<int32_t, int64_t>(b.getI32Type(), b.getI64Type(), everyKind<int32_t>(7),
                            [](int32_t x) { return static_cast<int64_t>(x); });
  compare<double, uint8_t>(b.getF64Type(), b.getI1Type(), everyKind<double>(8), isNotZero);
  compare<int32_t, uint8_t>(b.getI32Type(), b.getI1Type(), everyKind<int32_t>(9), isNotZero);
}

TEST_F(EmittedCast, FromBoolean) {
  std::vector<uint8_t> input(64);
  for (size_t i = 0; i < input.size(); ++i)
    input[i] = i % 3 == 0;
  Type i1 = b.getI1Type();
  compare<uint8_t, float>(i1, b.getF32Type(), input, [](uint8_t x) { return x ? 1.0f : 0.0f; });
  compare<uint8_t, int64_t>(i1, b.getI64Type(), input, [](uint8_t x) { return x ? 1 : 0; });
  compare<uint8_t, uint16_t>(i1, b.getBF16Type(), input, [](uint8_t x) { return x ? 0x3f80 : 0; });
  compare<uint8_t, uint16_t>(i1, b.getF16Type(), input, [](uint8_t x) { return x ? 0x3c00 : 0; });
}

TEST_F(EmittedCast, RoundToKeepsAFloat) {
  const std::vector<float> input = everyKind<float>(1);
  for (Type type : {Type(b.getBF16Type()), Type(b.getF16Type()), Type(b.getF32Type())}) {
    kernels.module = ModuleOp::create(UnknownLoc::get(&kernels.context));
    kernels.add(
        "round", b.getF32Type(), b.getF32Type(),
        [&](KernelBuilder &k, ValueRange x, Value) { return emitRoundTo(k.b, x[0], type); });
    std::vector<float> expected, output(input.size());
    for (float x : input)
      expected.push_back(type.isBF16()  ? reference::fromBf16(reference::toBf16(x))
                         : type.isF16() ? reference::fromF16(reference::toF16(x))
                                        : x);
    kernels.forEachTarget([&](const CpuTarget &target, const MappedImage &image) {
      for (int64_t width : widths) {
        void *buffers[] = {const_cast<float *>(input.data()), output.data()};
        image.kernel("round." + std::to_string(width))(buffers, 0, input.size(), nullptr);
        expectSameBits(output, expected, [&](int64_t i) {
          return target.name + " width " + std::to_string(width) + " element " + std::to_string(i);
        });
      }
    });
  }
}

template <typename I> void compareDivision() {
  MapKernels kernels;
  Type type = kernels.builder.getIntegerType(8 * sizeof(I));
  kernels.add("divide", {type, type}, type,
              [](KernelBuilder &k, ValueRange x, Value) { return emitDivide(k.b, x[0], x[1]); });
  kernels.add("remainder", {type, type}, type,
              [](KernelBuilder &k, ValueRange x, Value) { return emitRemainder(k.b, x[0], x[1]); });
  std::vector<I> a = everyKind<I>(1), b = everyKind<I>(2);
  const I special[] = {0, -1, 1, std::numeric_limits<I>::min(), std::numeric_limits<I>::max(), 7};
  for (int i = 0; i < 36; ++i) {
    a[i] = special[i / 6];
    b[i] = special[i % 6];
  }
  std::vector<I> quotients, remainders, output(count);
  for (int64_t i = 0; i < count; ++i) {
    quotients.push_back(reference::divide(a[i], b[i]));
    remainders.push_back(reference::remainder(a[i], b[i]));
  }
  kernels.forEachTarget([&](const CpuTarget &target, const MappedImage &image) {
    for (int64_t width : widths)
      for (bool divides : {true, false}) {
        std::string name = (divides ? "divide." : "remainder.") + std::to_string(width);
        void *buffers[] = {a.data(), b.data(), output.data()};
        image.kernel(name)(buffers, 0, count, nullptr);
        expectSameBits(output, divides ? quotients : remainders, [&](int64_t i) {
          return target.name + " " + name + " at " + std::to_string(i);
        });
      }
  });
}

TEST(EmittedDivision, IsDefinedEverywhere) {
  compareDivision<int32_t>();
  compareDivision<int64_t>();
}

} // namespace
