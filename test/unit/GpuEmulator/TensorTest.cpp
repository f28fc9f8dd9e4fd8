// reprise: ldmatrix and mma.sync against a plain product
#include "SlowFloat.h"
#include "TestKernel.h"
#include "gtest/gtest.h"

#include <random>

using namespace reprise::emulator;

namespace {

constexpr unsigned rows = 16, columns = 8;

/// A, by rows, and B, by columns, lie in global memory as bits of `bytes` bytes; D comes by rows.
struct Product {
  unsigned depth, bytes;
  std::vector<float> a, b, c; ///< row · depth + k, column · depth + k, row · columns + column
  std::vector<uint8_t> aBits, bBits;
};

/// The address of an element for a lane: row or column `lane / 4 + plus`, k `lane % 4 · step + k`.
std::string loadOf(const Product &product, const char *base, const std::string &to, unsigned plus,
                   unsigned k) {
  unsigned step = product.bytes == 2 ? 2 : 1;
  std::string depth = std::to_string(product.depth), bytes = std::to_string(product.bytes);
  return "add.u32 %r30, %r20, " + std::to_string(plus) + ";\nmul.lo.u32 %r30, %r30, " + depth +
         ";\nmad.lo.u32 %r30, %r21, " + std::to_string(step) + ", %r30;\nadd.u32 %r30, %r30, " +
         std::to_string(k) + ";\nmul.wide.u32 %d1, %r30, " + bytes + ";\nadd.u64 %d1, %d1, " +
         std::string(base) + ";\nld.global.b32 " + to + ", [%d1];\n";
}

std::vector<float> multiply(const Product &product, const std::string &shape,
                            const std::string &type) {
  std::string body = "shr.u32 %r20, %tid, 2;\nand.b32 %r21, %tid, 3;\n", aNames, bNames;
  unsigned half = product.bytes == 2 ? 8 : 4, pieces = product.depth / half;
  for (unsigned piece = 0; piece < pieces; ++piece) {
    for (unsigned low = 0; low < 2; ++low) {
      std::string to = "%r" + std::to_string(2 * piece + low);
      aNames += (aNames.empty() ? "" : ", ") + to;
      body += loadOf(product, "%p0", to, low * 8, piece * half);
    }
    std::string to = "%r" + std::to_string(10 + piece);
    bNames += (bNames.empty() ? "" : ", ") + to;
    body += loadOf(product, "%p1", to, 0, piece * half);
  }
  body += "mul.lo.u32 %r31, %r20, 8;\nmad.lo.u32 %r31, %r21, 2, %r31;\nmul.wide.u32 %d2, %r31, 4;\n"
          "add.u64 %d3, %d2, %p2;\nadd.u64 %d4, %d2, %p3;\nld.global.v2.f32 {%f0, %f1}, [%d3];\n"
          "ld.global.v2.f32 {%f2, %f3}, [%d3+256];\nmma.sync.aligned." +
          shape + ".row.col.f32." + type + "." + type + ".f32 {%f4, %f5, %f6, %f7}, {" + aNames +
          "}, {" + bNames +
          "}, {%f0, %f1, %f2, %f3};\nst.global.v2.f32 [%d4], {%f4, %f5};\n"
          "st.global.v2.f32 [%d4+256], {%f6, %f7};";
  TestDevice device;
  uint64_t out = device.reserve(rows * columns * 4);
  FaultReport report = device.run(
      kernelText(4, body), {1}, {32},
      {device.give(product.aBits), device.give(product.bBits), device.give(product.c), out});
  EXPECT_EQ(report.text, "");
  return device.take<float>(out, rows * columns);
}

uint32_t bitsFor(float &value, const std::string &type) {
  if (type == "tf32") {
    uint32_t bits = bitsAs<uint32_t>(value) & 0xffffe000;
    value = bitsAs<float>(bits);
    return bits;
  }
  const SlowFormat &format = type == "f16" ? halfFormat : bfloatFormat;
  uint32_t bits = format.round(value);
  value = float(format.widen(bits));
  return bits;
}

/// Small integers, or normal values.
Product randomProduct(unsigned depth, const std::string &type, bool integers) {
  std::mt19937 random(depth);
  std::normal_distribution<float> normal;
  Product product{depth, type == "tf32" ? 4u : 2u, {}, {}, {}, {}, {}};
  auto fill = [&](std::vector<float> &values, std::vector<uint8_t> &bytes, unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      float value = integers ? float(int(random() % 17) - 8) : normal(random);
      uint32_t bits = bitsFor(value, type);
      values.push_back(value);
      const uint8_t *first = reinterpret_cast<const uint8_t *>(&bits);
      bytes.insert(bytes.end(), first, first + product.bytes);
    }
  };
  fill(product.a, product.aBits, rows * depth);
  fill(product.b, product.bBits, columns * depth);
  for (unsigned i = 0; i < rows * columns; ++i)
    product.c.push_back(integers ? float(int(random() % 100)) : normal(random));
  return product;
}

