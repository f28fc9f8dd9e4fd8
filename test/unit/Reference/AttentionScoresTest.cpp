// reprise: attention with groups of heads, bias and mask in the interpreter, against sums in f64
#include "Compare.h"

#include <cmath>

using namespace mlir;
using namespace reprise;
using namespace reprise::test;

namespace {

constexpr int64_t b = 2, h = 4, g = 2, t = 5, s = 7, d = 3;
constexpr double scale = 0.3;

/// [b, h, t, s] of "bhts" with 1 for some.
std::vector<int64_t> sizesOf(const std::string &text) {
  const int64_t whole[] = {b, h, t, s};
  std::vector<int64_t> sizes;
  for (int i = 0; i < 4; ++i)
    sizes.push_back(text[i] == '1' ? 1 : whole[i]);
  return sizes;
}

struct AttentionScores : InterpreterTest {
  std::string bias, mask; // sizes; empty for none
  bool causal = false;
  Tensor q, k, v, dout, biasTensor, maskTensor;

  void SetUp() override {
    q = randomTensor(type({b, h, t, d}, f32()), 1);
    k = randomTensor(type({b, g, s, d}, f32()), 2);
    v = randomTensor(type({b, g, s, d}, f32()), 3);
    dout = randomTensor(q.type, 4);
  }

  std::string text(const std::vector<int64_t> &sizes, const std::string &element) {
    std::string result = "tensor<";
    for (int64_t size : sizes)
      result += std::to_string(size) + "x";
    return result + element + ">";
  }

  /// Returns out, lse, dquery, dkey, dvalue, dscore.
  std::vector<Tensor> runAll() {
    std::vector<int64_t> biasSizes = sizesOf(bias.empty() ? "1111" : bias),
                         maskSizes = sizesOf(mask.empty() ? "1111" : mask);
    biasTensor = randomTensor(type(biasSizes, f32()), 5);
    maskTensor = Tensor(type(maskSizes, integer(1)));
    for (int64_t i = 0; i < maskTensor.size(); ++i)
      maskTensor.bytes[i] = i * i % 7 < 3;
    // The mask hides every key of one row.
    for (int64_t j = 0; j < s && mask == "bhts"; ++j)
      maskTensor.bytes[j] = 0;
    std::string Q = text({b, h, t, d}, "f32"), K = text({b, g, s, d}, "f32"),
                L = text({b, h, t}, "f32"), S = text({b, h, t, s}, "f32"),
                B = text(biasSizes, "f32"), M = text(maskSizes, "i1");
    std::string how = (bias.empty() ? "" : "bias %bias : " + B) +
                      (mask.empty() ? "" : " mask %mask : " + M) +
                      (causal ? " {scale = 0.3 : f64, causal}" : " {scale = 0.3 : f64}");
    return run("func.func @f(%q: " + Q + ", %k: " + K + ", %v: " + K + ", %dout: " + Q +
                   ", %bias: " + B + ", %mask: " + M + ") -> (" + Q + ", " + L + ", " + Q + ", " +
                   K + ", " + K + ", " + S + ") {\n  %0:2 = reprise.attention %q, %k, %v " + how +
                   " : (" + Q + ", " + K + ", " + K + ") -> (" + Q + ", " + L +
                   ")\n  %1:4 = reprise.attention_backward %q, %k, %v, %0#0, %0#1, %dout " + how +
                   " : (" + Q + ", " + K + ", " + K + ", " + Q + ", " + L + ", " + Q + ") -> (" +
                   Q + ", " + K + ", " + K + ", " + S +
                   ")\n  return %0#0, %0#1, %1#0, %1#1, %1#2, %1#3 : " + Q + ", " + L + ", " + Q +
                   ", " + K + ", " + K + ", " + S + "\n}",
               {q, k, v, dout, biasTensor, maskTensor});
  }

  int64_t indexIn(const std::string &sizes, int64_t n, int64_t head, int64_t i, int64_t j) {
    std::vector<int64_t> size = sizesOf(sizes);
    return ((n % size[0] * size[1] + head % size[1]) * size[2] + i % size[2]) * s + j;
  }
  static double dot(const Tensor &x, int64_t row, const Tensor &y, int64_t other) {
    double sum = 0;
    for (int64_t c = 0; c < d; ++c)
      sum += valueAt(x, row * d + c) * valueAt(y, other * d + c);
    return sum;
  }

