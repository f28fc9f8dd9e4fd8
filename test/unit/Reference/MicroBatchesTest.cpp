// reprise: micro-batches in the interpreter: rows and masks are those of the whole batch, sums are
// nearly equal, and no plan changes a bit
#include "Compare.h"
#include "HashSteps.h"
#include "mlir/Pass/PassManager.h"
#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/Pipelines/Phases.h"
#include "reprise/Zoo/Zoo.h"

using namespace mlir;
using namespace reprise;
using namespace reprise::test;

namespace {

constexpr int64_t kBatch = 5;

struct MicroBatchesTest : HashStepsTest {
  MicroBatchesTest() {
    sizes.width = 16;
    sizes.heads = 2;
    sizes.vocab = 20;
    sizes.batch = kBatch;
    sizes.seq = 6;
    sizes.image = 16;
    sizes.dropout = 0.25;
    sizes.routesSamples = true;
  }

  void build(const std::string &model, int64_t microbatches) {
    module = zoo::buildModel(context, model, sizes);
    phases.microbatches = microbatches;
    PassManager manager(&context);
    buildPhases(manager, std::nullopt, Phase::Checkpoint, phases);
    ASSERT_TRUE(succeeded(manager.run(*module))) << error;
  }

  /// Runs the entry on fixed random arguments. With `first`, inputs are the samples from `first` on
  /// of a batch of `batch`.
  std::vector<Tensor> runEntry(std::optional<int64_t> first = std::nullopt) {
    auto entry = *module->getOps<ProgramOp>().begin();
    EntrySignature signature(entry);
    std::vector<Tensor> arguments;
    for (BlockArgument argument : entry.getArguments()) {
      auto type = cast<RankedTensorType>(argument.getType());
      SmallVector<int64_t> shape(type.getShape());
      bool isBatch = first && signature.getBatchDim(argument.getArgNumber()) == 0;
      if (isBatch)
        shape[0] = batch;
      type = type.clone(shape);
      Tensor tensor(type);
      if (isa<FloatType>(type.getElementType()))
        tensor = randomTensor(type, 7 + argument.getArgNumber());
      else if (type.getElementType().isInteger(32))
        for (int64_t i = 0; i < tensor.size(); ++i)
          tensor.data<int32_t>()[i] = (3 * i + 1) % 10;
      arguments.push_back(isBatch ? takeSamples(tensor, argument.getType(), *first)
                                  : std::move(tensor));
    }
    auto results = interpret(entry, arguments);
    EXPECT_TRUE(succeeded(results)) << error;
    return succeeded(results) ? *results : std::vector<Tensor>();
  }

  Tensor takeSamples(const Tensor &whole, Type type, int64_t first) const {
    Tensor part(cast<RankedTensorType>(type));
    size_t each = whole.bytes.size() / batch;
    std::memcpy(part.bytes.data(), whole.bytes.data() + first * each, part.bytes.size());
    return part;
  }

