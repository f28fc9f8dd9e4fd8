// reprise: tests of the models of the zoo: entries, sizes, and refused options
#include "reprise/Zoo/Zoo.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/InitAll.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace reprise;

namespace {

class ZooTest : public ::testing::Test {
protected:
  ZooTest() {
    DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  static zoo::Options smallOptions(StringRef model) {
    zoo::Options options = zoo::defaultOptions(model);
    options.width = 16;
    options.batch = 2;
    options.seq = 16;
    options.image = 32;
    return options;
  }

  static int64_t countParameters(func::FuncOp entry) {
    EntrySignature signature(entry);
    int64_t count = 0;
    for (unsigned i = 0; i < entry.getNumArguments(); ++i)
      if (signature.getRole(i) == "parameter")
        count += cast<RankedTensorType>(entry.getArgument(i).getType()).getNumElements();
    return count;
  }

  MLIRContext context;
};

TEST_F(ZooTest, EveryModelHasItsEntries) {
  std::vector<std::string> names = zoo::modelNames();
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  for (const std::string &name : names) {
    zoo::Options options = smallOptions(name);
    ASSERT_EQ(zoo::checkOptions(name, options), "") << name;
    OwningOpRef<ModuleOp> module = zoo::buildModel(context, name, options);
    ASSERT_TRUE(module && succeeded(verify(*module))) << name;
    for (StringRef entry : {"train", "grad", "hvp", "forward"})
      EXPECT_TRUE(module->lookupSymbol<func::FuncOp>(entry)) << name << " " << entry.str();
    auto train = module->lookupSymbol<func::FuncOp>("train");
    auto grad = module->lookupSymbol<func::FuncOp>("grad");
    EXPECT_GT(countParameters(train), 0) << name;
    EXPECT_EQ(countParameters(train), countParameters(grad)) << name;
    // Every parameter is trained: the result of the same name is its next value.
    EntrySignature signature(train);
    unsigned replaced = 0;
    for (int64_t argument : signature.getReplacedArguments())
      replaced += argument >= 0 && signature.getRole(argument) == "parameter";
    unsigned parameters = 0;
    for (unsigned i = 0; i < train.getNumArguments(); ++i)
      parameters += signature.getRole(i) == "parameter";
    EXPECT_EQ(replaced, parameters) << name;
  }
}

/// The number of parameters is vocab · width + seq · width + layers · (12 · width² + 13 · width) +
/// 2 · width. The head is tied to the embedding or has its own weights.
TEST_F(ZooTest, Gpt2HasTheParametersOfThePaper) {
  zoo::Options options = smallOptions("gpt2");
  auto countOf = [&](int64_t layers) {
    options.layers = layers;
    OwningOpRef<ModuleOp> module = zoo::buildModel(context, "gpt2", options);
    return countParameters(module->lookupSymbol<func::FuncOp>("train"));
  };
  int64_t width = options.width;
  EXPECT_EQ(countOf(3) - countOf(2), 12 * width * width + 13 * width);
}

TEST_F(ZooTest, ALoopHasTheParametersOfItsLayers) {
  zoo::Options options = smallOptions("gpt2");
  OwningOpRef<ModuleOp> flat = zoo::buildModel(context, "gpt2", options);
  options.loopLayers = true;
  OwningOpRef<ModuleOp> loop = zoo::buildModel(context, "gpt2", options);
  EXPECT_EQ(countParameters(flat->lookupSymbol<func::FuncOp>("train")),
            countParameters(loop->lookupSymbol<func::FuncOp>("train")));
  int loops = 0;
  loop->walk([&](LoopOp) { ++loops; });
  EXPECT_GT(loops, 0);
  flat->walk([&](LoopOp) { ADD_FAILURE() << "a loop that nobody asked for"; });
}

TEST_F(ZooTest, OptionsThatFitNoModelAreRefused) {
  zoo::Options options = zoo::defaultOptions("gpt2");
  options.heads = 7;
  EXPECT_NE(zoo::checkOptions("gpt2", options), "") << "64 does not divide into 7 heads";
  options = zoo::defaultOptions("gpt2");
  options.layers = -1;
  EXPECT_NE(zoo::checkOptions("gpt2", options), "");
  options = zoo::defaultOptions("resnet18");
  options.loopLayers = true;
  EXPECT_NE(zoo::checkOptions("resnet18", options), "") << "its layers differ";
}

} // namespace
