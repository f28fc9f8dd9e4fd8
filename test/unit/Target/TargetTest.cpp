// reprise: tests of targets and their names
#include "reprise/Target/Target.h"

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

  MLIRContext context;
};

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
