// reprise: running statistics of batch norms under micro-batches, beside torch.nn.BatchNorm1d
#include "HashSteps.h"
#include "mlir/Pass/PassManager.h"
#include "reprise/Dialect/Pipe/Transforms/Passes.h"
#include "reprise/Dialect/Reprise/Transforms/Passes.h"
#include "reprise/Pipelines/Phases.h"
#include "reprise/Zoo/Zoo.h"

using namespace mlir;
using namespace reprise;
using namespace reprise::test;

namespace {

/// Program with a batch norm of 5 samples with 2 channels of 2 positions, and its running
/// statistics. STATISTICS is `count 10` or `count 10 deferred`.
constexpr const char *kText = R"(
reprise.program @f devices [0] (%x: tensor<5x2x2xf32> {reprise.role = "input", reprise.batch_dim = 0 : i64},
             %w: tensor<2xf32> {reprise.role = "parameter"}, %b: tensor<2xf32> {reprise.role = "parameter"},
             %mean: tensor<2xf32> {reprise.role = "state", reprise.name = "mean"},
             %variance: tensor<2xf32> {reprise.role = "state", reprise.name = "variance"})
    -> (tensor<5x2x2xf32> {reprise.name = "y"}, tensor<2xf32> {reprise.name = "mean"}, tensor<2xf32> {reprise.name = "variance"}) {
  %old = reprise.constant dense<0.9> : tensor<f32>
  %new = reprise.constant dense<0.1> : tensor<f32>
  %y, %m, %v = reprise.batch_norm %x, %w, %b {epsilon = 1.0e-05 : f64} : (tensor<5x2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<5x2x2xf32>, tensor<2xf32>, tensor<2xf32>)
  %wm, %wv = reprise.batch_statistics %m, %v STATISTICS : tensor<2xf32>
  %0 = reprise.mul %mean, %old : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %1 = reprise.mul %wm, %new : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %2 = reprise.add %0, %1 : tensor<2xf32>
  %3 = reprise.mul %variance, %old : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %4 = reprise.mul %wv, %new : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %5 = reprise.add %3, %4 : tensor<2xf32>
  reprise.return %y, %2, %5 : tensor<5x2x2xf32>, tensor<2xf32>, tensor<2xf32>
}
)";

struct Ran {
  std::vector<float> y, mean, variance;
};

struct StatisticsTest : HashStepsTest {
  Ran runStep(const std::string &statistics, int64_t microbatches) {
    std::string text = kText;
    text.replace(text.find("STATISTICS"), 10, statistics);
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << error;
    PassManager manager(&context);
    manager.addNestedPass<ProgramOp>(createSliceBatchPass({microbatches}));
    manager.addNestedPass<ProgramOp>(pipe::createLowerMicrobatchesPass());
    EXPECT_TRUE(succeeded(manager.run(*module))) << error;
    auto pair = type({2}, f32());
    auto results =
        interpret(module->lookupSymbol<ProgramOp>("f"),
                  {makeTensor<float>(type({5, 2, 2}, f32()), {1,  5, -2, 0, 3, -1, 4, 2,  2, 8,
                                                              -6, 1, 0,  4, 3, 3,  7, -2, 5, -4}),
                   makeTensor<float>(pair, {1, 1}), makeTensor<float>(pair, {0, 0}),
                   makeTensor<float>(pair, {0.5, -1}), makeTensor<float>(pair, {2, 3})});
    EXPECT_TRUE(succeeded(results)) << error;
    return {valuesOf<float>((*results)[0]), valuesOf<float>((*results)[1]),
            valuesOf<float>((*results)[2])};
  }

  static void expectNear(const std::vector<float> &values, const std::vector<float> &expected) {
    ASSERT_EQ(values.size(), expected.size());
    for (size_t i = 0; i < values.size(); ++i)
      EXPECT_NEAR(values[i], expected[i], 2e-6f * std::abs(expected[i])) << i;
  }
};

/// Running statistics after BatchNorm1d(2) on the whole batch, from (0.5, -1) and (2, 3).
const std::vector<float> kWholeMean = {0.72f, -0.84f}, kWholeVariance = {2.91222215f, 3.9933331f};

TEST_F(StatisticsTest, oneMicroBatchIsTheBatch) {
  for (const char *statistics : {"count 10", "count 10 deferred"}) {
    Ran ran = runStep(statistics, 1);
    expectNear(ran.mean, kWholeMean);
    expectNear(ran.variance, kWholeVariance);
  }
}

/// Micro-batches equal BatchNorm1d(2) on 3 samples and then on 2: unbiased by 6/5 and 4/3.
TEST_F(StatisticsTest, microBatchesHaveTheirOwnCount) {
  Ran ran = runStep("count 10", 2);
  expectNear(ran.mean, {0.9f, -0.65f});
  expectNear(ran.variance, {4.145f, 5.08333302f});
}

TEST_F(StatisticsTest, deferredOnesAreThoseOfTheBatch) {
  std::vector<float> own = runStep("count 10", 2).y;
  for (int64_t microbatches : {2, 3, 4, 5}) {
    Ran ran = runStep("count 10 deferred", microbatches);
    expectNear(ran.mean, kWholeMean);
    expectNear(ran.variance, kWholeVariance);
    // Samples are normalized by their micro-batch.
    if (microbatches == 2)
      EXPECT_EQ(ran.y, own);
  }
  EXPECT_NE(runStep("count 10 deferred", 1).y, own);
}

/// Replays count no statistics twice, and all bits are those of one device.
TEST_F(StatisticsTest, replaysCountNothingTwice) {
  zoo::Options sizes;
  sizes.width = 8;
  sizes.image = 16;
  sizes.batch = 5;
  for (bool isDeferred : {false, true}) {
    sizes.defersStatistics = isDeferred;
    std::set<uint64_t> hashes;
    for (std::string policy : {"save-all", "recompute-all"}) {
      module = zoo::buildModel(context, "resnet18", sizes);
      PhaseOptions phases;
      phases.entry = "train";
      phases.microbatches = 2;
      phases.policies = {policy};
      PassManager manager(&context);
      buildPhases(manager, std::nullopt, Phase::Checkpoint, phases);
      ASSERT_TRUE(succeeded(manager.run(*module))) << error;
      hashes.insert(hash());
    }
    EXPECT_EQ(hashes.size(), 1u) << isDeferred;
  }
}

} // namespace
