// reprise: differentiation takes time in proportion to the number of ops.
#include "mlir/Pass/PassManager.h"
#include "reprise/Dialect/Reprise/Transforms/Passes.h"
#include "reprise/InitAll.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace reprise;

namespace {

/// Builds d/dx of x·x·x·…: a chain of `count` multiplications, each of which reads x.
OwningOpRef<ModuleOp> buildChain(MLIRContext &context, int64_t count) {
  ImplicitLocOpBuilder b(UnknownLoc::get(&context), &context);
  OwningOpRef<ModuleOp> module(ModuleOp::create(b));
  b.setInsertionPointToStart(module->getBody());
  auto type = RankedTensorType::get({}, b.getF32Type());
  auto function = func::FuncOp::create(b, "f", b.getFunctionType(type, {type, type}));
  Block *entry = function.addEntryBlock();
  b.setInsertionPointToStart(entry);
  auto derivative =
      ValueAndGradOp::create(b, TypeRange{type, type}, FlatSymbolRefAttr(), entry->getArguments(),
                             b.getDenseI64ArrayAttr({0}), b.getDenseI64ArrayAttr({0}));
  func::ReturnOp::create(b, derivative.getResults());
  Value x = derivative.getBody().emplaceBlock().addArgument(type, b.getLoc()), power = x;
  b.setInsertionPointToStart(&derivative.getBody().front());
  for (int64_t i = 0; i < count; ++i)
    power = MulOp::create(b, power, x);
  YieldOp::create(b, power);
  return module;
}

// A pass that is quadratic anywhere needs hours for this one.
TEST(Differentiate, HundredThousandOps) {
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  const int64_t count = 100000;
  OwningOpRef<ModuleOp> module = buildChain(context, count);
  PassManager manager(&context);
  manager.addPass(createDifferentiatePass());
  ASSERT_TRUE(succeeded(manager.run(*module)));
  auto function = module->lookupSymbol<func::FuncOp>("f");
  // The chain; a seed, two products for each of its ops and the sums of x's cotangents; the return.
  int64_t operations = count + 1 + 2 * count + count + 1;
  EXPECT_EQ(static_cast<int64_t>(function.getBody().front().getOperations().size()), operations);
}

} // namespace
