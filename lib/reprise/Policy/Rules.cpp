// reprise: rule sets: matching of rules, in order
#include "reprise/Policy/Rules.h"

#include "reprise/Support/Locations.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace reprise {

static bool matchesName(const Glob &glob, OperationName name) {
  return glob.match(name.getStringRef()) || glob.match(name.stripDialect());
}

static std::string printed(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << getElementTypeOrSelf(type);
  return text;
}

namespace {

/// Matcher of one rule. Conditions that depend only on an op's name, scope or type are evaluated
/// once.
class Matcher {
public:
  Matcher(const Selector &selector, const PolicyGraph &graph)
      : selector(selector), graph(graph), scopes(graph.scopes.size(), -1) {}

  /// The indices of the ops, or of the named values if the rule has a name, that match all keys.
  SmallVector<unsigned> run() {
    SmallVector<unsigned> found;
    if (selector.name) {
      for (unsigned i = 0; i < graph.names.size(); ++i)
        if (matchesNamed(graph.names[i]))
          found.push_back(i);
    } else {
      for (unsigned i = 0; i < graph.ops.size(); ++i)
        if (matchesOp(graph.ops[i], graph.ops[i].bytes, graph.ops[i].op->getResult(0).getType()))
          found.push_back(i);
    }
    return count(found);
  }

private:
  bool matchesNamed(const PolicyGraph::Name &named) {
    if (!selector.name->match(named.name))
      return false;
    if (named.op)
      return matchesOp(graph.ops[*named.op], named.bytes, named.value.getType());
    // An argument has a type, but no op.
    bool asksForOp = selector.op || selector.kind || selector.scope || selector.flops;
    return !asksForOp && matchesValue(named.bytes, named.value.getType());
  }

  bool matchesValue(int64_t bytes, Type type) {
    if (selector.bytes && !selector.bytes->holds(bytes))
      return false;
    if (selector.dtype.empty())
      return true;
    auto [known, isNew] = types.try_emplace(getElementTypeOrSelf(type));
    if (isNew)
      known->second = printed(type) == selector.dtype;
    return known->second;
  }

  bool matchesOp(const PolicyGraph::Op &op, int64_t bytes, Type type) {
    if (selector.op) {
      auto [known, isNew] = names.try_emplace(op.op->getName());
      if (isNew)
        known->second = matchesName(*selector.op, op.op->getName());
      if (!known->second)
        return false;
    }
    if (selector.scope) {
      int8_t &known = scopes[op.scope];
      if (known < 0)
        known = selector.scope->match(graph.scopes[op.scope]);
      if (!known)
        return false;
    }
    return (!selector.kind || isOfKind(op.op, *selector.kind)) &&
           (!selector.flops || selector.flops->holds(op.flops)) && matchesValue(bytes, type);
  }

  SmallVector<unsigned> count(ArrayRef<unsigned> found) const {
    SmallVector<unsigned> kept;
    int64_t size = found.size();
    for (int64_t i = 0; i < size; ++i)
      if ((i + 1) % selector.every == 0 && i < selector.first && size - i <= selector.last)
        kept.push_back(found[i]);
    return kept;
  }

  const Selector &selector;
  const PolicyGraph &graph;
  DenseMap<OperationName, bool> names;
  DenseMap<Type, bool> types;
  SmallVector<int8_t> scopes; ///< -1: not decided yet
};

} // namespace

InFlightDiagnostic emitPolicyError(Location location, const Twine &shown) {
  InFlightDiagnostic error = emitError(location);
  if (getFlag(location).empty())
    error << shown << " ";
  return error;
}

void addDecision(SmallVectorImpl<Decision> &decisions, Decision decision) {
  bool isNews = llvm::none_of(decisions, [&](Decision d) { return d.label == decision.label; });
  if (decisions.empty() || (isMust(decision.label) && isNews))
    decisions.push_back(decision);
}

/// Appends the decisions of another policy.
static void append(std::vector<SmallVector<Decision, 1>> &lists,
                   const std::vector<SmallVector<Decision, 1>> &others) {
  for (auto [list, other] : llvm::zip_equal(lists, others))
    for (Decision decision : other)
      addDecision(list, decision);
}

LogicalResult RuleSet::apply(const Rule &rule, const PolicyGraph &graph,
                             PolicyDecisions &decisions) const {
  if (rule.policy) {
    PolicyDecisions made(graph);
    if (failed(rule.policy->decide(graph, rule.location, made)))
      return failure();
    append(decisions.ops, made.ops);
    append(decisions.names, made.names);
    return success();
  }
  SmallVector<unsigned> matches = Matcher(rule.match, graph).run();
  if (matches.empty()) {
    InFlightDiagnostic diagnostic =
        allowUnmatched ? emitWarning(rule.location) : emitError(rule.location);
    diagnostic << "the rule matches no op";
    return success(allowUnmatched);
  }
  Decision decision{rule.label, StringAttr::get(rule.location.getContext(), rule.text)};
  auto &list = rule.match.name ? decisions.names : decisions.ops;
  for (unsigned i : matches)
    addDecision(list[i], decision);
  return success();
}

LogicalResult RuleSet::decide(const PolicyGraph &graph, Location location,
                              PolicyDecisions &decisions) const {
  bool anyFailed = false;
  for (const Rule &rule : rules)
    anyFailed |= failed(apply(rule, graph, decisions));
  if (fallback)
    for (SmallVector<Decision, 1> &list : decisions.ops)
      addDecision(list, {fallback->label, StringAttr::get(location.getContext(), fallback->text)});
  return success(!anyFailed);
}

} // namespace reprise
