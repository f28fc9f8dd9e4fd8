// reprise: tests of model files read without trust
#include "reprise/Support/Parsing.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "reprise/InitAll.h"
#include "gtest/gtest.h"
#include <fstream>
#include <unistd.h>

using namespace mlir;
using namespace reprise;

namespace {

class ParsingTest : public ::testing::Test {
protected:
  void SetUp() override {
    DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    path = "/tmp/reprise-parsing-" + std::to_string(getpid()) + ".mlir";
  }
  void TearDown() override { unlink(path.c_str()); }
  void write(const std::string &text) { std::ofstream(path) << text; }
  /// Returns the text that a user sees for the errors that `fail` emits on a model with one
  /// function.
  std::string printErrors(llvm::function_ref<void(ModuleOp)> fail) {
    write("// A model.\nfunc.func private @f()\n");
    testing::internal::CaptureStderr();
    auto sources = std::make_shared<llvm::SourceMgr>();
    std::string text;
    llvm::raw_string_ostream stream(text);
    SourceMgrDiagnosticHandler handler(*sources, &context, stream);
    OwningOpRef<ModuleOp> module = parseModelFile(path, context, sources);
    EXPECT_TRUE(module);
    if (module)
      fail(*module);
    return text + testing::internal::GetCapturedStderr();
  }

  MLIRContext context;
  std::string path;
};

TEST_F(ParsingTest, ReadsAModel) {
  write("func.func private @f()");
  OwningOpRef<ModuleOp> module = parseModelFile(path, context);
  ASSERT_TRUE(module);
  EXPECT_TRUE(module->lookupSymbol("f"));
}

TEST_F(ParsingTest, DiagnosesOnceThroughTheContext) {
  write("func.func private @f()\ngarbage\n");
  std::vector<std::string> messages;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    messages.push_back(diagnostic.str());
    return success();
  });
  EXPECT_FALSE(parseModelFile(path, context, std::make_shared<llvm::SourceMgr>()));
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_NE(messages[0].find("custom op 'garbage' is unknown"), std::string::npos);
}

TEST_F(ParsingTest, LaterDiagnosticsKnowTheSource) {
  std::string text =
      printErrors([](ModuleOp module) { module.lookupSymbol("f")->emitError("too lonely"); });
  EXPECT_NE(text.find("2:1: error: too lonely"), std::string::npos) << text;
  EXPECT_NE(text.find("func.func private @f()"), std::string::npos) << text;
}

TEST_F(ParsingTest, AnErrorOnTheWholeModuleHasALine) {
  std::string text = printErrors([](ModuleOp module) { module.emitError("nothing to do"); });
  EXPECT_NE(text.find(path + ":1:1: error: nothing to do"), std::string::npos) << text;
}

TEST_F(ParsingTest, SurvivesWhatKillsTheParser) {
  std::string text;
  for (int i = 0; i < 200000; ++i)
    text += "tuple<";
  write("func.func private @f(" + text + ")");
  testing::internal::CaptureStderr();
  EXPECT_FALSE(parseModelFile(path, context));
  std::string message = testing::internal::GetCapturedStderr();
  EXPECT_NE(message.find("'" + path + "' could not be parsed: the parser died ("),
            std::string::npos)
      << message;
}

TEST_F(ParsingTest, ReportsAMissingFile) {
  testing::internal::CaptureStderr();
  EXPECT_FALSE(parseModelFile(path, context));
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "error: cannot read '" + path + "': No such file or directory\n");
}

} // namespace
