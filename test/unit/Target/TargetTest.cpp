// reprise: tests of a target's answers to grouping
#include "reprise/Target/Target.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/InitAll.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace reprise;

namespace {

class TargetTest : public ::testing::Test {
protected:
  TargetTest() {
    DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  std::shared_ptr<const Target> get(StringRef name) {
    std::shared_ptr<const Target> target;
    EXPECT_TRUE(succeeded(Target::get(name, UnknownLoc::get(&context), target)));
    return target;
  }

  bool canHold(StringRef target, StringRef body) {
    std::string text = ("func.func @f(%x: tensor<64x64xf32>, %h: tensor<64x64xbf16>, "
                        "%r: tensor<64xf32>) {" +
                        body + "\n  return\n}")
                           .str();
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    SmallVector<Operation *> ops;
    for (Operation &op : (*module->getOps<func::FuncOp>().begin()).getBody().front())
      if (!op.hasTrait<OpTrait::IsTerminator>())
        ops.push_back(&op);
    return get(target)->canHold(ops);
  }

  MLIRContext context;
};

constexpr const char *kContraction = R"(
  %0 = reprise.dot_general %x, %x contracting [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = reprise.relu %0 : tensor<64x64xf32>)";

constexpr const char *kHalfContraction = R"(
  %0 = reprise.dot_general %h, %h contracting [1] x [0] : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16>
  %1 = reprise.relu %0 : tensor<64x64xbf16>)";

constexpr const char *kRows = R"(
  %0 = reprise.relu %x : tensor<64x64xf32>
  %1 = reprise.sum %0 dims [1] : (tensor<64x64xf32>) -> tensor<64xf32>)";

constexpr const char *kTwoSpaces = R"(
  %0 = reprise.relu %x : tensor<64x64xf32>
  %1 = reprise.relu %r : tensor<64xf32>)";

TEST_F(TargetTest, ATargetSaysWhatALaunchHolds) {
  EXPECT_TRUE(canHold("cpu:x86-64-v3", kContraction));
  EXPECT_TRUE(canHold("cuda:sm_90", kContraction));
  EXPECT_TRUE(canHold("cuda:sm_90", kHalfContraction));
  // A launch of a library call holds no other op.
  EXPECT_TRUE(canHold("cuda:sm_90:library", kContraction));
  EXPECT_FALSE(canHold("cuda:sm_90:library", kHalfContraction));
  for (const char *target : {"cpu:x86-64-v3", "cpu:x86-64-v4", "cuda:sm_90"}) {
    EXPECT_TRUE(canHold(target, kRows));
    EXPECT_FALSE(canHold(target, kTwoSpaces));
  }
}

TEST_F(TargetTest, TargetsHaveNames) {
  EXPECT_EQ(get("cpu:x86-64-v3")->getName(), "cpu:x86-64-v3");
  EXPECT_EQ(get("cuda:sm_90")->getName(), "cuda:sm_90");
}

TEST_F(TargetTest, TargetsSayHowContractionsCompute) {
  auto nameContractions = [&](StringRef target) {
    return describe(get(target)->getCapabilities().contractions).name;
  };
  EXPECT_EQ(nameContractions("cpu:x86-64-v3"), "exact");
  EXPECT_EQ(nameContractions("cuda:sm_90"), "tensor-cores");
  for (StringRef contractions : {"exact", "tf32"}) {
    std::string name = ("cuda:sm_90:" + contractions).str();
    EXPECT_EQ(get(name)->getName(), name);
    EXPECT_EQ(nameContractions(name), contractions);
  }
}

std::string findError(MLIRContext &context, StringRef name) {
  std::string message;
  ScopedDiagnosticHandler handler(&context,
                                  [&](Diagnostic &diagnostic) { message = diagnostic.str(); });
  std::shared_ptr<const Target> target;
  EXPECT_TRUE(failed(Target::get(name, UnknownLoc::get(&context), target)));
  return message;
}

TEST_F(TargetTest, AnUnknownNameIsAnError) {
  EXPECT_EQ(findError(context, "tpu"),
            "unknown target 'tpu', expected cpu, cpu:native, cpu:x86-64-v3, cpu:x86-64-v4 or a "
            "GPU from cuda:sm_80 on, or several such as cuda:sm_80+sm_90");
}

TEST(Targets, AContextWithoutThemIsAnError) {
  MLIRContext context;
  EXPECT_EQ(findError(context, "cpu"), "no targets are registered");
}

} // namespace
