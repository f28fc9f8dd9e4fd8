// reprise: evaluates the policies and flattens blocks.
#include "reprise/Dialect/Reprise/Transforms/Passes.h"

#include "MemoryLabels.h"
#include "Plan.h"
#include "reprise/Policy/Rules.h"
#include <map>

using namespace mlir;

namespace reprise {
#define GEN_PASS_DEF_ASSIGNLABELSPASS
#include "reprise/Dialect/Reprise/Transforms/Passes.h.inc"

namespace {

/// A `reprise.name` that is gone; its label, if any, belongs to the value.
struct Alias {
  std::string name;
  std::optional<Label> label;
  int checkpoint;  ///< innermost checkpoint around the name, -1 outside all
  unsigned number; ///< index into `names`
  Location location;
};
using AliasMap = DenseMap<Value, SmallVector<Alias, 1>>;

/// Labels sit on ops with results that a plan can keep.
LogicalResult checkLabels(ModuleOp module) {
  WalkResult result = module.walk([](Operation *op) {
    bool hasValue = op->getNumResults() != 0 && op->getNumRegions() == 0;
    if (op->hasAttr(kLabelAttr) && op->getParentOfType<CustomVjpOp>()) {
      op->emitError("expected a label on a forward value, but '")
          << op->getName() << "' computes a derivative";
      return WalkResult::interrupt();
    }
    if (!op->hasAttr(kLabelAttr) || hasValue)
      return WalkResult::advance();
    op->emitError("expected a label on an op with a value to save, got '") << op->getName() << "'";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// Labels the ops of one flat function.
class Labeller {
public:
  /// Makes a labeller for the policies of the module and of the command line. If `unroll` is set,
  /// iterations may differ.
  Labeller(ArrayRef<AskedPolicy> policies, PolicyContext context, bool unroll)
      : policies(policies), context(context), unroll(unroll) {}

  LogicalResult run(UnitTree &tree);

private:
  struct Enclosing {
    int parent;
    std::string policy; ///< policy; empty: prefer_recompute for all ops
  };

  LogicalResult evaluate(UnitTree &tree);
  LogicalResult evaluateCheckpoint(const Checkpoint &checkpoint);
  void removeNames(UnitTree &tree);
  LogicalResult checkLoops();
  void collectFromAliases(OpResult result, unsigned iteration,
                          SmallVectorImpl<LabelSource> &sources);
  void collectFromOp(const FlatOp &entry, unsigned iteration,
                     SmallVectorImpl<LabelSource> &sources);
  FailureOr<std::optional<LabelSource>> resolve(Operation *op, ArrayRef<LabelSource> sources);
  FailureOr<ChosenLabels> decide(const FlatOp &entry, unsigned iteration);
  LogicalResult decideResults(const FlatOp &entry, unsigned iteration, ArrayRef<LabelSource> ofOp,
                              ChosenLabels &chosen);
  void writeNames(Operation *op);
  StringAttr text(const Twine &rule) {
    return StringAttr::get(context.location.getContext(), rule);
  }

  ArrayRef<AskedPolicy> policies;
  PolicyContext context;
  bool unroll;
  PolicyGraph graph;
  /// Numbers of ops in the graph, by iteration.
  DenseMap<Operation *, SmallVector<unsigned, 1>> numbers;
  /// Numbers of `names` in the graph, by iteration.
  std::vector<SmallVector<unsigned, 1>> nameNumbers;
  std::vector<PolicyGraph::Name> names;
  std::vector<PolicyDecisions> decisions;               ///< decisions of `policies`
  std::map<std::string, PolicyDecisions> ofCheckpoints; ///< decisions by the text of the policy
  std::vector<Enclosing> checkpoints;
  AliasMap aliases;
};

LogicalResult Labeller::run(UnitTree &tree) {
  removeNames(tree);
  if (failed(evaluate(tree)) || failed(checkLoops()))
    return failure();
  LabelTable table;
  for (const FlatOp &entry : tree.ops) {
    writeNames(entry.op);
    for (unsigned i = 0; i < numbers.at(entry.op).size(); ++i) {
      FailureOr<ChosenLabels> chosen = decide(entry, i);
      if (failed(chosen))
        return failure();
      table[entry.op].push_back(std::move(*chosen));
    }
  }
  MemoryLabels memories(tree, table, unroll);
  if (failed(memories.join()))
    return failure();
  LabelWriter writer(memories, table, unroll);
  return success(llvm::all_of(
      tree.ops, [&](const FlatOp &entry) { return succeeded(writer.write(entry.op)); }));
}

/// `numbers[iteration] = number`
static void put(SmallVectorImpl<unsigned> &numbers, int64_t iteration, unsigned number) {
  if (static_cast<int64_t>(numbers.size()) <= iteration)
    numbers.resize(iteration + 1);
  numbers[iteration] = number;
}

/// Evaluates every policy once on the whole graph.
LogicalResult Labeller::evaluate(UnitTree &tree) {
  SmallVector<Operation *> ops;
  for (const FlatOp &entry : tree.ops)
    ops.push_back(entry.op);
  nameNumbers.resize(names.size());
  bool anyPolicy = !policies.empty() || llvm::any_of(tree.checkpoints, [](const Checkpoint &c) {
    return static_cast<bool>(c.policy);
  });
  graph = PolicyGraph::build(ops, std::move(names), /*iterates=*/anyPolicy);
  for (auto [i, op] : llvm::enumerate(graph.ops))
    put(numbers[op.op], op.iteration, i);
  for (auto [i, name] : llvm::enumerate(graph.names))
    put(nameNumbers[name.given], name.op ? graph.ops[*name.op].iteration : 0, i);
  for (const Checkpoint &checkpoint : tree.checkpoints)
    if (failed(evaluateCheckpoint(checkpoint)))
      return failure();
  for (const auto &[policy, location] : policies)
    if (failed(policy->decide(graph, location, decisions.emplace_back(graph))))
      return failure();
  return success();
}

LogicalResult Labeller::evaluateCheckpoint(const Checkpoint &checkpoint) {
  std::string text = checkpoint.policy ? checkpoint.policy.str() : "";
  checkpoints.push_back({checkpoint.parent, text});
  if (text.empty() || ofCheckpoints.count(text))
    return success();
  PolicyContext own = context;
  own.location = checkpoint.location;
  FailureOr<PolicyPtr> policy = parsePolicy(text, own);
  if (failed(policy))
    return failure();
  PolicyDecisions &made = ofCheckpoints.emplace(text, graph).first->second;
  return (*policy)->decide(graph, own.location, made);
}

/// Takes the `reprise.name` ops out of the graph and out of the units.
void Labeller::removeNames(UnitTree &tree) {
  auto isName = [](Operation *op) { return isa<NameOp>(op); };
  for (Unit &unit : tree.units)
    llvm::erase_if(unit.ops, isName);
  std::vector<FlatOp> kept;
  for (const FlatOp &entry : tree.ops) {
    auto name = dyn_cast<NameOp>(entry.op);
    if (!name) {
      kept.push_back(entry);
      continue;
    }
    std::optional<Label> label;
    if (auto attribute = name->getAttrOfType<LabelAttr>(kLabelAttr))
      label = attribute.getValue();
    Operation *definition = name.getOperand().getDefiningOp();
    bool isPlanned = definition && definition->getNumRegions() == 0 &&
                     !definition->hasTrait<OpTrait::ConstantLike>();
    if (label && !isPlanned && !isa_and_present<LoopOp>(definition))
      name.emitRemark("the label of '")
          << name.getName() << "' has no effect: an argument or a constant is never replayed";
    Value named = name.getOperand();
    // After autodiff the primal replaces the result, so the name applies to the primal.
    while (auto rule = named.getDefiningOp<CustomVjpOp>())
      named = rule.getPrimalOf(cast<OpResult>(named));
    aliases[named].push_back({name.getName().str(), label, entry.checkpoint,
                              static_cast<unsigned>(names.size()), name.getLoc()});
    names.push_back({name.getName().str(), name.getOperand(), std::nullopt, 0});
    name.replaceAllUsesWith(name.getOperand());
    name.erase();
  }
  tree.ops = std::move(kept);
}

/// A loop has no label: its ops have.
LogicalResult Labeller::checkLoops() {
  for (const PolicyGraph::Name &named : graph.names) {
    if (!isa_and_present<LoopOp>(named.value.getDefiningOp()))
      continue;
    SmallVector<LabelSource> sources;
    collectFromAliases(cast<OpResult>(named.value), /*iteration=*/0, sources);
    for (const LabelSource &source : sources)
      if (isMust(source.label))
        return emitError(source.location)
               << "cannot honour '" << stringifyLabel(source.label) << "' from "
               << source.rule.getValue() << ": a loop makes the value; label an op of the loop";
  }
  return success();
}

/// Collects the innermost sources of one value: its names, in program order. A name's own label
/// precedes labels of policies that match the name; policies of checkpoints around it come first.
void Labeller::collectFromAliases(OpResult result, unsigned iteration,
                                  SmallVectorImpl<LabelSource> &sources) {
  auto found = aliases.find(result);
  if (found == aliases.end())
    return;
  for (const Alias &alias : found->second) {
    if (alias.label)
      sources.push_back(
          {*alias.label, text("name " + alias.name), alias.location, LabelOrigin::Name});
    auto add = [&](const PolicyDecisions &made) {
      for (const Decision &decision : made.names[nameNumbers[alias.number][iteration]])
        sources.push_back({decision.label,
                           text("name " + alias.name + " by " + decision.rule.getValue()),
                           alias.location, LabelOrigin::Name});
    };
    for (int i = alias.checkpoint; i >= 0; i = checkpoints[i].parent)
      if (auto made = ofCheckpoints.find(checkpoints[i].policy); made != ofCheckpoints.end())
        add(made->second);
    llvm::for_each(decisions, add);
  }
}

void Labeller::collectFromOp(const FlatOp &entry, unsigned iteration,
                             SmallVectorImpl<LabelSource> &sources) {
  unsigned number = numbers.at(entry.op)[iteration];
  Location location = entry.op->getLoc();
  if (auto own = entry.op->getAttrOfType<LabelAttr>(kLabelAttr))
    sources.push_back({own.getValue(), text("op"), location, LabelOrigin::Op});
  auto add = [&](const PolicyDecisions &made, StringRef source, LabelOrigin origin) {
    for (const Decision &decision : made.ops[number])
      sources.push_back(
          {decision.label, text(source + " " + decision.rule.getValue()), location, origin});
  };
  for (int i = entry.checkpoint; i >= 0; i = checkpoints[i].parent) {
    if (checkpoints[i].policy.empty())
      sources.push_back(
          {Label::prefer_recompute, text("checkpoint"), location, LabelOrigin::Checkpoint});
    else
      add(ofCheckpoints.at(checkpoints[i].policy), "checkpoint", LabelOrigin::Checkpoint);
  }
  for (const PolicyDecisions &made : decisions)
    add(made, "policy", LabelOrigin::Policy);
  if (std::optional<Label> label = getIntrinsicLabel(entry.op))
    sources.push_back({*label, text("intrinsic"), location, LabelOrigin::Nature});
}

FailureOr<std::optional<LabelSource>> Labeller::resolve(Operation *op,
                                                        ArrayRef<LabelSource> sources) {
  std::optional<std::pair<LabelSource, LabelSource>> clash;
  const LabelSource *chosen = resolveLabels(sources, clash);
  if (clash) {
    auto describe = [](const LabelSource &source) {
      return ("'" + stringifyLabel(source.label) + "' from " + source.rule.getValue()).str();
    };
    InFlightDiagnostic diagnostic = op->emitError("contradictory labels: ")
                                    << describe(clash->first) << " and " << describe(clash->second);
    if (clash->first.location != op->getLoc())
      diagnostic.attachNote(clash->first.location) << "from " << clash->first.rule.getValue();
    return diagnostic;
  }
  return chosen ? std::optional(*chosen) : std::nullopt;
}

void Labeller::writeNames(Operation *op) {
  SmallVector<Attribute> names;
  Builder builder(op->getContext());
  bool any = false;
  for (OpResult result : op->getOpResults()) {
    std::string joined;
    if (auto found = aliases.find(result); found != aliases.end())
      for (const Alias &alias : found->second)
        joined += (joined.empty() ? "" : ",") + alias.name;
    any |= !joined.empty();
    names.push_back(builder.getStringAttr(joined));
  }
  if (any)
    op->setDiscardableAttr(kNamesAttr, builder.getArrayAttr(names));
}

/// Labels that names give to single results of an op with several.
LogicalResult Labeller::decideResults(const FlatOp &entry, unsigned iteration,
                                      ArrayRef<LabelSource> ofOp, ChosenLabels &chosen) {
  chosen.ofResults.resize(entry.op->getNumResults());
  for (OpResult result : entry.op->getOpResults()) {
    SmallVector<LabelSource> sources;
    collectFromAliases(result, iteration, sources);
    if (sources.empty())
      continue;
    sources.append(ofOp.begin(), ofOp.end());
    auto own = resolve(entry.op, sources);
    if (failed(own))
      return failure();
    chosen.ofResults[result.getResultNumber()] = *own;
  }
  return success();
}

/// Returns the labels of an op in one iteration of the loops around it.
FailureOr<ChosenLabels> Labeller::decide(const FlatOp &entry, unsigned iteration) {
  SmallVector<LabelSource> sources;
  ChosenLabels chosen;
  bool single = entry.op->getNumResults() == 1;
  if (single)
    collectFromAliases(entry.op->getResult(0), iteration, sources);
  collectFromOp(entry, iteration, sources);
  if (!single && failed(decideResults(entry, iteration, sources, chosen)))
    return failure();
  auto own = resolve(entry.op, sources);
  if (failed(own))
    return failure();
  chosen.ofOp = *own;
  return chosen;
}

struct AssignLabelsPass : impl::AssignLabelsPassBase<AssignLabelsPass> {
  using Base::Base;

  void runOnOperation() override {
    if (failed(run(getOperation())))
      signalPassFailure();
  }

  LogicalResult run(ModuleOp module) {
    PolicyContext context{module.getLoc(), allowUnmatchedRules, module};
    auto found = readPolicies(policies, context);
    if (failed(found) || failed(checkLabels(module)))
      return failure();
    for (auto function : module.getOps<func::FuncOp>()) {
      UnitTree tree = flattenBlocks(function, ignoreCheckpoints);
      if (failed(Labeller(*found, context, unroll).run(tree)))
        return failure();
      assignPaths(tree);
    }
    for (PolicyOp op : llvm::make_early_inc_range(module.getOps<PolicyOp>()))
      op.erase();
    return success();
  }
};

} // namespace
} // namespace reprise
