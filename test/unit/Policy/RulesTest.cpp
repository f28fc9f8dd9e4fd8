// reprise: tests of rule sets: matches, counts, and the winning rule
#include "reprise/Policy/Rules.h"

#include "mlir/Parser/Parser.h"
#include "reprise/InitAll.h"
#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using namespace reprise;

namespace {

bool matchesPath(StringRef glob, StringRef path) {
  return llvm::cantFail(PathGlob::create(glob)).match(path);
}

TEST(PathGlob, Segments) {
  EXPECT_TRUE(matchesPath("layer/*/mlp", "layer/3/mlp"));
  EXPECT_FALSE(matchesPath("layer/*/mlp", "layer/3/a/mlp"));
  EXPECT_FALSE(matchesPath("layer/1", "layer/11"));
  EXPECT_TRUE(matchesPath("layer/[0-5]", "layer/5"));
  EXPECT_FALSE(matchesPath("layer/[0-5]", "layer/6"));
  EXPECT_TRUE(matchesPath("layer/{1,12}", "layer/12"));
  EXPECT_FALSE(matchesPath("*", "a/b"));
  EXPECT_TRUE(matchesPath("*", ""));
}

TEST(PathGlob, AnyNumberOfSegments) {
  for (StringRef path : {"layer/3", "layer/3/mlp", "layer/3/mlp/gelu"})
    EXPECT_TRUE(matchesPath("layer/3/**", path)) << path.str();
  EXPECT_FALSE(matchesPath("layer/3/**", "layer/4/mlp"));
  EXPECT_TRUE(matchesPath("**/mlp", "mlp"));
  EXPECT_TRUE(matchesPath("**/mlp", "layer/3/mlp"));
  EXPECT_TRUE(matchesPath("a/**/b/**/c", "a/b/x/y/c"));
  EXPECT_FALSE(matchesPath("a/**/b/**/c", "a/x/y/c"));
  EXPECT_TRUE(matchesPath("**", ""));
}

bool holds(StringRef comparison, int64_t number) {
  return llvm::cantFail(Comparison::create(comparison)).holds(number);
}

TEST(Comparison, OperatorsAndUnits) {
  EXPECT_TRUE(holds(">=1MiB", 1 << 20));
  EXPECT_FALSE(holds(">1MiB", 1 << 20));
  EXPECT_TRUE(holds("< 2 KiB", 2047));
  EXPECT_FALSE(holds("<2KiB", 2048));
  EXPECT_TRUE(holds(">=1 MB", 1000000));
  EXPECT_FALSE(holds(">=1MB", 999999));
  EXPECT_TRUE(holds("<=3k", 3000));
  EXPECT_TRUE(holds("64", 64));
  EXPECT_TRUE(holds("==64B", 64));
  EXPECT_TRUE(holds(">1.5G", 1'500'000'001));
  EXPECT_FALSE(holds(">=1e3", 999));
}

TEST(Comparison, RefusesOtherTexts) {
  for (StringRef text : {"", ">=", "1 PB", "=>1", "-1", "nan", "inf", "1 2", "x"})
    EXPECT_FALSE(llvm::expectedToOptional(Comparison::create(text))) << text.str();
}

class RulesTest : public ::testing::Test {
protected:
  RulesTest() {
    DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// Builds a function with four scopes, four kinds of ops, two dtypes, and a name for every third
  /// value.
  void build(int64_t count) {
    std::string text = "func.func @f(%x: tensor<8x8xf32>, %h: tensor<8x8xf16>) {\n";
    std::vector<std::string> named;
    for (int64_t i = 0; i < count; ++i) {
      std::string value = "%" + std::to_string(i),
                  scope = " loc(\"layer/" + std::to_string(random() % 4) + "/" +
                          (random() % 2 ? "mlp" : "attention") + "\")\n";
      bool half = random() % 3 == 0;
      std::string type = half ? "tensor<8x8xf16>" : "tensor<8x8xf32>", x = half ? "%h" : "%x";
      switch (random() % 4) {
      case 0:
        text += value + " = reprise.exp " + x + " : " + type;
        break;
      case 1:
        text += value + " = reprise.dot_general " + x + ", " + x + " contracting [1] x [0] : (" +
                type + ", " + type + ") -> " + type;
        break;
      case 2:
        text += value + " = reprise.softmax " + x + " : " + type;
        break;
      default:
        text += value + " = reprise.slice " + x + " from [0, 0] to [4, 8] by [1, 1] : (" + type +
                ") -> tensor<4x8x" + (half ? "f16>" : "f32>");
      }
      text += scope;
    }
    module = parseSourceString<ModuleOp>(text + "return }", &context);
    ASSERT_TRUE(module);
    std::vector<Operation *> ops;
    std::vector<PolicyGraph::Name> names;
    module->walk([&](Operation *op) {
      if (op->getNumResults() == 0)
        return;
      ops.push_back(op);
      if (ops.size() % 3 == 0)
        names.push_back({"v" + std::to_string(random() % 5), op->getResult(0), std::nullopt, 0});
    });
    graph = PolicyGraph::build(ops, names);
  }

  PolicyDecisions decide(std::vector<Rule> rules, std::optional<Rule> fallback = std::nullopt) {
    PolicyDecisions decisions(graph);
    RuleSet set(std::move(rules), std::move(fallback), /*allowUnmatched=*/true);
    EXPECT_TRUE(succeeded(set.decide(graph, UnknownLoc::get(&context), decisions)));
    return decisions;
  }

  Rule rule(Label label, StringRef text) {
    return {{}, label, UnknownLoc::get(&context), text.str()};
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  PolicyGraph graph;
  std::mt19937 random{7};
};

/// Selector that is evaluated key by key, without a cache.
struct NaiveRule {
  std::string op, scope, kind, dtype, name;
  int64_t least = -1, every = 1, first = 1 << 30, last = 1 << 30;

  bool matches(const PolicyGraph &graph, const PolicyGraph::Op &entry, Type type,
               int64_t bytes) const {
    StringRef own = entry.op->getName().stripDialect();
    std::string element;
    llvm::raw_string_ostream(element) << getElementTypeOrSelf(type);
    bool ofKind = kind.empty() || (kind == "contraction" && own == "dot_general") ||
                  (kind == "normalization" && own == "softmax") ||
                  (kind == "elementwise" && own == "exp");
    return (op.empty() || own == op) &&
           (scope.empty() || StringRef(graph.scopes[entry.scope]).starts_with(scope)) && ofKind &&
           (dtype.empty() || element == dtype) && bytes >= least;
  }

  std::set<unsigned> run(const PolicyGraph &graph) const {
    std::vector<unsigned> all;
    for (unsigned i = 0; name.empty() && i < graph.ops.size(); ++i)
      if (matches(graph, graph.ops[i], graph.ops[i].op->getResult(0).getType(), graph.ops[i].bytes))
        all.push_back(i);
    for (unsigned i = 0; !name.empty() && i < graph.names.size(); ++i)
      if (const PolicyGraph::Name &named = graph.names[i];
          named.name == name &&
          matches(graph, graph.ops[*named.op], named.value.getType(), named.bytes))
        all.push_back(i);
    std::set<unsigned> kept;
    for (int64_t i = 0, size = all.size(); i < size; ++i)
      if ((i + 1) % every == 0 && i < first && i >= size - last)
        kept.insert(all[i]);
    return kept;
  }

  Selector selector() const {
    Selector made;
    if (!op.empty())
      made.op = llvm::cantFail(Glob::create(op));
    if (!name.empty())
      made.name = llvm::cantFail(Glob::create(name));
    if (!scope.empty())
      made.scope = llvm::cantFail(PathGlob::create(scope + "/**"));
    if (!kind.empty())
      made.kind = parseOpKind(kind);
    if (least >= 0)
      made.bytes = llvm::cantFail(Comparison::create(">=" + std::to_string(least)));
    made.dtype = dtype;
    made.every = every, made.first = first, made.last = last;
    return made;
  }
};

TEST_F(RulesTest, MatchWhatANaiveMatcherMatches) {
  build(200);
  auto some = [&](std::vector<std::string> texts) {
    return random() % 2 ? "" : texts[random() % texts.size()];
  };
  size_t matched = 0;
  for (int i = 0; i < 500; ++i) {
    NaiveRule naive;
    naive.op = some({"exp", "softmax", "slice"});
    naive.scope = some({"layer/0", "layer/1", "layer/2/mlp"});
    naive.kind = some({"contraction", "normalization", "elementwise"});
    naive.dtype = some({"f16", "f32"});
    naive.name = some({"v0", "v1", "v4"});
    naive.least = random() % 2 ? -1 : int64_t(64 << random() % 3);
    naive.every = 1 + random() % 3;
    naive.first = random() % 2 ? 1 + random() % 10 : 1 << 30;
    naive.last = random() % 2 ? 1 + random() % 10 : 1 << 30;
    Rule made = rule(Label::prefer_save, "rule");
    made.match = naive.selector();
    PolicyDecisions decisions = decide({made});
    std::set<unsigned> expected = naive.run(graph), got;
    auto &lists = naive.name.empty() ? decisions.ops : decisions.names;
    for (unsigned j = 0; j < lists.size(); ++j)
      if (!lists[j].empty())
        got.insert(j);
    EXPECT_EQ(got, expected);
    matched += !expected.empty();
  }
  EXPECT_GT(matched, 100u);
}

TEST_F(RulesTest, FirstRuleWinsAndMustsRemain) {
  build(20);
  PolicyDecisions decisions = decide(
      {rule(Label::prefer_save, "a"), rule(Label::prefer_recompute, "b"),
       rule(Label::must_save, "c"), rule(Label::must_save, "d"), rule(Label::must_recompute, "e")},
      rule(Label::prefer_recompute, "default"));
  for (const auto &list : decisions.ops) {
    ASSERT_EQ(list.size(), 3u);
    EXPECT_EQ(list[0].rule.getValue(), "a");
    EXPECT_EQ(list[1].rule.getValue(), "c");
    EXPECT_EQ(list[2].rule.getValue(), "e");
  }
}

TEST_F(RulesTest, DefaultIsForOpsThatNoRuleMatches) {
  build(20);
  Rule contraction = rule(Label::prefer_save, "a");
  contraction.match.kind = OpKind::Contraction;
  PolicyDecisions decisions = decide({contraction}, rule(Label::prefer_recompute, "default"));
  for (auto [op, list] : llvm::zip(graph.ops, decisions.ops))
    EXPECT_EQ(list.front().rule.getValue(), isa<DotGeneralOp>(op.op) ? "a" : "default");
  for (const auto &list : decisions.names)
    EXPECT_TRUE(list.empty());
}

} // namespace
