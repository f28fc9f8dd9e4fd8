// reprise: kernels built, compiled and run from a mapped image
#include "MappedImage.h"
#include "reprise/Conversion/ControlFlow.h"
#include "reprise/Conversion/Elements.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace mlir;
using namespace reprise;
using namespace reprise::test;

namespace {

struct KernelTest : testing::Test {
  KernelTest() {
    context.loadDialect<LLVM::LLVMDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                        vector::VectorDialect>();
    module = ModuleOp::create(UnknownLoc::get(&context));
    context.getDiagEngine().registerHandler(
        [this](Diagnostic &diagnostic) { error = diagnostic.str(); });
  }
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::string error;
};

/// Builds out[i] = fma(a[i], b[i], 0.5), rounded to `type`: vectors, then a scalar tail.
void buildFma(ModuleOp module, StringRef name, Type type, int64_t width) {
  KernelBuilder k(module, name);
  ImplicitLocOpBuilder &b = k.b;
  auto part = [&](int64_t lanes) {
    return [&k, &b, type, lanes](Value i) {
      Value x = emitLoadWide(b, type, k.buffer(0), i, lanes);
      Value y = emitLoadWide(b, type, k.buffer(1), i, lanes);
      Value sum = math::FmaOp::create(b, x, y, emitConstant(b, x.getType(), 0.5));
      emitStoreRounded(b, type, sum, k.buffer(2), i);
    };
  };
  Value body = k.sub(k.end(), k.i64(width - 1));
  forLoop(k, k.begin(), body, k.i64(width), part(width));
  Value count = k.sub(k.end(), k.begin());
  forLoop(k, k.sub(k.end(), k.rem(count, width)), k.end(), k.i64(1), part(1));
}

float fromBf16(uint16_t bits) {
  uint32_t wide = uint32_t(bits) << 16;
  float value;
  std::memcpy(&value, &wide, 4);
  return value;
}

uint16_t toBf16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  if (value != value)
    return bits >> 16 | 0x40;
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

TEST_F(KernelTest, FmaOnEveryFloatType) {
  OpBuilder b(&context);
  for (const CpuTarget &target : runnableTargets()) {
    module = ModuleOp::create(UnknownLoc::get(&context));
    buildFma(*module, "single", b.getF32Type(), target.lanes());
    buildFma(*module, "twice", b.getF64Type(), target.lanes(8));
    buildFma(*module, "brain", b.getBF16Type(), target.lanes());
    buildFma(*module, "half", b.getF16Type(), target.lanes());
    FailureOr<Image> image = compileKernels(*module, target);
    ASSERT_TRUE(succeeded(image)) << error;
    MappedImage mapped(*image);
    std::mt19937 random(1);
    constexpr int64_t n = 107;
    std::vector<float> a(n), c(n), out(n);
    std::vector<double> a64(n), c64(n), out64(n);
    std::vector<uint16_t> a16(n), c16(n), out16(n);
    std::vector<_Float16> ah(n), ch(n), outh(n);
    for (int64_t i = 0; i < n; ++i) {
      a64[i] = a[i] = std::normal_distribution<float>()(random), a16[i] = random(), ah[i] = a[i];
      c64[i] = c[i] = std::normal_distribution<float>()(random), c16[i] = random(), ch[i] = c[i];
    }
    auto run = [&](const char *name, auto &x, auto &y, auto &z, int64_t begin, int64_t end) {
      void *buffers[] = {x.data(), y.data(), z.data()};
      mapped.kernel(name)(buffers, begin, end, nullptr);
    };
    run("single", a, c, out, 3, n);
    run("twice", a64, c64, out64, 3, n);
    run("brain", a16, c16, out16, 3, n);
    run("half", ah, ch, outh, 3, n);
    EXPECT_EQ(out[2], 0) << "an item before the range was computed";
    for (int64_t i = 3; i < n; ++i) {
      EXPECT_EQ(out[i], std::fma(a[i], c[i], 0.5f));
      EXPECT_EQ(out64[i], std::fma(a64[i], c64[i], 0.5));
      EXPECT_EQ(outh[i], _Float16(std::fma(float(ah[i]), float(ch[i]), 0.5f)));
      uint16_t expected = toBf16(std::fma(fromBf16(a16[i]), fromBf16(c16[i]), 0.5f));
      bool bothNan = std::isnan(fromBf16(out16[i])) && std::isnan(fromBf16(expected));
      EXPECT_TRUE(out16[i] == expected || bothNan) << target.name << " element " << i;
    }
  }
}

TEST_F(KernelTest, BooleansAreBytes) {
  CpuTarget target = *CpuTarget::get("x86-64-v3");
  KernelBuilder k(*module, "invert");
  ImplicitLocOpBuilder &b = k.b;
  forLoop(k, k.begin(), k.end(), k.i64(8), [&](Value i) {
    Value x = emitLoad(b, b.getI1Type(), k.buffer(0), i, 8);
    x = arith::XOrIOp::create(b, x, emitConstant(b, x.getType(), 1));
    emitStore(b, b.getI1Type(), x, k.buffer(1), i);
  });
  FailureOr<Image> image = compileKernels(*module, target);
  ASSERT_TRUE(succeeded(image)) << error;
  MappedImage mapped(*image);
  uint8_t in[16] = {0, 1, 1, 0, 1, 0, 0, 0, 1, 1, 1, 1, 0, 0, 1, 0}, out[16];
  void *buffers[] = {in, out};
  mapped.kernel("invert")(buffers, 0, 16, nullptr);
  for (int i = 0; i < 16; ++i)
    EXPECT_EQ(out[i], !in[i]);
}

TEST_F(KernelTest, ManyKernelsGiveTheSameBytesAndEachIsAligned) {
  CpuTarget target = *CpuTarget::get("x86-64-v3");
  for (int i = 0; i < 150; ++i)
    buildFma(*module, "kernel" + std::to_string(i), OpBuilder(&context).getF32Type(), 8);
  FailureOr<Image> first = compileKernels(*module, target);
  context.disableMultithreading();
  FailureOr<Image> second = compileKernels(*module, target);
  ASSERT_TRUE(succeeded(first) && succeeded(second)) << error;
  EXPECT_EQ(first->bytes, second->bytes);
  EXPECT_EQ(first->symbols, second->symbols);
  EXPECT_EQ(first->symbols.size(), 150u);
  for (const auto &[name, offset] : first->symbols)
    EXPECT_EQ(offset % 64, 0u) << name;
}

TEST_F(KernelTest, ZeroingLoopDoesNotBecomeACall) {
  KernelBuilder k(*module, "zero");
  forLoop(k, k.begin(), k.end(), k.i64(1), [&](Value i) {
    Type f32 = k.b.getF32Type();
    emitStore(k.b, f32, emitConstant(k.b, f32, 0), k.buffer(0), i);
  });
  FailureOr<Image> image = compileKernels(*module, *CpuTarget::get("x86-64-v3"));
  ASSERT_TRUE(succeeded(image)) << error;
  MappedImage mapped(*image);
  std::vector<float> data(1000, 1.f);
  void *buffers[] = {data.data()};
  mapped.kernel("zero")(buffers, 10, 990, nullptr);
  for (int i = 0; i < 1000; ++i)
    EXPECT_EQ(data[i], i < 10 || i >= 990 ? 1.f : 0.f);
}

TEST_F(KernelTest, CallOutOfTheImageIsAnErrorThatNamesIt) {
  KernelBuilder k(*module, "remainder");
  Type f32 = k.b.getF32Type();
  Value x = emitLoad(k.b, f32, k.buffer(0), k.i64(0));
  emitStore(k.b, f32, arith::RemFOp::create(k.b, x, x), k.buffer(0), k.i64(1));
  EXPECT_TRUE(failed(compileKernels(*module, *CpuTarget::get("x86-64-v3"))));
  EXPECT_EQ(error, "a kernel refers to the undefined symbol 'fmodf'");
}

TEST_F(KernelTest, NativeIsALevelThatThisMachineHas) {
  llvm::Expected<CpuTarget> target = CpuTarget::get("native");
  ASSERT_TRUE(bool(target));
  EXPECT_TRUE(target->runsHere());
  EXPECT_EQ(target->level, target->vectorBytes == 64 ? "x86-64-v4" : "x86-64-v3");
  EXPECT_EQ(CpuTarget::get("x86-64-v4")->runsHere(), target->level == "x86-64-v4");
}

TEST_F(KernelTest, UnknownTargetIsAnError) {
  llvm::Expected<CpuTarget> target = CpuTarget::get("pentium");
  ASSERT_FALSE(target);
  EXPECT_EQ(llvm::toString(target.takeError()),
            "unknown CPU target 'pentium', expected one of native, x86-64-v3, x86-64-v4");
}

} // namespace
