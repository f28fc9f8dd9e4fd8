// reprise: the interpreter walks functions: calls, regions, last uses, errors
#include "Interpret.h"

using namespace mlir;
using namespace reprise;
using namespace reprise::test;

namespace {

TEST_F(InterpreterTest, runsCallsBlocksAndCheckpoints) {
  Tensor x = makeTensor<float>(type({2}, f32()), {1, 2});
  std::vector<Tensor> results = run(R"(
    func.func private @twice(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = reprise.add %x, %x : tensor<2xf32>
      return %0 : tensor<2xf32>
    }
    func.func @f(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
      %a = reprise.block {
        %0 = func.call @twice(%x) : (tensor<2xf32>) -> tensor<2xf32>
        %1 = reprise.checkpoint {
          %2 = reprise.mul %0, %x : tensor<2xf32>
          %3 = func.call @twice(%2) : (tensor<2xf32>) -> tensor<2xf32>
          reprise.yield %3 : tensor<2xf32>
        } : tensor<2xf32>
        reprise.yield %1 : tensor<2xf32>
      } : tensor<2xf32>
      return %a, %x : tensor<2xf32>, tensor<2xf32>
    })",
                                    {x});
  ASSERT_EQ(results.size(), 2u) << error;
  EXPECT_EQ(valuesOf<float>(results[0]), (std::vector<float>{4, 16}));
  EXPECT_EQ(valuesOf<float>(results[1]), (std::vector<float>{1, 2}));
}

TEST_F(InterpreterTest, runsLoops) {
  Tensor x = makeTensor<int32_t>(type({}, integer(32)), {1});
  Tensor w = makeTensor<int32_t>(type({3}, integer(32)), {10, 20, 30});
  std::vector<Tensor> results = run(R"(
    func.func @f(%x: tensor<i32>, %w: tensor<3xi32>) -> (tensor<i32>, tensor<3xi32>, tensor<i32>, tensor<2x3xi32>) {
      %last, %stack = reprise.loop 3 (%c = %x) over (%s = %w) : (tensor<i32>, tensor<3xi32>) -> (tensor<i32>, tensor<3xi32>) {
        %0 = reprise.add %c, %c : tensor<i32>
        %1 = reprise.add %0, %s : tensor<i32>
        reprise.yield %1, %c : tensor<i32>, tensor<i32>
      }
      %back, %stacks = reprise.loop 2 (%c = %x) : (tensor<i32>) -> (tensor<i32>, tensor<2x3xi32>) {
        %d, %t = reprise.loop 3 (%i = %c) over (%s = %w) reverse : (tensor<i32>, tensor<3xi32>) -> (tensor<i32>, tensor<3xi32>) {
          %0 = reprise.add %i, %s : tensor<i32>
          %1 = reprise.mul %0, %x : tensor<i32>
          reprise.yield %1, %1 : tensor<i32>, tensor<i32>
        }
        reprise.yield %d, %t : tensor<i32>, tensor<3xi32>
      }
      return %last, %stack, %back, %stacks : tensor<i32>, tensor<3xi32>, tensor<i32>, tensor<2x3xi32>
    })",
                                    {x, w});
  ASSERT_EQ(results.size(), 4u) << error;
  // 1 -> 2 + 10 -> 24 + 20 -> 88 + 30.
  EXPECT_EQ(valuesOf<int32_t>(results[0]), (std::vector<int32_t>{118}));
  EXPECT_EQ(valuesOf<int32_t>(results[1]), (std::vector<int32_t>{1, 12, 44}));
  // The inner loop goes from 30 to 10; its rows keep their places.
  EXPECT_EQ(valuesOf<int32_t>(results[2]), (std::vector<int32_t>{121}));
  EXPECT_EQ(valuesOf<int32_t>(results[3]), (std::vector<int32_t>{61, 51, 31, 121, 111, 91}));
}

