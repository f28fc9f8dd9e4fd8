// reprise: tests of the cost model
#include "reprise/Costs/CostModel.h"

#include "mlir/Parser/Parser.h"
#include "reprise/Dialect/Reprise/IR/Work.h"
#include "reprise/InitAll.h"
#include "llvm/Support/FormatVariadic.h"
#include <fstream>
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
    module = parseSourceString<ModuleOp>(("reprise.program @f devices [0] (%x: tensor<64x64xf32>, "
                                          "%d: tensor<64x64xf64>, %h: tensor<64x64xbf16>, "
                                          "%q: tensor<2x4x64x32xbf16>) { " +
                                          op + " reprise.return }")
                                             .str(),
                                         &context);
    return &(*module->getOps<ProgramOp>().begin()).getBody().front().front();
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

TEST_F(CostModelTest, AnOpTakesItsArithmeticAndItsBytes) {
  CostModel model = load("cpu", 1);
  EXPECT_DOUBLE_EQ(model.getSeconds(parseOp(kDot), 0), 2.0 * 64 * 64 * 64 / 200e9);
  EXPECT_DOUBLE_EQ(model.getSeconds(parseOp(kAdd), 0), 64.0 * 64 / 80e9);
  EXPECT_DOUBLE_EQ(model.getSeconds(parseOp(kAdd), 60000), 64.0 * 64 / 80e9 + 1e-6);
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
  EXPECT_LT(load("cuda:sm_80", 0).getSeconds(dot, 0), load("cpu", 32).getSeconds(dot, 0));
}

TEST_F(CostModelTest, TensorCoresHaveRatesOfTheirOwn) {
  Operation *dot = parseOp(kDot);
  double exact = load("cuda:sm_90:exact", 0).getSeconds(dot, 0);
  EXPECT_EQ(load("cuda:sm_90", 0).getSeconds(dot, 0), exact);
  EXPECT_LT(load("cuda:sm_90:tf32", 0).getSeconds(dot, 0), exact / 2);
  EXPECT_LT(load("cuda:sm_90+sm_100:cubin:tf32", 0).getSeconds(dot, 0), exact / 2);
}

TEST_F(CostModelTest, LibrariesContractFasterAndLeaveAttentionAsItIs) {
  CostModel own = load("cuda:sm_90", 0), library = load("cuda:sm_90:library", 0);
  Operation *dot = parseOp("%0 = reprise.dot_general %h, %h contracting [1] x [0] : "
                           "(tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16>");
  EXPECT_LT(2 * library.getSeconds(dot, 0), own.getSeconds(dot, 0));
  Operation *attention =
      parseOp("%0:2 = reprise.attention %q, %q, %q {scale = 0.5 : f64} : (tensor<2x4x64x32xbf16>, "
              "tensor<2x4x64x32xbf16>, tensor<2x4x64x32xbf16>) -> (tensor<2x4x64x32xbf16>, "
              "tensor<2x4x64xf32>)");
  EXPECT_EQ(library.getSeconds(attention, 0), own.getSeconds(attention, 0));
}

TEST_F(CostModelTest, ValuesGoOverLinks) {
  constexpr int64_t bytes = 450000000000;
  EXPECT_DOUBLE_EQ(load("cuda:sm_90", 0).getCopySeconds(bytes), 1 + 1e-6);
  EXPECT_DOUBLE_EQ(load("cuda:sm_103", 0).getCopySeconds(2 * bytes), 1 + 1e-6);
  CostModel cpu = load("cpu", 1);
  EXPECT_DOUBLE_EQ(cpu.getCopySeconds(bytes),
                   cpu.getRates().launchSeconds + 2 * bytes / cpu.getRates().bytes);
}

/// A file of the test's own, gone with the object.
struct TestFile {
  TestFile(const char *name, const std::string &text) : path(testing::TempDir() + name) {
    std::ofstream(path) << text;
  }
  ~TestFile() { std::remove(path.c_str()); }
  std::string path;
};