  void expectSums() {
    std::vector<Tensor> results = runAll();
    ASSERT_EQ(results.size(), 6u) << error;
    std::vector<double> dk(k.size()), dv(k.size());
    for (int64_t n = 0; n < b; ++n)
      for (int64_t head = 0; head < h; ++head)
        for (int64_t i = 0; i < t; ++i)
          expectRow(results, n, head, i, dk, dv);
    for (int64_t i = 0; i < k.size(); ++i) {
      EXPECT_NEAR(valueAt(results[3], i), dk[i], 1e-5) << i;
      EXPECT_NEAR(valueAt(results[4], i), dv[i], 1e-5) << i;
    }
  }

  void expectRow(const std::vector<Tensor> &results, int64_t n, int64_t head, int64_t i,
                 std::vector<double> &dk, std::vector<double> &dv) {
    int64_t row = (n * h + head) * t + i, keys = (n * g + head / (h / g)) * s;
    std::vector<double> p(s);
    double sum = 0;
    for (int64_t j = 0; j < s; ++j) {
      bool sees = !(causal && j > i + s - t) &&
                  (mask.empty() || maskTensor.bytes[indexIn(mask, n, head, i, j)]);
      double added = bias.empty() ? 0 : valueAt(biasTensor, indexIn(bias, n, head, i, j));
      sum += p[j] = sees ? std::exp(dot(q, row, k, keys + j) * scale + added) : 0;
    }
    EXPECT_EQ(std::isinf(valueAt(results[1], row)), sum == 0);
    if (sum != 0)
      EXPECT_NEAR(valueAt(results[1], row), std::log(sum), 1e-5);
    std::vector<double> out(d), dq(d);
    double delta = 0;
    for (int64_t j = 0; j < s; ++j) {
      p[j] = sum == 0 ? 0 : p[j] / sum;
      for (int64_t c = 0; c < d; ++c)
        out[c] += p[j] * valueAt(v, (keys + j) * d + c);
      delta += p[j] * dot(dout, row, v, keys + j);
    }
    for (int64_t j = 0; j < s; ++j) {
      double ds = p[j] * (dot(dout, row, v, keys + j) - delta);
      EXPECT_NEAR(valueAt(results[5], row * s + j), ds, 1e-5);
      for (int64_t c = 0; c < d; ++c) {
        dq[c] += ds * scale * valueAt(k, (keys + j) * d + c);
        dk[(keys + j) * d + c] += ds * scale * valueAt(q, row * d + c);
        dv[(keys + j) * d + c] += p[j] * valueAt(dout, row * d + c);
      }
    }
    for (int64_t c = 0; c < d; ++c) {
      EXPECT_NEAR(valueAt(results[0], row * d + c), out[c], 1e-5);
      EXPECT_NEAR(valueAt(results[2], row * d + c), dq[c], 1e-5);
    }
  }
};

TEST_F(AttentionScores, groupsOfHeads) {
  expectSums();
  causal = true;
  expectSums();
}

TEST_F(AttentionScores, bias) {
  for (const char *sizes : {"bhts", "1h1s", "b1ts", "111s"}) {
    bias = sizes;
    expectSums();
  }
}

TEST_F(AttentionScores, mask) {
  for (const char *sizes : {"bhts", "1h1s", "b1ts", "b11s"}) {
    mask = sizes;
    expectSums();
  }
}

TEST_F(AttentionScores, allTogether) {
  causal = true;
  bias = "1hts", mask = "b11s";
  expectSums();
}

// Masked values do not change results, and a query without any key gives zeros.
TEST_F(AttentionScores, maskedKeysAreNoTerms) {
  mask = "b11s";
  std::vector<Tensor> before = runAll();
  for (int64_t row = 0; row < b * g * s; ++row)
    for (int64_t c = 0; c < d; ++c)
      if (!maskTensor.bytes[row / (g * s) * s + row % s])
        k.data<float>()[row * d + c] = v.data<float>()[row * d + c] = NAN;
  std::vector<Tensor> after = runAll();
  ASSERT_EQ(before.size(), 6u) << error;
  ASSERT_EQ(after.size(), 6u) << error;
  for (int i = 0; i < 6; ++i)
    expectEqualBits(before[i], after[i]);
  mask = "bhts";
  std::vector<Tensor> results = runAll();
  ASSERT_EQ(results.size(), 6u) << error;
  EXPECT_EQ(valueAt(results[1], 0), -INFINITY);
  for (int64_t c = 0; c < d; ++c) {
    EXPECT_EQ(valueAt(results[0], c), 0);
    EXPECT_EQ(valueAt(results[2], c), 0);
  }
}

} // namespace