TEST_F(InterpreterTest, returnsOneValueTwice) {
  Tensor x = makeTensor<int32_t>(type({2}, integer(32)), {1, 2});
  std::vector<Tensor> results = run(R"(
    func.func @f(%x: tensor<2xi32>, %unused: tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>) {
      %0 = reprise.add %x, %x : tensor<2xi32>
      %dead = reprise.neg %0 : tensor<2xi32>
      return %0, %0 : tensor<2xi32>, tensor<2xi32>
    })",
                                    {x, x});
  ASSERT_EQ(results.size(), 2u) << error;
  EXPECT_EQ(valuesOf<int32_t>(results[0]), (std::vector<int32_t>{2, 4}));
  EXPECT_EQ(valuesOf<int32_t>(results[1]), (std::vector<int32_t>{2, 4}));
}

TEST_F(InterpreterTest, canonicalizesNaNsOfResults) {
  Tensor x = makeTensor<uint32_t>(type({2}, f32()), {0xffc12345u, 0x7f800001u});
  std::vector<Tensor> results =
      run("func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }", {x});
  ASSERT_EQ(results.size(), 1u) << error;
  EXPECT_EQ(valuesOf<uint32_t>(results[0]), (std::vector<uint32_t>{0x7fc00000u, 0x7fc00000u}));
}

TEST_F(InterpreterTest, refusesWhatOtherPhasesHaveToExpand) {
  Tensor x = makeTensor<float>(type({}, f32()), {1});
  EXPECT_TRUE(run(R"(
    func.func private @g(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }
    func.func @f(%x: tensor<f32>) -> tensor<f32> {
      %0, %1 = reprise.value_and_grad @g(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
      return %1 : tensor<f32>
    })",
                  {x})
                  .empty());
  EXPECT_EQ(error,
            "'reprise.value_and_grad' op cannot be interpreted; run the autodiff phase first");
  EXPECT_TRUE(run(R"(
    func.func @f(%x: tensor<f32>) -> tensor<f32> {
      %0 = reprise.dropout %x {rate = 0.5 : f64} : tensor<f32>
      return %0 : tensor<f32>
    })",
                  {x})
                  .empty());
  EXPECT_EQ(
      error,
      "'reprise.dropout' op cannot be interpreted without a seed; run the random phase first");
}

TEST_F(InterpreterTest, refusesRecursionAndForeignOps) {
  Tensor x = makeTensor<float>(type({}, f32()), {1});
  EXPECT_TRUE(run(R"(
    func.func @f(%x: tensor<f32>) -> tensor<f32> {
      %0 = call @f(%x) : (tensor<f32>) -> tensor<f32>
      return %0 : tensor<f32>
    })",
                  {x})
                  .empty());
  EXPECT_EQ(error, "'func.call' op cannot be interpreted: the call is recursive");
  EXPECT_TRUE(run(R"(
    func.func @f(%x: tensor<f32>) -> tensor<f32> {
      %0 = math.exp %x : tensor<f32>
      return %0 : tensor<f32>
    })",
                  {x})
                  .empty());
  EXPECT_EQ(error, "'math.exp' op cannot be interpreted");
}

TEST_F(InterpreterTest, refusesWhatDoesNotFitTheMachine) {
  for (const char *shape : {"1000000000x1000000000", "4611686018427387904x4611686018427387904x4"}) {
    std::string type = std::string("tensor<") + shape + "xf32>";
    run("func.func @f() -> " + type + " {\n  %0 = reprise.iota dim 0 : " + type +
            "\n  return %0 : " + type + "\n}",
        {});
    EXPECT_EQ(error,
              "'reprise.iota' op cannot be interpreted: the results exceed this machine's memory");
  }
}

TEST_F(InterpreterTest, checksArguments) {
  Tensor x = makeTensor<float>(type({2}, f32()), {1, 2});
  const char *text =
      "func.func @f(%x: tensor<3xf32>) -> tensor<3xf32> { return %x : tensor<3xf32> }";
  EXPECT_TRUE(run(text, {x}).empty());
  EXPECT_EQ(error,
            "'func.func' op expected argument 0 of type 'tensor<3xf32>', got 'tensor<2xf32>'");
  EXPECT_TRUE(run(text, {}).empty());
  EXPECT_EQ(error, "'func.func' op expected 1 arguments, got 0");
  EXPECT_TRUE(run("func.func private @f(%x: tensor<2xf32>)", {x}).empty());
  EXPECT_EQ(error, "'func.func' op cannot be interpreted: the function has no body");
}

} // namespace
