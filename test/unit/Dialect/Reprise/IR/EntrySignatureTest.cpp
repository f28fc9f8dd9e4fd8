// reprise: tests of the attributes of an entry function
#include "reprise/Dialect/Reprise/IR/EntrySignature.h"

#include "mlir/Parser/Parser.h"
#include "reprise/InitAll.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace reprise;

namespace {

class EntrySignatureTest : public ::testing::Test {
protected:
  EntrySignatureTest() {
    DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  EntrySignature read(StringRef text) {
    module = parseSourceString<ModuleOp>(text, &context);
    entry = *module->getOps<func::FuncOp>().begin();
    return EntrySignature(entry);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  func::FuncOp entry;
};

constexpr const char *kStep = R"(
func.func @train(%x: tensor<2x3xf32> {reprise.role = "input", reprise.name = "x", reprise.batch_dim = 0},
                 %w: tensor<3xf32> {reprise.role = "parameter", reprise.name = "w",
                                    reprise.init = #reprise.fill<1.0>},
                 %plain: tensor<f32>)
    -> (tensor<f32> {reprise.name = "loss"}, tensor<3xf32> {reprise.name = "w"},
        tensor<f32> {reprise.check = "original"},
        tensor<f32> {reprise.check = "replay", reprise.replay_of = 2}) {
  return %plain, %w, %plain, %plain : tensor<f32>, tensor<3xf32>, tensor<f32>, tensor<f32>
})";

TEST_F(EntrySignatureTest, ReadsArguments) {
  EntrySignature signature = read(kStep);
  EXPECT_EQ(signature.getArgumentName(1).getValue(), "w");
  EXPECT_EQ(signature.getRole(0), "input");
  EXPECT_EQ(signature.getRole(1), "parameter");
  EXPECT_EQ(signature.getBatchDim(0), 0);
  EXPECT_EQ(signature.getBatchDim(1), std::nullopt);
  EXPECT_TRUE(signature.getInit(1));
  EXPECT_FALSE(signature.getInit(0));
}

TEST_F(EntrySignatureTest, WhatIsNotSaidIsMissing) {
  EntrySignature signature = read(kStep);
  EXPECT_FALSE(signature.getArgumentName(2));
  EXPECT_EQ(signature.getRole(2), "");
  EXPECT_FALSE(signature.getResultName(2));
}

TEST_F(EntrySignatureTest, ReadsReplaysThatAreCompared) {
  EntrySignature signature = read(kStep);
  EXPECT_FALSE(signature.getCheck(0));
  EXPECT_EQ(signature.getCheck(3).getValue(), "replay");
  EXPECT_EQ(signature.getReplayOf(2), std::nullopt);
  EXPECT_EQ(signature.getReplayOf(3), 2);
}

TEST_F(EntrySignatureTest, AResultReplacesTheArgumentOfItsName) {
  EntrySignature signature = read(kStep);
  EXPECT_EQ(signature.getReplacedArguments(), ArrayRef<int64_t>({-1, 1, -1, -1}));
  Operation *end = entry.getBody().front().getTerminator();
  EXPECT_FALSE(signature.isNextValue(end->getOpOperand(0)));
  EXPECT_TRUE(signature.isNextValue(end->getOpOperand(1)));
}

/// Missing names are not one name.
TEST_F(EntrySignatureTest, WithoutNamesNothingIsReplaced) {
  EntrySignature signature = read(R"(
func.func @f(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
})");
  EXPECT_EQ(signature.getReplacedArguments(), ArrayRef<int64_t>({-1}));
}

} // namespace
