// reprise: a plan changes no bit in the interpreter, and the interpreter finds a broken plan
#include "Compare.h"
#include "HashSteps.h"
#include "mlir/Pass/PassManager.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Pipelines/Phases.h"
#include "reprise/Zoo/Zoo.h"
#include <random>
#include <set>

using namespace mlir;
using namespace reprise;
using namespace reprise::test;

namespace {

struct PoliciesTest : HashStepsTest {
  /// A seed of labels other than 0 labels about every fourth op by chance.
  void build(const std::string &entry, Phase phase, std::vector<std::string> policies,
             bool checkpointLayers = false, unsigned labelSeed = 0) {
    zoo::Options options;
    options.layers = 2;
    options.width = 16;
    options.heads = 2;
    options.vocab = 20;
    options.batch = 2;
    options.seq = 6;
    options.dropout = 0.25;
    options.checkpointLayers = checkpointLayers;
    module = zoo::buildModel(context, "gpt2", options);
    if (labelSeed != 0)
      labelByChance(labelSeed);
    PhaseOptions phases;
    phases.entry = entry;
    phases.policies = std::move(policies);
    PassManager manager(&context);
    buildPhases(manager, std::nullopt, phase, phases);
    ASSERT_TRUE(succeeded(manager.run(*module))) << error;
  }

  void labelByChance(unsigned seed) {
    constexpr Label labels[] = {Label::must_save, Label::prefer_save, Label::prefer_recompute,
                                Label::must_recompute};
    std::mt19937 random(seed);
    module->walk([&](Operation *op) {
      bool hasValue = isa_and_nonnull<RepriseDialect>(op->getDialect()) &&
                      op->getNumResults() != 0 && op->getNumRegions() == 0;
      if (hasValue && random() % 4 == 0)
        op->setDiscardableAttr("reprise.label", LabelAttr::get(&context, labels[random() % 4]));
    });
  }

  std::vector<Operation *> replays() {
    std::vector<Operation *> ops;
    module->walk([&](Operation *op) {
      if (isReplay(op))
        ops.push_back(op);
    });
    return ops;
  }
};

TEST_F(PoliciesTest, noPolicyChangesABit) {
  for (const char *entry : {"train", "grad", "hvp"}) {
    build(entry, Phase::Autodiff, {});
    uint64_t expected = hash();
    std::vector<size_t> counts;
    for (const char *policy : {"save-all", "dots-saveable", "recompute-all"}) {
      build(entry, Phase::Checkpoint, {policy});
      counts.push_back(replays().size());
      EXPECT_EQ(hash(), expected) << entry << " " << policy;
    }
    EXPECT_EQ(counts[0], 0u);
    EXPECT_LT(counts[0], counts[1]) << entry;
    EXPECT_LT(counts[1], counts[2]) << entry;
    build(entry, Phase::Checkpoint, {});
    EXPECT_EQ(hash(), expected) << entry << " without a policy";
    build(entry, Phase::Checkpoint, {}, /*checkpointLayers=*/true);
    EXPECT_GT(replays().size(), 0u);
    EXPECT_EQ(hash(), expected) << entry << " with checkpoints";
  }
}

TEST_F(PoliciesTest, noLabelsChangeABit) {
  for (const char *entry : {"train", "hvp"}) {
    build(entry, Phase::Autodiff, {});
    uint64_t expected = hash();
    std::set<size_t> counts;
    for (unsigned seed = 1; seed <= 20; ++seed) {
      std::string policy = seed % 2 ? "recompute-all" : "save-all";
      build(entry, Phase::Checkpoint, {policy}, /*checkpointLayers=*/seed % 4 > 1, seed);
      counts.insert(replays().size());
      EXPECT_EQ(hash(), expected) << entry << " with the labels of seed " << seed;
    }
    EXPECT_GT(counts.size(), 1u) << "the labels make different plans";
  }
}

TEST_F(PoliciesTest, aReplayWithAnotherOffsetIsSeen) {
  build("train", Phase::Checkpoint, {"recompute-all"});
  uint64_t expected = hash();
  int64_t moved = 0;
  for (Operation *op : replays()) {
    auto random = dyn_cast<RandomOpInterface>(op);
    if (!random || !random.draws())
      continue;
    ImplicitLocOpBuilder b(op->getLoc(), op);
    Value offset = random.getOffsetOperand();
    Value four = ConstantOp::create(
        b, DenseElementsAttr::get(cast<RankedTensorType>(offset.getType()), int64_t{4}));
    random.threadState(random.getSeedOperand(), AddOp::create(b, offset, four));
    ++moved;
    break;
  }
  ASSERT_EQ(moved, 1) << "recompute-all replays no dropout";
  EXPECT_NE(hash(), expected);
}

TEST_F(PoliciesTest, anotherSeedAndAnotherRateAreSeen) {
  build("train", Phase::Autodiff, {});
  uint64_t expected = hash();
  module->walk([&](DropoutOp op) { op.setRateAttr(FloatAttr::get(f64(), 0.5)); });
  EXPECT_NE(hash(), expected);
  build("train", Phase::Autodiff, {});
  EXPECT_EQ(hash(), expected) << "the same module gives the same bits again";
  StepsOptions options;
  options.seed = 4;
  options.steps = 2;
  std::string problem;
  auto other = interpretSteps(*module, options, problem);
  ASSERT_TRUE(succeeded(other)) << problem;
  EXPECT_NE(other->hash, expected);
}

} // namespace
