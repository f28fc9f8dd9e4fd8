// reprise: evaluates the policies and flattens blocks.
#include "reprise/Dialect/Reprise/Transforms/Passes.h"

#include "Plan.h"
#include "Units.h"
#include "reprise/Policy/Policy.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace reprise {
#define GEN_PASS_DEF_ASSIGNLABELSPASS
#include "reprise/Dialect/Reprise/Transforms/Passes.h.inc"

namespace {

/// A `reprise.name` that is gone; its label, if any, belongs to the value.
struct Alias {
  std::string name;
  std::optional<Label> label;
  int checkpoint; ///< the innermost around the name, -1 outside all
  Location location;
};
using AliasMap = DenseMap<Value, SmallVector<Alias, 1>>;

FailureOr<const Policy *> findPolicy(StringRef name, Location location) {
  if (const Policy *policy = PolicyRegistry::get().find(name))
    return policy;
  std::vector<std::string> known = PolicyRegistry::get().names();
  return emitError(location) << "unknown policy '" << name << "', expected one of "
                             << llvm::join(known, ", ");
}

/// Labels sit on ops with results that a plan can keep.
LogicalResult checkLabels(ModuleOp module) {
  WalkResult result = module.walk([](Operation *op) {
    bool hasValue = op->getNumResults() != 0 && op->getNumRegions() == 0;
    if (!op->hasAttr(kLabelAttr) || hasValue)
      return WalkResult::advance();
    op->emitError("expected a label on an op with a value to save, but '")
        << op->getName() << "' has none";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// Labels the ops of one flat function.
class Labeller {
public:
  Labeller(ArrayRef<const Policy *> policies) : policies(policies) {}

  LogicalResult run(UnitTree &tree) {
    for (const Checkpoint &checkpoint : tree.checkpoints) {
      const Policy *policy = nullptr;
      if (checkpoint.policy) {
        auto found = findPolicy(checkpoint.policy, checkpoint.location);
        if (failed(found))
          return failure();
        policy = *found;
      }
      checkpoints.push_back({checkpoint.parent, policy});
    }
    removeNames(tree);
    for (const FlatOp &entry : tree.ops)
      if (failed(label(entry)))
        return failure();
    return success();
  }

private:
  struct Enclosing {
    int parent;
    const Policy *policy; ///< null: prefer_recompute for all
  };

  void removeNames(UnitTree &tree);
  void collectFromAliases(OpResult result, SmallVectorImpl<LabelSource> &sources);
  void collectFromOp(const FlatOp &entry, SmallVectorImpl<LabelSource> &sources);
  FailureOr<std::optional<LabelSource>> resolve(Operation *op, ArrayRef<LabelSource> sources);
  LogicalResult label(const FlatOp &entry);
  void writeNames(Operation *op);
  LogicalResult writeResults(const FlatOp &entry, ArrayRef<LabelSource> ofOp);

  ArrayRef<const Policy *> policies;
  std::vector<Enclosing> checkpoints;
  AliasMap aliases;
};

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
    if (label && !isPlanned)
      name.emitRemark("the label of '")
          << name.getName() << "' is moot: the value is there in any case";
    aliases[name.getOperand()].push_back(
        {name.getName().str(), label, entry.checkpoint, name.getLoc()});
    name.replaceAllUsesWith(name.getOperand());
    name.erase();
  }
  tree.ops = std::move(kept);
}

/// The innermost sources of one value: its names, in program order. A name's own label comes before
/// those of policies that match it, the checkpoints' around it first.
void Labeller::collectFromAliases(OpResult result, SmallVectorImpl<LabelSource> &sources) {
  auto found = aliases.find(result);
  if (found == aliases.end())
    return;
  for (const Alias &alias : found->second) {
    std::string rule = "name " + alias.name;
    if (alias.label)
      sources.push_back({*alias.label, rule, alias.location});
    auto match = [&](const Policy *policy) {
      if (!policy || !policy->labelName)
        return;
      if (std::optional<Label> label = policy->labelName(alias.name))
        sources.push_back({*label, rule, alias.location});
    };
    for (int i = alias.checkpoint; i >= 0; i = checkpoints[i].parent)
      match(checkpoints[i].policy);
    llvm::for_each(policies, match);
  }
}

void Labeller::collectFromOp(const FlatOp &entry, SmallVectorImpl<LabelSource> &sources) {
  Location location = entry.op->getLoc();
  if (auto own = entry.op->getAttrOfType<LabelAttr>(kLabelAttr))
    sources.push_back({own.getValue(), "op", location});
  for (int i = entry.checkpoint; i >= 0; i = checkpoints[i].parent) {
    const Policy *policy = checkpoints[i].policy;
    std::optional<Label> label = Label::prefer_recompute;
    if (policy)
      label = policy->labelOp ? policy->labelOp(entry.op) : std::nullopt;
    if (label)
      sources.push_back({*label, "checkpoint", location});
  }
  for (const Policy *policy : policies)
    if (std::optional<Label> label = policy->labelOp ? policy->labelOp(entry.op) : std::nullopt)
      sources.push_back({*label, "policy " + policy->name, location});
  if (std::optional<Label> label = getIntrinsicLabel(entry.op))
    sources.push_back({*label, "intrinsic", location});
}

FailureOr<std::optional<LabelSource>> Labeller::resolve(Operation *op,
                                                        ArrayRef<LabelSource> sources) {
  std::optional<std::pair<LabelSource, LabelSource>> clash;
  const LabelSource *chosen = resolveLabels(sources, clash);
  if (clash) {
    auto describe = [](const LabelSource &source) {
      return ("'" + stringifyLabel(source.label) + "' from " + source.rule).str();
    };
    InFlightDiagnostic diagnostic = op->emitError("contradictory labels: ")
                                    << describe(clash->first) << " and " << describe(clash->second);
    if (clash->first.location != op->getLoc())
      diagnostic.attachNote(clash->first.location) << "from " << clash->first.rule;
    return diagnostic;
  }
  if (!chosen)
    return std::optional<LabelSource>();
  if (chosen->label == Label::must_offload)
    return op->emitError("cannot honour 'must_offload' from ")
           << chosen->rule << ": no target can offload";
  std::optional<LabelSource> result(*chosen);
  if (chosen->label == Label::prefer_offload) {
    op->emitRemark("'prefer_offload' from ")
        << chosen->rule << " becomes 'prefer_save': no target can offload";
    result->label = Label::prefer_save;
  }
  return result;
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
LogicalResult Labeller::writeResults(const FlatOp &entry, ArrayRef<LabelSource> ofOp) {
  Builder builder(entry.op->getContext());
  SmallVector<Attribute> labels(entry.op->getNumResults(), builder.getUnitAttr());
  SmallVector<Attribute> rules(entry.op->getNumResults(), builder.getStringAttr(""));
  bool any = false;
  for (OpResult result : entry.op->getOpResults()) {
    SmallVector<LabelSource> sources;
    collectFromAliases(result, sources);
    if (sources.empty())
      continue;
    any = true;
    sources.append(ofOp.begin(), ofOp.end());
    auto chosen = resolve(entry.op, sources);
    if (failed(chosen))
      return failure();
    labels[result.getResultNumber()] = LabelAttr::get(builder.getContext(), (**chosen).label);
    rules[result.getResultNumber()] = builder.getStringAttr((**chosen).rule);
  }
  if (any) {
    entry.op->setDiscardableAttr(kResultLabelsAttr, builder.getArrayAttr(labels));
    entry.op->setDiscardableAttr(kResultRulesAttr, builder.getArrayAttr(rules));
  }
  return success();
}

LogicalResult Labeller::label(const FlatOp &entry) {
  SmallVector<LabelSource> sources;
  bool single = entry.op->getNumResults() == 1;
  if (single)
    collectFromAliases(entry.op->getResult(0), sources);
  collectFromOp(entry, sources);
  writeNames(entry.op);
  if (!single && failed(writeResults(entry, sources)))
    return failure();
  auto chosen = resolve(entry.op, sources);
  if (failed(chosen))
    return failure();
  entry.op->removeDiscardableAttr(kLabelAttr);
  if (!*chosen)
    return success();
  MLIRContext *context = entry.op->getContext();
  entry.op->setDiscardableAttr(kLabelAttr, LabelAttr::get(context, (**chosen).label));
  entry.op->setDiscardableAttr(kRuleAttr, StringAttr::get(context, (**chosen).rule));
  return success();
}

struct AssignLabelsPass : impl::AssignLabelsPassBase<AssignLabelsPass> {
  using Base::Base;

  void runOnOperation() override {
    if (failed(run(getOperation())))
      signalPassFailure();
  }

  LogicalResult run(ModuleOp module) {
    SmallVector<const Policy *> found;
    for (const std::string &name : policies) {
      auto policy = findPolicy(name, module.getLoc());
      if (failed(policy))
        return failure();
      found.push_back(*policy);
    }
    if (failed(checkLabels(module)))
      return failure();
    for (auto function : module.getOps<func::FuncOp>()) {
      UnitTree tree = flattenBlocks(function, ignoreCheckpoints);
      if (failed(Labeller(found).run(tree)))
        return failure();
      assignPaths(tree);
    }
    return success();
  }
};

} // namespace
} // namespace reprise
