// reprise: tests of policies and of how labels compose
#include "reprise/Policy/Policy.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "reprise/Dialect/Reprise/Transforms/Passes.h"
#include "reprise/InitAll.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace reprise;

namespace {

class PolicyTest : public ::testing::Test {
protected:
  PolicyTest() {
    DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  OwningOpRef<ModuleOp> parse(StringRef text) {
    return parseSourceString<ModuleOp>(text, &context);
  }

  /// The label that a built-in policy gives the first op of the module that has a result.
  std::optional<Label> ask(StringRef policy, StringRef op) {
    module = parse(
        ("func.func @f(%x: tensor<4x4xf32>, %q: tensor<1x1x4x4xf32>) { " + op + " return }").str());
    if (!module)
      return std::nullopt;
    Operation &first = (*module->getOps<func::FuncOp>().begin()).getBody().front().front();
    return decide(policy, &first);
  }

  std::optional<Label> decide(StringRef policy, Operation *op) {
    Location location = UnknownLoc::get(&context);
    FailureOr<PolicyPtr> parsed = parsePolicy(policy, {location});
    PolicyGraph graph = PolicyGraph::build(op, {});
    PolicyDecisions decisions(graph);
    if (failed(parsed) || failed((*parsed)->decide(graph, location, decisions)) ||
        decisions.ops[0].empty())
      return std::nullopt;
    return decisions.ops[0].front().label;
  }

  LabelSource source(Label label, const char *rule) {
    return {label, StringAttr::get(&context, rule), UnknownLoc::get(&context)};
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

constexpr const char *kDot = "%0 = reprise.dot_general %x, %x contracting [1] x [0] : "
                             "(tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>";
constexpr const char *kExp = "%0 = reprise.exp %x : tensor<4x4xf32>";
constexpr const char *kAttention =
    "%0, %1 = reprise.attention %q, %q, %q {scale = 1.0 : f32} : (tensor<1x1x4x4xf32>, "
    "tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) -> (tensor<1x1x4x4xf32>, tensor<1x1x4xf32>)";
constexpr const char *kArgmax = "%0 = reprise.argmax %x dim 1 : (tensor<4x4xf32>) -> tensor<4xi32>";

TEST_F(PolicyTest, BuiltInPoliciesPrefer) {
  for (const char *op : {kDot, kExp, kAttention, kArgmax}) {
    EXPECT_EQ(ask("save-all", op), Label::prefer_save);
    EXPECT_EQ(ask("recompute-all", op), Label::prefer_recompute);
  }
  EXPECT_EQ(ask("dots-saveable", kDot), Label::prefer_save);
  EXPECT_EQ(ask("dots-saveable", kAttention), Label::prefer_save);
  EXPECT_EQ(ask("dots-saveable", kExp), Label::prefer_recompute);
  EXPECT_EQ(ask("dots-saveable", kArgmax), Label::prefer_recompute);
}

TEST_F(PolicyTest, RegistryKeepsTheFirstOfAName) {
  PolicyRegistry registry;
  EXPECT_TRUE(registry.add("b", "", nullptr));
  EXPECT_TRUE(registry.add("a", "first", nullptr));
  EXPECT_FALSE(registry.add("a", "second", nullptr));
  EXPECT_EQ(registry.find("a")->summary, "first");
  EXPECT_EQ(registry.find("c"), nullptr);
  EXPECT_EQ(registry.names().size(), PolicyRegistry().names().size() + 2);
}

TEST_F(PolicyTest, ContextsHavePoliciesOfTheirOwn) {
  MLIRContext other(context.getDialectRegistry());
  other.loadAllAvailableDialects();
  PolicyRegistry::of(&context).add("of-this-context", "", nullptr);
  EXPECT_TRUE(PolicyRegistry::of(&context).find("of-this-context"));
  EXPECT_FALSE(PolicyRegistry::of(&other).find("of-this-context"));
  EXPECT_TRUE(PolicyRegistry::of(&other).find("save-all"));
}

TEST_F(PolicyTest, InnermostPreferWins) {
  std::optional<std::pair<LabelSource, LabelSource>> clash;
  std::vector<LabelSource> sources = {source(Label::prefer_recompute, "op"),
                                      source(Label::prefer_save, "checkpoint")};
  EXPECT_EQ(resolveLabels(sources, clash)->rule.getValue(), "op");
  EXPECT_EQ(resolveLabels({}, clash), nullptr);
  EXPECT_FALSE(clash);
}

TEST_F(PolicyTest, MustOutranksInnerPrefer) {
  std::optional<std::pair<LabelSource, LabelSource>> clash;
  std::vector<LabelSource> sources = {
      source(Label::prefer_recompute, "op"), source(Label::must_save, "policy a"),
      source(Label::must_save, "policy b"), source(Label::prefer_save, "intrinsic")};
  EXPECT_EQ(resolveLabels(sources, clash)->rule.getValue(), "policy a");
  EXPECT_FALSE(clash);
}

TEST_F(PolicyTest, DifferentMustsClash) {
  for (Label other : {Label::must_recompute, Label::must_offload}) {
    std::optional<std::pair<LabelSource, LabelSource>> clash;
    std::vector<LabelSource> sources = {source(Label::prefer_save, "op"),
                                        source(Label::must_save, "policy a"),
                                        source(other, "policy b")};
    EXPECT_EQ(resolveLabels(sources, clash), nullptr);
    ASSERT_TRUE(clash);
    EXPECT_EQ(clash->first.rule.getValue(), "policy a");
    EXPECT_EQ(clash->second.rule.getValue(), "policy b");
  }
}

/// The attribute of the first op of `name` after the label phase under `policies`.
Attribute labelled(ModuleOp module, std::vector<std::string> policies, StringRef name,
                   StringRef attribute) {
  AssignLabelsPassOptions options;
  options.policies.assign(policies.begin(), policies.end());
  PassManager manager(module.getContext());
  manager.addPass(createAssignLabelsPass(options));
  if (failed(manager.run(module)))
    return {};
  Attribute result;
  module.walk([&](Operation *op) {
    if (op->getName().getStringRef() == name && !result)
      result = op->getAttr(attribute);
  });
  return result;
}

TEST_F(PolicyTest, PolicyMatchesANameInsideAllElse) {
  PolicyRegistry::of(&context).add("test-keep-hidden", "", nullptr, [](StringRef name) {
    return name == "hidden" ? std::optional(Label::prefer_save) : std::nullopt;
  });
  module = parse(R"mlir(
    func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      %a = reprise.exp %x {reprise.label = #reprise.label<prefer_recompute>} : tensor<4xf32>
      %b = reprise.name %a "hidden" : tensor<4xf32>
      return %b : tensor<4xf32>
    })mlir");
  auto rule = dyn_cast_or_null<StringAttr>(
      labelled(*module, {"recompute-all", "test-keep-hidden"}, "reprise.exp", "reprise.rule"));
  ASSERT_TRUE(rule);
  EXPECT_EQ(rule.getValue(), "name hidden by test-keep-hidden");
}

TEST_F(PolicyTest, CheckpointsPolicyMatchesTheNamesInside) {
  PolicyRegistry::of(&context).add("test-drop-hidden", "", nullptr, [](StringRef name) {
    return name == "hidden" ? std::optional(Label::prefer_recompute) : std::nullopt;
  });
  module = parse(R"mlir(
    func.func @f(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
      %inside = reprise.checkpoint policy "test-drop-hidden" {
        %a = reprise.exp %x : tensor<4xf32>
        %b = reprise.name %a "hidden" : tensor<4xf32>
        reprise.yield %b : tensor<4xf32>
      } : tensor<4xf32>
      %c = reprise.log %x : tensor<4xf32>
      %outside = reprise.name %c "hidden" : tensor<4xf32>
      return %inside, %outside : tensor<4xf32>, tensor<4xf32>
    })mlir");
  // The checkpoint's policy precedes the policies of the command line, and ends with the
  // checkpoint.
  auto label =
      dyn_cast_or_null<LabelAttr>(labelled(*module, {"save-all"}, "reprise.exp", "reprise.label"));
  ASSERT_TRUE(label);
  EXPECT_EQ(label.getValue(), Label::prefer_recompute);
  module->walk([&](LogOp op) {
    EXPECT_EQ(op->getAttrOfType<LabelAttr>("reprise.label").getValue(), Label::prefer_save);
  });
}

TEST_F(PolicyTest, FirstPolicyWins) {
  const char *text = "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> { %a = reprise.exp %x : "
                     "tensor<4xf32> return %a : tensor<4xf32> }";
  for (auto [first, second] :
       {std::pair("save-all", "recompute-all"), std::pair("recompute-all", "save-all")}) {
    module = parse(text);
    auto rule = dyn_cast_or_null<StringAttr>(
        labelled(*module, {first, second}, "reprise.exp", "reprise.rule"));
    ASSERT_TRUE(rule);
    EXPECT_EQ(rule.getValue(), ("policy " + Twine(first)).str());
  }
}

} // namespace
