// reprise: the built-in policies, including JAX's with their names
#include "Builtins.h"

#include "reprise/Policy/Rules.h"
#include "reprise/Support/Locations.h"
#include "reprise/Support/Wording.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include <set>

using namespace mlir;

namespace reprise {

using LabelOp = std::function<std::optional<Label>(Operation *)>;
using LabelName = std::function<std::optional<Label>(StringRef)>;
using Arguments = ArrayRef<StringRef>;

namespace {

/// Names that a policy lists, each of which must be the name of a value.
struct ListedNames {
  std::vector<std::string> names;
  bool allowUnmatched = false;

  LogicalResult check(StringRef rule, const PolicyGraph &graph, Location location) const;
};

LogicalResult ListedNames::check(StringRef rule, const PolicyGraph &graph,
                                 Location location) const {
  std::set<StringRef> known;
  for (const PolicyGraph::Name &name : graph.names)
    known.insert(name.name);
  bool anyFailed = false;
  for (const std::string &name : names) {
    if (known.count(name))
      continue;
    anyFailed = !allowUnmatched;
    InFlightDiagnostic diagnostic = allowUnmatched ? emitWarning(location) : emitError(location);
    if (getFlag(location).empty())
      diagnostic << "policy '" << rule << "': ";
    diagnostic << "no value has the name '" << name << "'";
    if (std::string nearest = findNearest(name, known); !nearest.empty())
      diagnostic << ", did you mean '" << nearest << "'?";
    else if (!known.empty())
      diagnostic << ", the names of the model are " << llvm::join(known, ", ");
  }
  return failure(anyFailed);
}

/// Asks for every op and every named value by itself.
class SingleOpPolicy : public Policy {
public:
  SingleOpPolicy(std::string rule, LabelOp labelOp, LabelName labelName, ListedNames listed)
      : rule(std::move(rule)), labelOp(std::move(labelOp)), labelName(std::move(labelName)),
        listed(std::move(listed)) {}

  LogicalResult decide(const PolicyGraph &graph, Location location,
                       PolicyDecisions &decisions) const override {
    if (failed(listed.check(rule, graph, location)))
      return failure();
    auto text = StringAttr::get(location.getContext(), rule);
    for (auto [op, list] : llvm::zip_equal(graph.ops, decisions.ops))
      if (std::optional<Label> label = labelOp ? labelOp(op.op) : std::nullopt)
        list.push_back({*label, text});
    for (auto [name, list] : llvm::zip_equal(graph.names, decisions.names))
      if (std::optional<Label> label = labelName ? labelName(name.name) : std::nullopt)
        list.push_back({*label, text});
    return success();
  }

private:
  std::string rule;
  LabelOp labelOp;
  LabelName labelName;
  ListedNames listed;
};

/// Policy that saves values which one of two policies saves, and recomputes all others.
class SaveFromBoth : public Policy {
public:
  SaveFromBoth(PolicyPtr first, PolicyPtr second)
      : first(std::move(first)), second(std::move(second)) {}

  LogicalResult decide(const PolicyGraph &graph, Location location,
                       PolicyDecisions &decisions) const override {
    PolicyDecisions other(graph);
    if (failed(first->decide(graph, location, decisions)) ||
        failed(second->decide(graph, location, other)))
      return failure();
    join(decisions.ops, other.ops);
    join(decisions.names, other.names);
    return success();
  }

private:
  using Lists = std::vector<SmallVector<Decision, 1>>;

  static void join(Lists &lists, Lists &others) {
    for (auto [list, other] : llvm::zip_equal(lists, others)) {
      bool prefersOther = !other.empty() && asksToSave(other.front().label) &&
                          (list.empty() || !asksToSave(list.front().label));
      if (prefersOther || list.empty())
        std::swap(list, other);
      for (Decision decision : other)
        addDecision(list, decision);
    }
  }