TEST_F(CostModelTest, AProfileScalesTheArithmetic) {
  Operation *dot = parseOp(kDot);
  CostModel rates = load("cpu:x86-64-v3", 1);
  double modelled = rates.getSeconds(dot, 0);
  std::string row = llvm::formatv(
      "{{\"kernel\": \"dot\", \"launch\": \"dot\", \"seconds\": {0:e12}, \"calls\": 4, \"bytes\": "
      "8, \"ops\": [{{\"op\": \"dot_general\", \"kind\": \"contraction\", \"dtype\": \"f32\", "
      "\"signature\": \"{1:x-16}\", \"flops\": 524288}]}",
      3 * 4 * modelled, getSignature(dot));
  std::string packing = llvm::formatv(
      "{{\"kernel\": \"dot_pack\", \"launch\": \"dot\", \"seconds\": {0:e12}}", 4 * modelled);
  TestFile file("cost-profile.json",
                llvm::formatv("{{\"version\": 1, \"target\": \"cpu:x86-64-v3\", \"entry\": \"f\", "
                              "\"threads\": 1, \"step_seconds\": {0:e12}, \"kernels\": [{1}, {2}]}",
                              16 * modelled + 4e-6, row, packing));
  CostSources sources;
  sources.target = "cpu:x86-64-v3";
  sources.profile = file.path;
  FailureOr<CostModel> model = CostModel::load(sources, UnknownLoc::get(&context));
  ASSERT_TRUE(succeeded(model));
  auto compare = [&](double measured, double expected) {
    EXPECT_NEAR(measured / expected, 1, 1e-5);
  };
  // Both kernels of the launch count; the rest of the measured step is launch overhead.
  compare(model->getSeconds(dot, 0), 4 * modelled);
  compare(model->getLaunchSeconds(), 1e-6);
  // The profile has no data about memory.
  EXPECT_EQ(model->getTransferSeconds(1 << 30), rates.getTransferSeconds(1 << 30));
  compare(model->getSeconds(dot, 1 << 30), 4 * modelled + rates.getTransferSeconds(1 << 30));
  auto step = *module->getOps<ProgramOp>().begin();
  EXPECT_TRUE(succeeded(model->check(step)) && succeeded(model->checkModel(step)));
  // The kind speaks for an op that was not measured, and the rates where the kind was not.
  Operation *other = parseOp(kDouble);
  compare(model->getSeconds(other, 0), 4 * rates.getSeconds(other, 0));
  Operation *add = parseOp(kAdd);
  compare(model->getSeconds(add, 0), rates.getSeconds(add, 0));
  const KindError &error = model->getErrors().at("contraction");
  compare(error.ops, 4);
  compare(error.deviation, 12 * modelled);
}

/// If a launch is limited by bytes, twice the bandwidth halves its time. A product that moves few
/// bytes tells nothing about bandwidth.
TEST_F(CostModelTest, AProfileTellsHowFastBytesMove) {
  Operation *add = parseOp(kAdd);
  CostModel rates = load("cpu:x86-64-v3", 1);
  int64_t bytes = 1 << 30;
  double seconds = 2 * rates.getSeconds(add, bytes);
  std::string text = llvm::formatv(
      "{{\"version\": 1, \"target\": \"cpu:x86-64-v3\", \"entry\": \"f\", \"threads\": 1, "
      "\"step_seconds\": {0:e12}, \"kernels\": [{{\"kernel\": \"add\", \"launch\": \"add\", "
      "\"seconds\": {0:e12}, \"calls\": 1, \"bytes\": {1}, \"ops\": [{{\"op\": \"add\", \"kind\": "
      "\"elementwise\", \"dtype\": \"f32\", \"signature\": \"{2:x-16}\", \"flops\": 4096}]}]}",
      seconds, bytes, getSignature(add));
  TestFile file("cost-bandwidth.json", text);
  CostSources sources;
  sources.target = "cpu:x86-64-v3";
  sources.profile = file.path;
  FailureOr<CostModel> model = CostModel::load(sources, UnknownLoc::get(&context));
  ASSERT_TRUE(succeeded(model));
  EXPECT_NEAR(model->getTransferSeconds(bytes) / (2 * rates.getTransferSeconds(bytes)), 1, 1e-5);
  EXPECT_NEAR(model->getSeconds(add, bytes) / seconds, 1, 0.06);
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