  zoo::Options sizes;
  PhaseOptions phases;
  int64_t batch = kBatch;
};

/// Rows and masks do not depend on the other samples.
TEST_F(MicroBatchesTest, rowsAreThoseOfTheWholeBatch) {
  phases.entry = "forward";
  for (std::string model : {"gpt2", "bert", "llama", "lstm", "mlp", "moe"}) {
    SCOPED_TRACE(model);
    build(model, 1);
    std::vector<Tensor> whole = runEntry();
    for (int64_t number : {2, 4, 5}) {
      build(model, number);
      std::vector<Tensor> cut = runEntry();
      ASSERT_EQ(cut.size(), whole.size());
      for (auto [a, b] : llvm::zip(cut, whole))
        expectEqualBits(a, b);
    }
  }
}

/// A mask of dropout that moved would change gradients in the first digit.
TEST_F(MicroBatchesTest, gradientsAreThoseOfTheWholeBatch) {
  phases.entry = "grad";
  for (bool isLoop : {false, true})
    for (std::string model : {"gpt2", "llama", "lstm", "mlp", "moe", "unet"}) {
      SCOPED_TRACE(model);
      if (isLoop && model != "gpt2" && model != "llama")
        continue;
      sizes.loopLayers = isLoop;
      build(model, 1);
      std::vector<Tensor> whole = runEntry();
      for (int64_t number : {2, 5}) {
        build(model, number);
        std::vector<Tensor> cut = runEntry();
        ASSERT_EQ(cut.size(), whole.size());
        for (auto [a, b] : llvm::zip(cut, whole))
          if (isa<FloatType>(a.type.getElementType())) {
            double largest = 1;
            for (int64_t i = 0; i < b.size(); ++i)
              largest = std::max(largest, std::abs(valueAt(b, i)));
            expectNear(a, b, 2e-5 * largest);
          }
      }
    }
}

/// A micro-batch of a model with batch norms is a batch of its own: gradients are the mean of those
/// of two smaller models, weighted by samples.
TEST_F(MicroBatchesTest, statisticsAreThoseOfTheMicroBatch) {
  phases.entry = "grad";
  sizes.width = 8;
  sizes.image = 32;
  build("resnet18", 2);
  std::vector<Tensor> cut = runEntry();
  std::vector<std::vector<Tensor>> parts;
  for (int64_t samples : {3, 2}) {
    sizes.batch = samples;
    build("resnet18", 1);
    parts.push_back(runEntry(/*first=*/samples == 3 ? 0 : 3));
  }
  auto entry = *module->getOps<ProgramOp>().begin();
  int compared = 0;
  for (auto [number, result] : llvm::enumerate(cut)) {
    StringRef name = EntrySignature(entry).getResultName(number).getValue();
    if (name != "loss" && !name.starts_with("gradient/"))
      continue;
    ++compared;
    double largest = 1;
    for (int64_t i = 0; i < result.size(); ++i)
      largest = std::max(largest, std::abs(valueAt(result, i)));
    for (int64_t i = 0; i < result.size(); ++i)
      ASSERT_NEAR(valueAt(result, i),
                  (3 * valueAt(parts[0][number], i) + 2 * valueAt(parts[1][number], i)) / kBatch,
                  1e-4 * largest)
          << name.str();
  }
  EXPECT_GT(compared, 20);
}

TEST_F(MicroBatchesTest, noPlanChangesABit) {
  for (bool isLoop : {false, true}) {
    sizes.loopLayers = isLoop;
    phases.policies.clear();
    build("gpt2", 3);
    uint64_t expected = hash();
    for (std::string policy : {"save-all", "recompute-all"}) {
      phases.policies = {policy};
      build("gpt2", 3);
      EXPECT_EQ(hash(), expected) << policy << isLoop;
    }
  }
}

/// A sum over iterations is one use: its summands are added in the order of the loop.
TEST_F(MicroBatchesTest, unrolledLoopsHaveTheirBits) {
  sizes.loopLayers = true;
  for (std::string model : {"gpt2", "lstm"}) {
    phases.unroll = false;
    build(model, 3);
    uint64_t expected = hash();
    phases.unroll = true;
    build(model, 3);
    EXPECT_EQ(hash(), expected) << model;
  }
}

/// Loss and gradients; other results count steps and draws.
static std::vector<Tensor> keepFloats(std::vector<Tensor> results) {
  llvm::erase_if(results,
                 [](const Tensor &tensor) { return !tensor.type.getElementType().isF32(); });
  return results;
}

/// Adds two lists of results, in f32.
static std::vector<Tensor> add(std::vector<Tensor> left, const std::vector<Tensor> &right) {
  for (auto [a, b] : llvm::zip(left, right))
    for (int64_t i = 0; i < a.size(); ++i)
      a.data<float>()[i] += b.data<float>()[i];
  return left;
}

/// Gradients of parts of the batch, which other programs compute, added in the order of lanes by
/// this test, are those of a step with lanes, to the bit: all sizes are powers of two, so that the
/// means of parts and of the batch differ by exact factors, and no parameter has two uses, which
/// add up apart.
TEST_F(MicroBatchesTest, sumsOfLanesAreThoseOfReplicas) {
  constexpr int64_t kParts = 8;
  phases.entry = "grad";
  sizes.dropout = 0;
  sizes.seq = 8;
  for (auto [model, isLoop] : {std::pair("mlp", false), {"llama", false}, {"llama", true}}) {
    SCOPED_TRACE(model);
    sizes.loopLayers = isLoop;
    batch = 2 * kParts;
    sizes.batch = 2;
    build(model, 1);
    std::vector<std::vector<Tensor>> parts;
    for (int64_t part = 0; part < kParts; ++part) {
      parts.push_back(keepFloats(runEntry(2 * part)));
      for (Tensor &tensor : parts.back())
        for (int64_t i = 0; i < tensor.size(); ++i)
          tensor.data<float>()[i] /= kParts;
    }
    sizes.batch = batch;
    std::vector<std::vector<Tensor>> found;
    for (int64_t lanes : {1, 2, 4, 8}) {
      phases.lanes = lanes;
      build(model, kParts);
      found.push_back(keepFloats(runEntry()));
      std::vector<std::vector<Tensor>> sums;
      for (int64_t part = 0; part < kParts; ++part)
        if (part % (kParts / lanes) == 0)
          sums.push_back(parts[part]);
        else
          sums.back() = add(std::move(sums.back()), parts[part]);
      for (; sums.size() > 1; sums.resize(sums.size() / 2))
        for (size_t i = 0; i < sums.size() / 2; ++i)
          sums[i] = add(sums[2 * i], sums[2 * i + 1]);
      ASSERT_EQ(found.back().size(), sums[0].size());
      for (auto [a, b] : llvm::zip(found.back(), sums[0]))
        expectEqualBits(a, b);
    }
    phases.lanes = 1;
    EXPECT_TRUE(llvm::any_of(llvm::zip(found.front(), found.back()), [](auto pair) {
      return std::get<0>(pair).bytes != std::get<1>(pair).bytes;
    })) << "the order of sums changes no bit, so the test sees none";
  }
}

TEST_F(MicroBatchesTest, noPlanOfLanesChangesABit) {
  phases.lanes = 3;
  sizes.batch = 7;
  for (bool isLoop : {false, true}) {
    sizes.loopLayers = isLoop;
    phases.policies.clear();
    phases.unroll = false;
    build("gpt2", 6);
    uint64_t expected = hash();
    phases.policies = {"recompute-all"};
    phases.unroll = isLoop;
    build("gpt2", 6);
    EXPECT_EQ(hash(), expected) << isLoop;
  }
}

/// The sabotage: a window that begins one sample too early draws other masks.
TEST_F(MicroBatchesTest, aMovedWindowChangesTheMasks) {
  build("gpt2", 2);
  uint64_t expected = hash();
  int moved = 0;
  module->walk([&](ConstantOp constant) {
    bool isOrigin = llvm::any_of(constant->getUsers(), [&](Operation *user) {
      auto random = dyn_cast<RandomOpInterface>(user);
      return random && random.getOriginOperand() == constant.getResult();
    });
    auto values = dyn_cast<DenseIntElementsAttr>(constant.getValue());
    if (!isOrigin || !values || *values.value_begin<int64_t>() == 0)
      return;
    SmallVector<int64_t> origin(values.getValues<int64_t>());
    --origin[0];
    constant.setValueAttr(DenseElementsAttr::get(values.getType(), ArrayRef<int64_t>(origin)));
    ++moved;
  });
  EXPECT_GT(moved, 0);
  EXPECT_NE(hash(), expected);
}

} // namespace
