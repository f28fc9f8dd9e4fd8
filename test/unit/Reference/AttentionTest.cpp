// reprise: attention in the interpreter, against its chain of simpler ops and against finite
// differences
#include "Compare.h"

#include <cmath>

using namespace mlir;
using namespace reprise;
using namespace reprise::test;

namespace {

/// Attention of [b, h, t, d] on [b, h, s, d] and [b, h, s, e] as text, whole and as a chain of
/// dot_general, reductions and dropout.
struct Shape {
  int64_t b = 2, h = 2, t = 5, s = 7, d = 3, e = 3;
  std::string element = "f32", compute = "f32";
  bool causal = false;
  double rate = 0;

  std::string tensor(std::initializer_list<int64_t> sizes, const std::string &type) const {
    std::string text = "tensor<";
    for (int64_t size : sizes)
      text += std::to_string(size) + "x";
    return text + type + ">";
  }
  std::string query() const { return tensor({b, h, t, d}, element); }
  std::string key() const { return tensor({b, h, s, d}, element); }
  std::string value() const { return tensor({b, h, s, e}, element); }
  std::string out() const { return tensor({b, h, t, e}, element); }
  std::string row() const { return tensor({b, h, t}, compute); }
  std::string scores(const std::string &type) const { return tensor({b, h, t, s}, type); }
  std::string attributes() const {
    return std::string("{scale = 0.3 : f64") + (causal ? ", causal" : "") +
           (rate ? ", rate = " + std::to_string(rate) + " : f64, stream = 5 : i64" : "") + "}";
  }
  std::string draw() const { return rate ? " seed %seed offset %offset " : " "; }
  std::string arguments() const {
    return "%q: " + query() + ", %k: " + key() + ", %v: " + value() +
           ", %seed: tensor<i64>, %offset: tensor<i64>";
  }