  PolicyPtr first, second;
};

/// Policy that saves expensive values, except for every n-th contraction, as torchtitan's selective
/// option does.
class EveryNthContraction : public Policy {
public:
  EveryNthContraction(std::string rule, int64_t n) : rule(std::move(rule)), n(n) {}

  LogicalResult decide(const PolicyGraph &graph, Location location,
                       PolicyDecisions &decisions) const override {
    auto text = StringAttr::get(location.getContext(), rule);
    int64_t contractions = 0;
    for (auto [op, list] : llvm::zip_equal(graph.ops, decisions.ops)) {
      bool isContraction = isa<ContractionOpInterface>(op.op);
      bool saves = isContraction ? ++contractions % n != 0
                                 : isa<ConvolutionOpInterface, AttentionOpInterface>(op.op);
      list.push_back({saves ? Label::prefer_save : Label::prefer_recompute, text});
    }
    return success();
  }

private:
  std::string rule;
  int64_t n;
};

std::optional<Label> labelDots(Operation *op) {
  // Attention is two contractions around a softmax.
  bool contracts = isa<ContractionOpInterface, ConvolutionOpInterface, AttentionOpInterface>(op);
  return contracts ? Label::prefer_save : Label::prefer_recompute;
}

bool hasNoBatchDims(Operation *op) {
  auto contraction = dyn_cast<ContractionOpInterface>(op);
  return contraction && !contraction.hasBatchDims();
}

LabelOp always(Label label) {
  return [label](Operation *) { return std::optional(label); };
}

/// Makes a function that labels names in the arguments `listed`, and other names `others`.
LabelName byName(Arguments names, std::optional<Label> listed, std::optional<Label> others) {
  llvm::StringSet<> set;
  for (StringRef name : names)
    set.insert(name);
  return [set, listed, others](StringRef name) { return set.contains(name) ? listed : others; };
}

PolicyPtr single(std::string rule, LabelOp labelOp, LabelName labelName = nullptr,
                 ListedNames listed = {}) {
  return std::make_shared<SingleOpPolicy>(std::move(rule), std::move(labelOp), std::move(labelName),
                                          std::move(listed));
}

ListedNames listNames(Arguments names, const PolicyContext &context) {
  return {{names.begin(), names.end()}, context.allowUnmatchedRules};
}

std::string describe(StringRef name, Arguments arguments) {
  return (name + "(" + llvm::join(arguments, ", ") + ")").str();
}

LogicalResult expectNames(StringRef name, Arguments names, const PolicyContext &context) {
  if (!names.empty() && !llvm::is_contained(names, ""))
    return success();
  return emitError(context.location)
         << "policy '" << name << "' expects names: " << name << "(NAME, ...)";
}

/// A policy that speaks of names, and asks `ofOps` of all ops.
void addNames(PolicyRegistry &registry, StringRef name, StringRef summary, Label ofOps,
              std::optional<Label> listed, std::optional<Label> others) {
  registry.add({name.str(), summary.str(), "NAME, ...",
                [=](Arguments names, const PolicyContext &context) -> FailureOr<PolicyPtr> {
                  if (failed(expectNames(name, names, context)))
                    return failure();
                  return single(describe(name, names), always(ofOps), byName(names, listed, others),
                                listNames(names, context));
                }});
}

FailureOr<PolicyPtr> makeSaveFromBoth(Arguments arguments, const PolicyContext &context) {
  if (arguments.size() != 2)
    return emitError(context.location)
           << "policy 'save_from_both_policies' expects 2 policies but got " << arguments.size();
  FailureOr<PolicyPtr> first = parsePolicy(arguments[0], context);
  FailureOr<PolicyPtr> second = parsePolicy(arguments[1], context);
  if (failed(first) || failed(second))
    return failure();
  return PolicyPtr(std::make_shared<SaveFromBoth>(*first, *second));
}

FailureOr<PolicyPtr> makeEveryNth(Arguments arguments, const PolicyContext &context) {
  int64_t n = 0;
  if (arguments.size() != 1 || arguments[0].getAsInteger(10, n) || n < 1)
    return emitError(context.location)
           << "policy 'every-nth-contraction' expects a positive number";
  return PolicyPtr(
      std::make_shared<EveryNthContraction>(describe("every-nth-contraction", arguments), n));
}

/// Names to save; after a semicolon, names to offload.
FailureOr<PolicyPtr> makeSaveAndOffload(Arguments arguments, const PolicyContext &context) {
  StringRef name = "save_and_offload_only_these_names";
  SmallVector<StringRef> saved, offloaded;
  bool behind = false;
  for (StringRef argument : arguments) {
    auto [before, after] = argument.split(';');
    (behind ? offloaded : saved).push_back(before.trim());
    if (!argument.contains(';'))
      continue;
    if (behind || after.contains(';'))
      return emitError(context.location)
             << "policy '" << name
             << "' expects one ';', between names to save and names to offload";
    behind = true;
    offloaded.push_back(after.trim());
  }
  llvm::erase(saved, "");
  llvm::erase(offloaded, "");
  if (!behind || (saved.empty() && offloaded.empty()))
    return emitError(context.location)
           << "policy '" << name << "' expects names: " << name << "(SAVED, ...; OFFLOADED, ...)";
  LabelName save = byName(saved, Label::prefer_save, std::nullopt);
  LabelName offload = byName(offloaded, Label::prefer_offload, std::nullopt);
  auto labelName = [=](StringRef value) {
    std::optional<Label> label = save(value);
    return label ? label : offload(value);
  };
  llvm::append_range(saved, offloaded);
  return single(describe(name, arguments), always(Label::prefer_recompute), labelName,
                listNames(saved, context));
}

} // namespace

PolicyPtr makeSingleOpPolicy(std::string rule, LabelOp labelOp, LabelName labelName) {
  return single(std::move(rule), std::move(labelOp), std::move(labelName));
}

static void addJaxNames(PolicyRegistry &registry) {
  addNames(registry, "save_only_these_names", "save the values of these names only",
           Label::prefer_recompute, Label::prefer_save, std::nullopt);
  addNames(registry, "save_any_names_but_these", "save all named values except these",
           Label::prefer_recompute, Label::prefer_recompute, Label::prefer_save);
  addNames(registry, "save_anything_except_these_names",
           "save all values except those of these names", Label::prefer_save,
           Label::prefer_recompute, std::nullopt);
  registry.add({"save_and_offload_only_these_names", "save some named values, offload others",
                "SAVED, ...; OFFLOADED, ...", makeSaveAndOffload});
  registry.add({"save_from_both_policies", "save what either of two policies saves",
                "POLICY, POLICY", makeSaveFromBoth});
}

void addBuiltins(PolicyRegistry &registry) {
  for (const char *name : {"save-all", "everything_saveable"})
    registry.add(name, "save all values that the backward pass reads", always(Label::prefer_save));
  for (const char *name : {"recompute-all", "nothing_saveable"})
    registry.add(name, "save the inputs of blocks, recompute the rest",
                 always(Label::prefer_recompute));
  for (const char *name : {"dots-saveable", "dots_saveable", "checkpoint_dots"})
    registry.add(name, "save contractions, convolutions and attention, recompute the rest",
                 labelDots);
  for (const char *name :
       {"dots_with_no_batch_dims_saveable", "checkpoint_dots_with_no_batch_dims"})
    registry.add(name, "save contractions without batch dimensions", [](Operation *op) {
      return std::optional(hasNoBatchDims(op) ? Label::prefer_save : Label::prefer_recompute);
    });
  registry.add("offload_dot_with_no_batch_dims", "offload contractions without batch dimensions",
               [](Operation *op) {
                 return std::optional(hasNoBatchDims(op) ? Label::prefer_offload
                                                         : Label::prefer_recompute);
               });
  addJaxNames(registry);
  registry.add(
      {"every-nth-contraction", "save all contractions except every n-th", "N", makeEveryNth});
}

} // namespace reprise
