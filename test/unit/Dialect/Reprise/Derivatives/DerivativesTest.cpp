// reprise: every derivative rule agrees with finite differences.
#include "DerivativeProgram.h"

#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/InitAll.h"
#include "gtest/gtest.h"
#include <cmath>
#include <set>

using namespace mlir;
using namespace reprise;
using namespace reprise::test;

namespace {

TEST(Derivatives, EveryRuleHasATest) {
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  std::set<std::string> tested, seen;
  for (const DerivativeCase &test : derivativeCases())
    tested.insert(test.op);
  for (RegisteredOperationName op : context.getRegisteredOperations()) {
    if (op.getDialectNamespace() != "reprise")
      continue;
    std::string name = op.stripDialect().str();
    seen.insert(name);
    // The rules of a loop are those of its body, and those of a call are the host's. A pull has no
    // operands.
    if (name != "custom_call" && name != "pull")
      EXPECT_EQ(tested.count(name) == 1,
                op.hasInterface<DifferentiableOpInterface>() || name == "loop")
          << name;
  }
  for (const std::string &name : tested)
    EXPECT_TRUE(seen.count(name)) << name;
}

struct DerivativeTest : testing::TestWithParam<DerivativeCase> {
  size_t count() const { return GetParam().operands.size(); }
};

void expectNear(const std::vector<double> &actual, const std::vector<double> &expected,
                double tolerance, const char *what) {
  ASSERT_EQ(actual.size(), expected.size());
  double largest = 1;
  for (double value : expected)
    largest = std::max(largest, std::fabs(value));
  for (size_t i = 0; i < actual.size(); ++i)
    EXPECT_NEAR(actual[i], expected[i], tolerance * largest) << what << ", element " << i;
}

/// Returns (f(inputs + h·direction) - f(inputs - h·direction)) / 2h.
Arrays difference(DerivativeProgram &program, const char *function, const Arrays &inputs,
                  const Arrays &direction) {
  const double h = 1.0 / (1 << 17);
  Arrays plus = inputs, minus = inputs;
  for (size_t n = 0; n < direction.size(); ++n)
    for (size_t i = 0; i < direction[n].size(); ++i) {
      plus[n][i] += h * direction[n][i];
      minus[n][i] -= h * direction[n][i];
    }
  Arrays result = program.run(function, plus), other = program.run(function, minus);
  for (size_t n = 0; n < result.size(); ++n)
    for (size_t i = 0; i < result[n].size(); ++i)
      result[n][i] = (result[n][i] - other[n][i]) / (2 * h);
  return result;
}

TEST_P(DerivativeTest, GradientAgreesWithFiniteDifferences) {
  DerivativeProgram program(GetParam(), "f64");
  ASSERT_EQ(program.getError(), "");
  Arrays inputs = program.drawInputs(), gradients = program.run("grad", inputs);
  ASSERT_EQ(gradients.size(), count()) << program.getError();
  for (size_t n = 0; n < count(); ++n) {
    std::vector<double> expected;
    for (size_t i = 0; i < inputs[n].size(); ++i) {
      Arrays direction(n + 1);
      direction[n].assign(inputs[n].size(), 0);
      direction[n][i] = 1;
      expected.push_back(difference(program, "value", inputs, direction)[0][0]);
    }
    expectNear(gradients[n], expected, 1e-8, ("operand " + std::to_string(n)).c_str());
  }
}

/// The inputs, and a direction for the operands.
Arrays drawArguments(const DerivativeProgram &program, size_t count) {
  Arrays arguments = program.drawInputs();
  double sign = 1;
  for (size_t n = 0; n < count; ++n) {
    std::vector<double> &direction = arguments.emplace_back(arguments[n]);
    for (double &value : direction)
      value = (sign = -sign) * (0.25 + std::fabs(value));
  }
  return arguments;
}

TEST_P(DerivativeTest, HessianAgreesWithFiniteDifferences) {
  DerivativeProgram program(GetParam(), "f64");
  ASSERT_EQ(program.getError(), "");
  Arrays arguments = drawArguments(program, count()), product = program.run("hvp", arguments);
  Arrays inputs(arguments.begin(), arguments.end() - count());
  Arrays direction(arguments.end() - count(), arguments.end());
  Arrays expected = difference(program, "grad", inputs, direction);
  ASSERT_EQ(product.size(), count()) << program.getError();
  for (size_t n = 0; n < count(); ++n)
    expectNear(product[n], expected[n], 1e-7, ("operand " + std::to_string(n)).c_str());
}

/// Compares the derivatives in a narrower type with those in f64 up to rounding, to check the types
/// of a rule.
void compareWithDouble(const DerivativeCase &test, const std::string &element, double tolerance) {
  DerivativeProgram judge(test, "f64");
  for (bool indirect : {false, true}) {
    DerivativeProgram program(test, element, indirect);
    ASSERT_EQ(program.getError() + judge.getError(), "");
    Arrays arguments = drawArguments(program, test.operands.size());
    Arrays inputs(arguments.begin(), arguments.end() - test.operands.size());
    Arrays actual = program.run("grad", inputs), expected = judge.run("grad", inputs);
    ASSERT_EQ(actual.size(), test.operands.size()) << program.getError();
    for (size_t n = 0; n < actual.size(); ++n)
      expectNear(actual[n], expected[n], tolerance, (element + " gradient").c_str());
    actual = program.run("hvp", arguments), expected = judge.run("hvp", arguments);
    ASSERT_EQ(actual.size(), test.operands.size()) << program.getError();
    for (size_t n = 0; n < actual.size(); ++n)
      expectNear(actual[n], expected[n], 4 * tolerance, (element + " Hessian").c_str());
  }
}

TEST_P(DerivativeTest, HoldsInNarrowTypes) {
  compareWithDouble(GetParam(), "f32", 2e-6);
  compareWithDouble(GetParam(), "f16", 8e-3);
  compareWithDouble(GetParam(), "bf16", 6e-2);
}

INSTANTIATE_TEST_SUITE_P(Ops, DerivativeTest, testing::ValuesIn(derivativeCases()),
                         [](const auto &info) { return info.param.name; });

/// The gradient of Σ v·r by the first operand, at a point with ties.
std::vector<double> gradientAt(std::string name, const DerivativeCase &test, Arrays x) {
  DerivativeProgram program(test, "f64");
  EXPECT_EQ(program.getError(), "") << name;
  Arrays inputs = program.drawInputs();
  for (size_t i = test.operands.size(); i < inputs.size(); ++i)
    inputs[i].assign(inputs[i].size(), i < test.operands.size() + test.results.size() ? 0.0 : 1.0);
  std::copy(x.begin(), x.end(), inputs.begin());
  Arrays gradients = program.run("grad", inputs);
  return gradients.empty() ? std::vector<double>() : gradients[0];
}

DerivativeCase unary(std::string op) {
  return {op, op, {{"3x"}}, "%r0 = reprise." + op + " %x0 : tensor<3x$t>", {{"3x"}}};
}
DerivativeCase binary(std::string op) {
  return {op, op, {{"3x"}, {"3x"}}, "%r0 = reprise." + op + " %x0, %x1 : tensor<3x$t>", {{"3x"}}};
}
DerivativeCase reduction(std::string op, std::string dims, std::string to) {
  return {op,
          op,
          {{"2x3x"}},
          "%r0 = reprise." + op + " %x0 dims " + dims + " : (tensor<2x3x$t>) -> tensor<" + to +
              "$t>",
          {{to}}};
}

TEST(Derivatives, TiesAndKinks) {
  using Row = std::vector<double>;
  EXPECT_EQ(gradientAt("relu", unary("relu"), {{-1, 0, 1}}), (Row{0, 0, 1}));
  EXPECT_EQ(gradientAt("abs", unary("abs"), {{-1, 0, 1}}), (Row{-1, 0, 1}));
  EXPECT_EQ(gradientAt("maximum", binary("maximum"), {{1, 2, 3}, {2, 2, 2}}), (Row{0, 1, 1}));
  EXPECT_EQ(gradientAt("minimum", binary("minimum"), {{1, 2, 3}, {2, 2, 2}}), (Row{1, 1, 0}));
  DerivativeCase clamp = unary("clamp");
  clamp.body = "%r0 = reprise.clamp %x0 in [0.0 : f64, 1.0 : f64] : tensor<3x$t>";
  EXPECT_EQ(gradientAt("clamp", clamp, {{-1, 0, 1}}), (Row{0, 1, 1}));
  EXPECT_EQ(gradientAt("pow", binary("pow"), {{0, 0, 0}, {0, 1, 2}}), (Row{0, 1, 0}));
  Arrays ties = {{2, 5, 5, 5, 1, 1}};
  EXPECT_EQ(gradientAt("max", reduction("max", "[1]", "2x"), ties), (Row{0, 1, 0, 1, 0, 0}));
  EXPECT_EQ(gradientAt("max", reduction("max", "[0]", "3x"), ties), (Row{0, 1, 1, 1, 0, 0}));
  EXPECT_EQ(gradientAt("max", reduction("max", "[0, 1]", ""), ties), (Row{0, 1, 0, 0, 0, 0}));
  EXPECT_EQ(gradientAt("min", reduction("min", "[1]", "2x"), ties), (Row{1, 0, 0, 0, 1, 0}));
  EXPECT_EQ(gradientAt("min", reduction("min", "[0, 1]", ""), ties), (Row{0, 0, 0, 0, 1, 0}));
}

} // namespace
