// reprise: the MLIR behind the C API's handles
#include "reprise-c/ReprisePrivateMlir.h"

#include "mlir/CAPI/IR.h"
#include "mlir/Parser/Parser.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include <gtest/gtest.h>

using namespace mlir;

namespace {

constexpr const char *kStep = R"(
func.func @train(%x: tensor<4xf32> {reprise.role = "input", reprise.name = "x", reprise.init = #reprise.fill<1.0>})
    -> (tensor<4xf32> {reprise.name = "y"}) {
  %y = reprise.add %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
})";

class PrivateMlir : public testing::Test {
protected:
  void SetUp() override { ASSERT_EQ(reprise_session_create(&session), nullptr); }
  void TearDown() override { reprise_session_destroy(session); }

  reprise_session *session = nullptr;
};

TEST_F(PrivateMlir, TheContextHasTheDialect) {
  MLIRContext *context = unwrap(reprise_private_mlir_context(session));
  EXPECT_NE(context->getLoadedDialect<reprise::RepriseDialect>(), nullptr);
}

TEST_F(PrivateMlir, TheModuleIsThatOfTheHandle) {
  reprise_module *module = nullptr;
  ASSERT_EQ(reprise_module_parse(session, kStep, strlen(kStep), "m.mlir", &module), nullptr);
  ModuleOp mlir = unwrap(reprise_private_mlir_module(module));
  mlir.lookupSymbol("train")->setAttr("seen", UnitAttr::get(mlir.getContext()));
  EXPECT_NE(strstr(reprise_module_text(module), "seen"), nullptr);
  reprise_module_destroy(module);
}

TEST_F(PrivateMlir, AModuleIsTakenAndCompiled) {
  MLIRContext *context = unwrap(reprise_private_mlir_context(session));
  ModuleOp mlir = parseSourceString<ModuleOp>(kStep, context).release();
  reprise_module *module = nullptr;
  reprise_compilation *compilation = nullptr;
  ASSERT_EQ(reprise_private_mlir_take(session, wrap(mlir), &module), nullptr);
  EXPECT_EQ(reprise_compile(module, nullptr, &compilation), nullptr);
  reprise_compilation_destroy(compilation);
  reprise_module_destroy(module);
}

TEST_F(PrivateMlir, AModuleOfAnotherContextIsRefused) {
  MLIRContext other;
  OwningOpRef<ModuleOp> mlir = ModuleOp::create(UnknownLoc::get(&other));
  reprise_module *module = nullptr;
  reprise_error *error = reprise_private_mlir_take(session, wrap(*mlir), &module);
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(reprise_error_get_code(error), REPRISE_BAD_USAGE);
  EXPECT_EQ(module, nullptr);
  reprise_error_destroy(error);
}

} // namespace
