// reprise: tests of the cost model
#include "reprise/Compiler/CostModel.h"

#include "mlir/Parser/Parser.h"
#include "reprise/InitAll.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace reprise;

namespace {

class CostModelTest : public ::testing::Test {
protected:
  CostModelTest() {
    DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  Operation *parseOp(StringRef op) {
    module = parseSourceString<ModuleOp>(
        ("func.func @f(%x: tensor<64x64xf32>, %d: tensor<64x64xf64>) { " + op + " return }").str(),
        &context);
    return &(*module->getOps<func::FuncOp>().begin()).getBody().front().front();
  }

  CostModel load(const char *target, unsigned threads) {
    CostSources sources;
    sources.target = target;
    sources.threads = threads;
    FailureOr<CostModel> model = CostModel::load(sources, UnknownLoc::get(&context));
    EXPECT_TRUE(succeeded(model));
    return *model;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

constexpr const char *kDot = "%0 = reprise.dot_general %x, %x contracting [1] x [0] : "
                             "(tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>";
constexpr const char *kDouble = "%0 = reprise.dot_general %d, %d contracting [1] x [0] : "
                                "(tensor<64x64xf64>, tensor<64x64xf64>) -> tensor<64x64xf64>";
constexpr const char *kAdd = "%0 = reprise.add %x, %x : tensor<64x64xf32>";

TEST_F(CostModelTest, ASlowOpIsBoundByArithmeticOrByMemory) {
  CostModel model = load("cpu", 1);
  EXPECT_DOUBLE_EQ(model.getSeconds(parseOp(kDot), 0), 2.0 * 64 * 64 * 64 / 100e9);
  EXPECT_DOUBLE_EQ(model.getSeconds(parseOp(kAdd), 0), 64.0 * 64 / 40e9);
  EXPECT_DOUBLE_EQ(model.getSeconds(parseOp(kAdd), 22000), 1e-6);
  EXPECT_GT(model.getLaunchSeconds(), 0);
}

TEST_F(CostModelTest, TheTypeSetsTheRate) {
  CostModel model = load("cpu", 1);
  double single = model.getSeconds(parseOp(kDot), 0);
  EXPECT_DOUBLE_EQ(model.getSeconds(parseOp(kDouble), 0), 2 * single);
}

TEST_F(CostModelTest, ThreadsShareTheMemory) {
  CostModel one = load("cpu:x86-64-v3", 1), four = load("cpu:x86-64-v3", 4);
  Operation *dot = parseOp(kDot);
  EXPECT_DOUBLE_EQ(one.getSeconds(dot, 0), 4 * four.getSeconds(dot, 0));
  EXPECT_LT(one.getSeconds(dot, 1 << 30), 4 * four.getSeconds(dot, 1 << 30));
}

TEST_F(CostModelTest, NoThreadsGivenAreTwoEverywhere) {
  Operation *dot = parseOp(kDot);
  EXPECT_EQ(load("cpu", 0).getSeconds(dot, 1000), load("cpu", 2).getSeconds(dot, 1000));
}

TEST_F(CostModelTest, GpusHaveRatesOfTheirOwn) {
  Operation *dot = parseOp(kDot);
  EXPECT_LT(load("cuda:sm_90", 0).getSeconds(dot, 0), load("cuda:sm_80", 0).getSeconds(dot, 0));
  EXPECT_LT(load("cuda:sm_80", 0).getSeconds(dot, 0), load("cpu", 64).getSeconds(dot, 0));
}

TEST_F(CostModelTest, AnotherTargetIsAnError) {
  CostSources sources;
  sources.target = "tpu";
  std::string message;
  ScopedDiagnosticHandler handler(&context,
                                  [&](Diagnostic &diagnostic) { message = diagnostic.str(); });
  EXPECT_TRUE(failed(CostModel::load(sources, UnknownLoc::get(&context))));
  EXPECT_EQ(message, "unknown target 'tpu'");
}

} // namespace