TEST(EmulatedTensorCores, MultiplyMatrices) {
  for (auto [shape, depth, type] : {std::tuple{"m16n8k16", 16u, "f16"},
                                    {"m16n8k16", 16u, "bf16"},
                                    {"m16n8k8", 8u, "f16"},
                                    {"m16n8k8", 8u, "bf16"},
                                    {"m16n8k8", 8u, "tf32"},
                                    {"m16n8k4", 4u, "tf32"}})
    for (bool integers : {true, false}) {
      Product product = randomProduct(depth, type, integers);
      std::vector<float> got = multiply(product, shape, type);
      for (unsigned i = 0; i < rows * columns; ++i) {
        double exact = product.c[i], size = std::fabs(exact);
        for (unsigned k = 0; k < depth; ++k) {
          double term =
              double(product.a[i / columns * depth + k]) * product.b[i % columns * depth + k];
          exact += term;
          size += std::fabs(term);
        }
        ASSERT_NEAR(got[i], exact, integers ? 0 : size * 1e-6) << shape << " " << type << " " << i;
      }
    }
}

TEST(EmulatedTensorCores, LoadMatrices) {
  for (bool transposed : {false, true}) {
    // Four matrices of 8 by 8, row after row: value = 64 · matrix + 8 · row + column.
    std::string body =
        "mul.wide.u32 %d1, %tid, 16;\nadd.u64 %d2, %p0, %d1;\n"
        "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%d2];\nmov.u32 %r10, s;\n"
        "mad.lo.u32 %r10, %tid, 16, %r10;\nst.shared.v4.u32 [%r10], {%r1, %r2, %r3, %r4};\n"
        "bar.warp.sync -1;\nldmatrix.sync.aligned.m8n8.x4" +
        std::string(transposed ? ".trans" : "") +
        ".shared.b16 {%r5, %r6, %r7, %r8}, [%r10];\nadd.u64 %d3, %p1, %d1;\n"
        "st.global.v4.u32 [%d3], {%r5, %r6, %r7, %r8};";
    std::vector<uint16_t> values(256);
    for (unsigned i = 0; i < 256; ++i)
      values[i] = i;
    TestDevice device;
    uint64_t out = device.reserve(512);
    EXPECT_EQ(device
                  .run(kernelText(2, body, ".shared .align 16 .b8 s[512];"), {1}, {32},
                       {device.give(values), out})
                  .text,
              "");
    auto got = device.take<uint16_t>(out, 256);
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned matrix = 0; matrix < 4; ++matrix)
        for (unsigned i = 0; i < 2; ++i) {
          unsigned row = lane / 4, column = lane % 4 * 2 + i;
          unsigned expected = matrix * 64 + (transposed ? column * 8 + row : row * 8 + column);
          ASSERT_EQ(got[lane * 8 + matrix * 2 + i], expected);
        }
  }
}

TEST(EmulatedTensorCores, NeedAllLanes) {
  TestDevice device;
  std::string product = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, "
                        "{%r1, %r2}, {%r3}, {%f0, %f1, %f2, %f3};";
  EXPECT_EQ(device.run(kernelText(0, product), {1}, {32}, {}).text, "");
  EXPECT_EQ(device.run(kernelText(0, product), {1}, {16}, {}).fault, Fault::Divergence);
}

} // namespace