  std::string attention() const {
    return "  %out, %lse = reprise.attention %q, %k, %v" + draw() + attributes() + " : (" +
           query() + ", " + key() + ", " + value() + ") -> (" + out() + ", " + row() + ")\n";
  }
  std::string drop(const std::string &to, const std::string &from) const {
    if (rate == 0)
      return "  " + to + " = reprise.name " + from + " \"kept\" : " + scores(compute) + "\n";
    return "  " + to + " = reprise.dropout " + from + draw() + "{rate = " + std::to_string(rate) +
           " : f64, stream = 5 : i64} : " + scores(compute) + "\n";
  }
  std::string spread(const std::string &to, const std::string &from) const {
    return "  " + to + " = reprise.broadcast " + from + " dims [0, 1, 2] : (" + row() + ") -> " +
           scores(compute) + "\n";
  }
  std::string contract(const std::string &to, const std::string &a, const std::string &aType,
                       const std::string &b, const std::string &bType, const std::string &dims,
                       const std::string &result) const {
    return "  " + to + " = reprise.dot_general " + a + ", " + b +
           " batch [0, 1] x [0, 1] contracting " + dims + " : (" + aType + ", " + bType + ") -> " +
           result + "\n";
  }
  /// Returns the text of %score, masked with -inf: a masked key's term is +0, which is exact for
  /// values other than -0, inf and NaN.
  std::string score() const {
    std::string text = contract("%dots", "%q", query(), "%k", key(), "[3] x [3]", scores(compute)) +
                       "  %scale = reprise.constant dense<0.3> : " + scores(compute) +
                       "\n  %raw = reprise.mul %dots, %scale : " + scores(compute) + "\n";
    if (!causal)
      return text + "  %score = reprise.name %raw \"score\" : " + scores(compute) + "\n";
    return text + "  %i = reprise.iota dim 2 : " + scores("i64") +
           "\n  %j = reprise.iota dim 3 : " + scores("i64") +
           "\n  %ahead = reprise.constant dense<" + std::to_string(s - t) + "> : " + scores("i64") +
           "\n  %last = reprise.add %i, %ahead : " + scores("i64") +
           "\n  %seen = reprise.compare le %j, %last : " + scores("i64") +
           "\n  %never = reprise.constant dense<" +
           (compute == "f64" ? "0xFFF0000000000000" : "0xFF800000") + "> : " + scores(compute) +
           "\n  %score = reprise.select %seen, %raw, %never : " + scores("i1") + ", " +
           scores(compute) + "\n";
  }
  std::string reduce(const std::string &to, const std::string &op, const std::string &from) const {
    return "  " + to + " = reprise." + op + " " + from + " dims [3] : (" + scores(compute) +
           ") -> " + row() + "\n";
  }
  std::string chain() const {
    std::string wide = tensor({b, h, t, e}, compute);
    return score() + reduce("%m", "max", "%score") + spread("%ms", "%m") +
           "  %shifted = reprise.sub %score, %ms : " + scores(compute) +
           "\n  %p = reprise.exp %shifted : " + scores(compute) + "\n" + reduce("%l", "sum", "%p") +
           drop("%pd", "%p") +
           contract("%sum", "%pd", scores(compute), "%v", value(), "[3] x [2]", wide) +
           "  %ls = reprise.broadcast %l dims [0, 1, 2] : (" + row() + ") -> " + wide +
           "\n  %out = reprise.div %sum, %ls : " + wide + "\n  %logl = reprise.log %l : " + row() +
           "\n  %lse = reprise.add %m, %logl : " + row() + "\n";
  }
};

struct AttentionTest : InterpreterTest {
  std::vector<Tensor> inputs(const Shape &shape) {
    Type element = shape.element == "f64" ? f64() : shape.element == "bf16" ? bf16() : f32();
    return {randomTensor(type({shape.b, shape.h, shape.t, shape.d}, element), 1),
            randomTensor(type({shape.b, shape.h, shape.s, shape.d}, element), 2),
            randomTensor(type({shape.b, shape.h, shape.s, shape.e}, element), 3),
            makeTensor<int64_t>(type({}, integer(64)), {11}),
            makeTensor<int64_t>(type({}, integer(64)), {8})};
  }
  std::vector<Tensor> forward(const Shape &shape, const std::string &body,
                              ArrayRef<Tensor> arguments) {
    std::vector<Tensor> results = run(
        "func.func @f(" + shape.arguments() + ") -> (" + shape.out() + ", " + shape.row() +
            ") {\n" + body + "  return %out, %lse : " + shape.out() + ", " + shape.row() + "\n}",
        arguments);
    EXPECT_EQ(results.size(), 2u) << error << body;
    return results;
  }
  void expectChain(const Shape &shape) {
    std::vector<Tensor> arguments = inputs(shape);
    std::vector<Tensor> whole = forward(shape, shape.attention(), arguments),
                        chain = forward(shape, shape.chain(), arguments);
    ASSERT_EQ(whole.size(), chain.size());
    for (size_t i = 0; i < whole.size(); ++i)
      expectEqualBits(whole[i], chain[i]);
  }
  std::vector<Tensor> backward(const Shape &shape, std::vector<Tensor> arguments, bool withLse) {
    std::string operands = shape.query() + ", " + shape.key() + ", " + shape.value();
    std::string text =
        "func.func @f(" + shape.arguments() + ", %dout: " + shape.out() +
        ", %dlse: " + shape.row() + ") -> (" + operands + ") {\n" + shape.attention() +
        "  %r:3 = reprise.attention_backward %q, %k, %v, %out, %lse, %dout " +
        (withLse ? "dlse %dlse : " + shape.row() : "") + shape.draw() + shape.attributes() +
        " : (" + operands + ", " + shape.out() + ", " + shape.row() + ", " + shape.out() +
        ") -> (" + operands + ")\n  return %r#0, %r#1, %r#2 : " + operands + "\n}";
    std::vector<Tensor> results = run(text, arguments);
    EXPECT_EQ(results.size(), 3u) << error << text;
    return results;
  }
  /// Gradients of Σ dout·out + Σ dlse·lse by central differences.
  void expectFiniteDifferences(Shape shape, bool withLse) {
    shape.element = shape.compute = "f64";
    std::vector<Tensor> arguments = inputs(shape);
    Tensor dout = randomTensor(type({shape.b, shape.h, shape.t, shape.e}, f64()), 4),
           dlse = randomTensor(type({shape.b, shape.h, shape.t}, f64()), 5);
    auto objective = [&](ArrayRef<Tensor> at) {
      std::vector<Tensor> results = forward(shape, shape.attention(), at);
      double sum = 0;
      for (int64_t i = 0; i < dout.size(); ++i)
        sum += valueAt(dout, i) * valueAt(results[0], i);
      for (int64_t i = 0; withLse && i < dlse.size(); ++i)
        sum += valueAt(dlse, i) * valueAt(results[1], i);
      return sum;
    };
    std::vector<Tensor> all = arguments;
    all.push_back(dout);
    all.push_back(dlse);
    std::vector<Tensor> gradients = backward(shape, all, withLse);
    ASSERT_EQ(gradients.size(), 3u);
    for (int operand = 0; operand < 3; ++operand)
      for (int64_t i = 0; i < arguments[operand].size(); i += 5) {
        std::vector<Tensor> up = arguments, down = arguments;
        up[operand].data<double>()[i] += 1e-5;
        down[operand].data<double>()[i] -= 1e-5;
        EXPECT_NEAR(valueAt(gradients[operand], i), (objective(up) - objective(down)) / 2e-5, 1e-8)
            << "operand " << operand << " element " << i;
      }
  }
};

TEST_F(AttentionTest, isItsChain) {
  Shape shape;
  expectChain(shape);
  shape.causal = true;
  expectChain(shape);
  shape.s = shape.t;
  expectChain(shape);
  shape.element = shape.compute = "f64";
  expectChain(shape);
}

TEST_F(AttentionTest, isItsChainWithValuesOfAnotherWidth) {
  for (int64_t width : {1, 2, 35}) {
    Shape shape;
    shape.e = width;
    shape.rate = 0.25;
    expectChain(shape);
    shape.causal = true;
    expectChain(shape);
  }
}

TEST_F(AttentionTest, isItsChainWithDropout) {
  Shape shape;
  shape.rate = 0.25;
  expectChain(shape);
  shape.causal = true;
  expectChain(shape);
}

TEST_F(AttentionTest, isItsChainOverManyKeys) {
  Shape shape;
  shape.b = shape.h = 1;
  shape.t = 2;
  shape.s = 9000;
  expectChain(shape);
  shape.causal = true;
  expectChain(shape);
}

TEST_F(AttentionTest, causalQueriesDoNotSeeLaterKeys) {
  Shape shape;
  shape.causal = true;
  shape.s = shape.t = 6;
  std::vector<Tensor> arguments = inputs(shape);
  std::vector<Tensor> before = forward(shape, shape.attention(), arguments);
  // The last key and value become NaN; only the last query of each head may read them.
  for (int operand : {1, 2})
    for (int64_t head = 0; head < shape.b * shape.h; ++head)
      for (int64_t d = 0; d < shape.d; ++d)
        arguments[operand].data<float>()[(head * shape.s + shape.s - 1) * shape.d + d] =
            std::numeric_limits<float>::quiet_NaN();
  std::vector<Tensor> after = forward(shape, shape.attention(), arguments);
  for (int64_t i = 0; i < before[1].size(); ++i)
    if (i % shape.t == shape.t - 1)
      EXPECT_TRUE(std::isnan(valueAt(after[1], i)));
    else
      EXPECT_EQ(valueAt(before[1], i), valueAt(after[1], i)) << i;
}

TEST_F(AttentionTest, widensBf16AndKeepsLseInF32) {
  Shape narrow, wide;
  narrow.element = "bf16";
  std::vector<Tensor> arguments = inputs(narrow), widened = arguments;
  for (int operand = 0; operand < 3; ++operand) {
    widened[operand] = Tensor(arguments[operand].type.clone(f32()));
    for (int64_t i = 0; i < widened[operand].size(); ++i)
      widened[operand].data<float>()[i] = static_cast<float>(valueAt(arguments[operand], i));
  }
  std::vector<Tensor> rounded = forward(narrow, narrow.attention(), arguments);
  std::vector<Tensor> exact = forward(wide, wide.attention(), widened);
  expectEqualBits(rounded[1], exact[1]);
  for (int64_t i = 0; i < rounded[0].size(); ++i)
    EXPECT_EQ(rounded[0].data<uint16_t>()[i], reference::toBf16(exact[0].data<float>()[i]));
}

TEST_F(AttentionTest, backwardIsTheDerivative) {
  Shape shape;
  shape.b = 1;
  expectFiniteDifferences(shape, false);
  expectFiniteDifferences(shape, true);
  shape.causal = true;
  expectFiniteDifferences(shape, true);
  shape.rate = 0.25;
  expectFiniteDifferences(shape, true);
  shape.e = 4;
  expectFiniteDifferences(shape, true);
  shape.e = 2;
  expectFiniteDifferences(shape, false);
}

// The backward as a chain of ops has the same contractions, sums and draws, bit by bit.
TEST_F(AttentionTest, backwardIsItsChain) {
  for (auto [causal, width] : {std::pair(false, 3), {true, 3}, {false, 1}, {true, 40}}) {
    Shape shape;
    shape.e = width;
    shape.causal = causal;
    shape.rate = 0.25;
    std::vector<Tensor> arguments = inputs(shape);
    arguments.push_back(randomTensor(type({shape.b, shape.h, shape.t, width}, f32()), 4));
    arguments.push_back(randomTensor(type({shape.b, shape.h, shape.t}, f32()), 5));
    std::vector<Tensor> whole = backward(shape, arguments, true);
    std::string scores = shape.scores("f32"), query = shape.query(), key = shape.key(),
                row = shape.row(), value = shape.value(), out = shape.out();
    std::string text =
        "func.func @f(" + shape.arguments() + ", %dout: " + out + ", %dlse: " + row + ") -> (" +
        query + ", " + key + ", " + value + ") {\n" + shape.attention() + shape.score() +
        shape.spread("%lses", "%lse") + "  %shifted = reprise.sub %score, %lses : " + scores +
        "\n  %p = reprise.exp %shifted : " + scores + "\n" + shape.drop("%pd", "%p") +
        "  %prod = reprise.mul %dout, %out : " + out + "\n  %sum = reprise.sum %prod dims [3] : (" +
        out + ") -> " + row + "\n  %delta = reprise.sub %sum, %dlse : " + row + "\n" +
        shape.spread("%deltas", "%delta") +
        shape.contract("%dpd", "%dout", out, "%v", value, "[3] x [3]", scores) +
        shape.drop("%dp", "%dpd") + "  %diff = reprise.sub %dp, %deltas : " + scores +
        "\n  %ds = reprise.mul %p, %diff : " + scores + "\n" +
        shape.contract("%dq0", "%ds", scores, "%k", key, "[3] x [2]", query) +
        shape.contract("%dk0", "%ds", scores, "%q", query, "[2] x [2]", key) +
        shape.contract("%dv", "%pd", scores, "%dout", out, "[2] x [2]", value) +
        "  %sq = reprise.constant dense<0.3> : " + query +
        "\n  %sk = reprise.constant dense<0.3> : " + key +
        "\n  %dq = reprise.mul %dq0, %sq : " + query + "\n  %dk = reprise.mul %dk0, %sk : " + key +
        "\n  return %dq, %dk, %dv : " + query + ", " + key + ", " + value + "\n}";
    std::vector<Tensor> chain = run(text, arguments);
    ASSERT_EQ(chain.size(), 3u) << error << text;
    ASSERT_EQ(whole.size(), 3u);
    for (int i = 0; i < 3; ++i)
      expectEqualBits(whole[i], chain[i]);
  }
}

} // namespace
