// reprise: emitted elementary functions against the interpreter's, to the bit, at every width and
// target.
#include "reprise/Conversion/Elementary.h"
#include "../../../lib/reprise/Conversion/Polynomials.h"
#include "../../../lib/reprise/Reference/Polynomials.h"
#include "MapKernel.h"
#include "reprise/Reference/Elementary.h"

#include <random>

using namespace mlir;
using namespace reprise;
using namespace reprise::test;

namespace {

struct Function {
  const char *name;
  Value (*emit)(ImplicitLocOpBuilder &, Value);
  float (*single)(float);
  double (*twice)(double);
};

#define REPRISE_FUNCTION(NAME, EMIT) {#NAME, EMIT, reference::NAME, reference::NAME}
const Function functions[] = {
    REPRISE_FUNCTION(exp, emitExp),         REPRISE_FUNCTION(log, emitLog),
    REPRISE_FUNCTION(tanh, emitTanh),       REPRISE_FUNCTION(erf, emitErf),
    REPRISE_FUNCTION(sigmoid, emitSigmoid), REPRISE_FUNCTION(sqrt, emitSqrt),
    REPRISE_FUNCTION(rsqrt, emitRsqrt),     REPRISE_FUNCTION(sin, emitSin),
    REPRISE_FUNCTION(cos, emitCos),
};

/// Returns 2^20 numbers of every magnitude, sign and kind.
template <typename F> std::vector<F> everyKind(uint64_t stride) {
  using Bits = std::conditional_t<sizeof(F) == 4, uint32_t, uint64_t>;
  std::vector<F> values(1 << 20);
  std::mt19937_64 random(stride);
  for (size_t i = 0; i < values.size(); ++i) {
    Bits bits = static_cast<Bits>(random());
    // The interesting magnitudes: 2^-8 to 2^8.
    if (i % 4 == 0)
      values[i] = std::ldexp(F(1) + F(bits >> 8) / F(Bits(-1) >> 8), int(i / 4 % 16) - 8) *
                  (bits & 1 ? -1 : 1);
    else
      std::memcpy(&values[i], &bits, sizeof(F));
  }
  const F special[] = {0,
                       INFINITY,
                       NAN,
                       F(0.625),
                       F(0.85),
                       1,
                       89,
                       104,
                       std::numeric_limits<F>::min(),
                       std::numeric_limits<F>::denorm_min(),
                       std::numeric_limits<F>::max()};
  size_t at = 0;
  for (F value : special) {
    values[at++] = value;
    values[at++] = -value;
  }
  return values;
}

template <typename F> void compareAll(F (*const Function::*function)(F)) {
  MapKernels kernels;
  Type type = sizeof(F) == 4 ? Type(kernels.builder.getF32Type()) : kernels.builder.getF64Type();
  for (const Function &f : functions)
    kernels.add(f.name, type, type,
                [&](KernelBuilder &k, ValueRange x, Value) { return f.emit(k.b, x[0]); });
  const std::vector<F> input = everyKind<F>(sizeof(F));
  std::vector<std::vector<F>> expected;
  for (const Function &f : functions) {
    expected.emplace_back();
    for (F x : input)
      expected.back().push_back((f.*function)(x));
  }
  kernels.forEachTarget([&](const CpuTarget &target, const MappedImage &image) {
    for (auto [number, f] : llvm::enumerate(functions))
      for (int64_t width : widths) {
        std::vector<F> output(input.size());
        void *buffers[] = {const_cast<F *>(input.data()), output.data()};
        image.kernel(std::string(f.name) + "." + std::to_string(width))(buffers, 0, input.size(),
                                                                        nullptr);
        expectSameBits(output, expected[number], [&, name = f.name](int64_t i) {
          std::ostringstream text;
          text << target.name << " width " << width << " " << name << "(" << std::hexfloat
               << (i < 0 ? F(0) : input[i]) << ")";
          return text.str();
        });
      }
  });
}

TEST(EmittedElementary, SingleEqualsTheReferenceToTheBit) { compareAll<float>(&Function::single); }
TEST(EmittedElementary, DoubleEqualsTheReferenceToTheBit) { compareAll<double>(&Function::twice); }

template <size_t N, size_t M>
void expectEqual(const char *name, const double (&emitted)[N], const double (&referred)[M]) {
  ASSERT_EQ(N, M) << name;
  for (size_t i = 0; i < N; ++i)
    EXPECT_EQ(emitted[i], referred[i]) << name << " coefficient " << i;
}

TEST(EmittedElementary, HasTheReferencesCoefficients) {
  // We compare the coefficients, too: the last digit of a high coefficient changes too few results.
#define REPRISE_EQUAL(TYPE, NAME)                                                                  \
  expectEqual(#TYPE " " #NAME, emission::TYPE::NAME, reference::TYPE::NAME)
#define REPRISE_EQUAL_BOTH(NAME)                                                                   \
  REPRISE_EQUAL(f32, NAME);                                                                        \
  REPRISE_EQUAL(f64, NAME)
  REPRISE_EQUAL_BOTH(exponential);
  REPRISE_EQUAL_BOTH(powerOfTwo);
  REPRISE_EQUAL_BOTH(tanhSmall);
  REPRISE_EQUAL_BOTH(erfSmall);
  REPRISE_EQUAL_BOTH(erfLarge);
  REPRISE_EQUAL_BOTH(logarithm);
  REPRISE_EQUAL_BOTH(sine);
  REPRISE_EQUAL_BOTH(cosine);
  REPRISE_EQUAL(f64, shortLogarithm);
  REPRISE_EQUAL(f64, shortPowerOfTwo);
  REPRISE_EQUAL(f64, inverseTanh);
  REPRISE_EQUAL(f32, sineOfTurn);
  REPRISE_EQUAL(f32, cosineOfTurn);
#undef REPRISE_EQUAL_BOTH
#undef REPRISE_EQUAL
  EXPECT_EQ(llvm::ArrayRef(emission::twoOverPiBits), llvm::ArrayRef(reference::twoOverPiBits));
}

TEST(EmittedElementary, ConstantsFoldToTheSameBits) {
  // Constants that MLIR and LLVM fold at compile time must equal the results of the code.
  MapKernels kernels;
  Type type = kernels.builder.getF32Type();
  const float inputs[] = {0, -0.0f, 1, -0.3f, 2.5f, -88.5f, 1e-41f, 100, 1e30f, INFINITY};
  for (const Function &f : functions)
    for (auto [number, x] : llvm::enumerate(inputs)) {
      auto emit = [&, x = x](KernelBuilder &k, ValueRange, Value) {
        Value constant = emitConstant(k.b, VectorType::get(8, type), x);
        return f.emit(k.b, constant);
      };
      kernels.add(f.name + std::to_string(number), {}, type, emit, 0, {8});
    }
  kernels.forEachTarget([&](const CpuTarget &target, const MappedImage &image) {
    for (const Function &f : functions)
      for (auto [number, x] : llvm::enumerate(inputs)) {
        std::vector<float> output(8), expected(8, f.single(x));
        void *buffers[] = {output.data()};
        image.kernel(f.name + std::to_string(number) + ".8")(buffers, 0, 8, nullptr);
        expectSameBits(output, expected, [&, x = x](int64_t) {
          return target.name + " " + f.name + " of " + std::to_string(x);
        });
      }
  });
}

TEST(EmittedElementary, HoldsOnlyOperationsThatEveryTargetComputesAlike) {
  MapKernels kernels;
  for (Type type : {Type(kernels.builder.getF32Type()), Type(kernels.builder.getF64Type())})
    for (const Function &f : functions)
      kernels.add(f.name + std::to_string(type.getIntOrFloatBitWidth()), type, type,
                  [&](KernelBuilder &k, ValueRange x, Value) {
                    auto region = scf::ExecuteRegionOp::create(k.b, x[0].getType());
                    OpBuilder::InsertionGuard guard(k.b);
                    k.b.createBlock(&region.getRegion());
                    Value value = f.emit(k.b, x[0]);
                    value = emitPow(k.b, value, value);
                    scf::YieldOp::create(k.b, value);
                    return region.getResult(0);
                  },
                  0, {1, 8});
  int64_t functionsSeen = 0;
  kernels.module->walk([&](scf::ExecuteRegionOp region) {
    ++functionsSeen;
    region.walk([](Operation *op) {
      // Other ops only select lanes.
      bool allowed = isa<arith::ArithDialect, scf::SCFDialect>(op->getDialect()) ||
                     isa<math::FmaOp, math::SqrtOp, math::FloorOp, vector::ReductionOp,
                         vector::ExtractOp, vector::InsertOp>(op);
      EXPECT_TRUE(allowed) << op->getName().getStringRef().str();
      if (auto fast = dyn_cast<arith::ArithFastMathInterface>(op))
        if (arith::FastMathFlagsAttr flags = fast.getFastMathFlagsAttr())
          EXPECT_EQ(flags.getValue(), arith::FastMathFlags::none);
    });
  });
  EXPECT_EQ(functionsSeen, 4 * int64_t(std::size(functions)));
}

template <typename F> struct BinaryFunction {
  const char *name;
  Value (*emit)(ImplicitLocOpBuilder &, Value, Value);
  F (*reference)(F, F);
};

template <typename F> void compareBinary() {
  const BinaryFunction<F> functions[] = {{"maximum", emitMaximum, reference::maximum},
                                         {"minimum", emitMinimum, reference::minimum},
                                         {"pow", emitPow, reference::pow}};
  MapKernels kernels;
  Type type = sizeof(F) == 4 ? Type(kernels.builder.getF32Type()) : kernels.builder.getF64Type();
  for (const BinaryFunction<F> &f : functions)
    kernels.add(f.name, {type, type}, type,
                [&](KernelBuilder &k, ValueRange x, Value) { return f.emit(k.b, x[0], x[1]); });
  std::vector<F> a = everyKind<F>(1), b = everyKind<F>(2);
  // All pairs of special values follow.
  for (size_t i = 0; i < 22; ++i)
    for (size_t j = 0; j < 22; ++j) {
      b[32 * i + j + 1024] = b[j];
      a[32 * i + j + 1024] = b[i];
    }
  // Whole and nearly whole exponents.
  for (size_t i = 4096; i < b.size(); i += 3)
    b[i] = F(int64_t(i % 512) - 256) / 2;
  std::vector<F> expected(a.size()), output(a.size());
  kernels.forEachTarget([&](const CpuTarget &target, const MappedImage &image) {
    for (const BinaryFunction<F> &f : functions) {
      for (size_t i = 0; i < a.size(); ++i)
        expected[i] = f.reference(a[i], b[i]);
      for (int64_t width : widths) {
        void *buffers[] = {a.data(), b.data(), output.data()};
        std::string name = f.name + ("." + std::to_string(width));
        image.kernel(name)(buffers, 0, a.size(), nullptr);
        expectSameBits(output, expected, [&](int64_t i) {
          std::ostringstream text;
          text << target.name << " " << name << "(" << std::hexfloat << a[std::max<int64_t>(i, 0)]
               << ", " << b[std::max<int64_t>(i, 0)] << ")";
          return text.str();
        });
      }
    }
  });
}

TEST(EmittedElementary, FunctionsOfTwo) {
  compareBinary<float>();
  compareBinary<double>();
}

} // namespace
