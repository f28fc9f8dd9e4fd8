// reprise: attributes of labels and plans on the ops of the graph.
#include "Plan.h"

#include "Aliases.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/Dialect/Reprise/IR/Labels.h"
#include "reprise/Dialect/Reprise/IR/Loops.h"
#include "reprise/Dialect/Reprise/Transforms/SavedBuffers.h"
#include "reprise/Support/ByteSize.h"
#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;

namespace reprise {

std::optional<Label> getLabel(OpResult result) {
  Operation *op = result.getOwner();
  if (auto labels = op->getAttrOfType<ArrayAttr>(kResultLabelsAttr))
    if (result.getResultNumber() < labels.size())
      if (auto label = dyn_cast<LabelAttr>(labels[result.getResultNumber()]))
        return label.getValue();
  if (auto label = op->getAttrOfType<LabelAttr>(kLabelAttr))
    return label.getValue();
  return std::nullopt;
}

StringRef getRule(OpResult result) {
  Operation *op = result.getOwner();
  if (auto rules = op->getAttrOfType<ArrayAttr>(kResultRulesAttr))
    if (result.getResultNumber() < rules.size())
      if (auto rule = dyn_cast<StringAttr>(rules[result.getResultNumber()]); rule && !rule.empty())
        return rule;
  if (auto rule = op->getAttrOfType<StringAttr>(kRuleAttr))
    return rule;
  return "";
}

/// Returns the entries of an array, one per result; missing entries are `unset`.
static SmallVector<Attribute> listEntries(Operation *op, StringRef name, Attribute unset) {
  SmallVector<Attribute> entries(op->getNumResults(), unset);
  if (auto all = op->getAttrOfType<ArrayAttr>(name))
    llvm::copy(all.getValue().take_front(entries.size()), entries.begin());
  return entries;
}

void setLabel(OpResult result, Label label, StringAttr rule) {
  Operation *op = result.getOwner();
  Builder builder(op->getContext());
  auto attribute = LabelAttr::get(builder.getContext(), label);
  if (op->getNumResults() == 1) {
    op->setDiscardableAttr(kLabelAttr, attribute);
    op->setDiscardableAttr(kRuleAttr, rule);
    return;
  }
  SmallVector<Attribute> labels = listEntries(op, kResultLabelsAttr, builder.getUnitAttr());
  SmallVector<Attribute> rules = listEntries(op, kResultRulesAttr, builder.getStringAttr(""));
  labels[result.getResultNumber()] = attribute;
  rules[result.getResultNumber()] = rule;
  op->setDiscardableAttr(kResultLabelsAttr, builder.getArrayAttr(labels));
  op->setDiscardableAttr(kResultRulesAttr, builder.getArrayAttr(rules));
}

Value getViewed(Value value) {
  auto view = value.getDefiningOp<ViewOpInterface>();
  Value viewed = view ? view->getOperand(0) : Value();
  return viewed && viewed.getParentBlock() == view->getBlock() ? viewed : Value();
}

bool repeats(Operation *view) {
  return getByteSize(view->getResult(0).getType()) > getByteSize(view->getOperand(0).getType());
}

bool wantsRecompute(Operation *op) {
  return llvm::all_of(op->getOpResults(), [](OpResult result) {
    std::optional<Label> label = getLabel(result);
    return label && asksToRecompute(*label);
  });
}

int64_t getOrder(Operation *op) {
  auto order = dyn_cast_or_null<IntegerAttr>(op->getDiscardableAttr(kOrderAttr));
  return order ? order.getInt() : 0;
}

bool isPrimal(Operation *op) { return bool(op->getDiscardableAttr(kPrimalAttr)); }
bool isCotangent(Operation *op) { return bool(op->getDiscardableAttr(kCotangentAttr)); }

bool areOfOnePart(Operation *left, Operation *right) {
  return isPrimal(left) == isPrimal(right) && isCotangent(left) == isCotangent(right) &&
         getOrder(left) == getOrder(right);
}

/// Returns true for ops that a scope lists.
static bool isPlanned(Operation &op) {
  return !op.hasTrait<OpTrait::IsTerminator>() && !op.hasTrait<OpTrait::ConstantLike>() &&
         !isReplay(&op);
}

/// The body among `bodies` that `block` is, or is a replay of; otherwise null.
static Block *findBody(Block *block, ArrayRef<Block *> bodies) {
  LoopOp loop = getLoop(block);
  Attribute original = loop ? loop->getDiscardableAttr(kOriginalAttr) : Attribute();
  for (Block *body : bodies)
    if (body == block || (original && getLoop(body)->getDiscardableAttr(kIdAttr) == original))
      return body;
  return nullptr;
}

/// Groups loops that read rows of each other, or whose ops are replays of each other's ops.
static llvm::EquivalenceClasses<Block *> findFamilies(ArrayRef<Block *> bodies) {
  llvm::EquivalenceClasses<Block *> families;
  DenseMap<Attribute, Block *> homes;
  for (Block *body : bodies)
    body->walk([&](Operation *op) {
      if (Attribute id = op->getDiscardableAttr(kIdAttr))
        homes[id] = body;
    });
  for (Block *body : bodies) {
    families.insert(body);
    for (BlockArgument slice : getLoop(body).getSliceArguments())
      if (Block *maker = findBody(findRow(slice).getParentBlock(), bodies))
        families.unionSets(maker, body);
    body->walk([&](Operation *op) {
      if (Block *home = homes.lookup_or(op->getDiscardableAttr(kOriginalAttr), nullptr))
        families.unionSets(home, body);
    });
  }
  return families;
}

/// Appends the scopes inside the loops of `scope`.
static void addLoopScopes(const Scope &scope, std::vector<Scope> &scopes) {
  SmallVector<Block *> bodies;
  for (Operation *op : scope)
    if (auto loop = dyn_cast_or_null<LoopOp>(op))
      bodies.push_back(&loop.getBlock());
  llvm::EquivalenceClasses<Block *> families = findFamilies(bodies);
  for (Block *first : bodies) {
    if (families.getLeaderValue(first) != first)
      continue;
    Scope inner;
    for (Block *body : bodies) {
      if (families.getLeaderValue(body) != first)
        continue;
      if (!inner.empty())
        inner.push_back(nullptr);
      for (Operation &op : *body)
        if (isPlanned(op))
          inner.push_back(&op);
    }
    addLoopScopes(inner, scopes);
    scopes.push_back(std::move(inner));
  }
}

static void addScopes(Block &block, std::vector<Scope> &scopes, bool isOne = false) {
  std::vector<Scope> own;
  bool seenCotangent = true;
  for (Operation &op : block) {
    bool isPart = isPrimal(&op) || isCotangent(&op);
    // Something may be differentiated in each iteration.
    if (auto loop = dyn_cast<LoopOp>(op); loop && !isPart)
      addScopes(loop.getBlock(), scopes);
    if (!isPart || !isPlanned(op))
      continue;
    if (own.empty() || (isPrimal(&op) && seenCotangent && !isOne))
      own.emplace_back();
    seenCotangent = isCotangent(&op);
    own.back().push_back(&op);
  }
  for (Scope &scope : own) {
    addLoopScopes(scope, scopes);
    scopes.push_back(std::move(scope));
  }
}

std::vector<Scope> findScopes(FunctionOpInterface function) {
  std::vector<Scope> scopes;
  addScopes(function.getFunctionBody().front(), scopes, function->hasAttr(kOneScopeAttr));
  return scopes;
}

/// The buffers of results that are an argument's next value.
static DenseSet<Value> collectState(ProgramOp function, Aliases &aliases) {
  EntrySignature signature(function);
  DenseSet<Value> state;
  for (OpOperand &operand : function.getBody().front().getTerminator()->getOpOperands())
    if (signature.isNextValue(operand))
      state.insert(aliases.getRoot(operand.get()));
  return state;
}

/// Returns whether `op` reads a result of `definition` after the forward pass of `definition`. An
/// op in a loop reads a value from above the loop when the loop runs: a replay in the body of a
/// forward loop belongs to a gradient inside the body, hence to the forward pass around the loop.
static bool readsBack(Operation *op, Operation *definition) {
  if (!isCotangent(op) && !isReplay(op))
    return false;
  Operation *reader = definition->getBlock()->findAncestorOpInBlock(*op);
  return !reader || isCotangent(reader) || isReplay(reader);
}

SmallVector<Value> findSavedBuffers(ProgramOp function) {
  Aliases aliases;
  DenseSet<Value> seen = collectState(function, aliases);
  SmallVector<Value> buffers;
  function.walk([&](Operation *op) {
    // A fetch reads the copy on the host.
    if (isReplay(op) && isa<OffloadOp>(op))
      return;
    for (Value operand : op->getOperands()) {
      Value root = aliases.getRoot(operand);
      Operation *definition = root.getDefiningOp();
      bool saved = definition && isPrimal(definition) && !isReplay(definition) &&
                   !definition->hasTrait<OpTrait::ConstantLike>() && readsBack(op, definition);
      if (saved && seen.insert(root).second)
        buffers.push_back(root);
    }
  });
  return buffers;
}

/// Returns the scopes of the ops of the function's block; a replay has the scope of its original.
static DenseMap<Operation *, size_t> numberScopes(ProgramOp function) {
  DenseMap<Operation *, size_t> scopeOf;
  DenseMap<Attribute, size_t> ofOriginal;
  for (auto [number, scope] : llvm::enumerate(findScopes(function)))
    for (Operation *op : scope)
      if (op) {
        scopeOf[op] = number;
        if (Attribute id = op->getDiscardableAttr(kIdAttr))
          ofOriginal[id] = number;
      }
  for (Operation &op : function.getBody().front())
    if (isReplay(&op))
      if (auto found = ofOriginal.find(op.getDiscardableAttr(kOriginalAttr));
          found != ofOriginal.end())
        scopeOf[&op] = found->second;
  return scopeOf;
}

DenseSet<Value> findOutliving(ProgramOp function) {
  Block &block = function.getBody().front();
  DenseMap<Operation *, size_t> scopeOf = numberScopes(function);
  DenseSet<Value> found;
  for (Operation &op : llvm::reverse(block)) {
    auto own = scopeOf.find(&op);
    for (Value result : op.getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) {
            auto other = scopeOf.find(block.findAncestorOpInBlock(*user));
            bool isShown = isa<ViewOpInterface>(user) && found.contains(user->getResult(0));
            return isShown || own == scopeOf.end() || other == scopeOf.end() ||
                   other->second != own->second;
          }))
        found.insert(result);
  }
  return found;
}

void setLaterPlan(ProgramOp program, ArrayAttr executions, int64_t enoughArena) {
  program->removeDiscardableAttr(kPlanAttr);
  if (executions || enoughArena > 0)
    program->setDiscardableAttr(kPlanAttr,
                                PlanAttr::get(program.getContext(), nullptr, nullptr, nullptr,
                                              nullptr, nullptr, executions, enoughArena));
}

int64_t countSavedBytes(ProgramOp function) {
  int64_t bytes = 0;
  for (Value buffer : findSavedBuffers(function))
    bytes += getByteSize(buffer.getType());
  return bytes;
}

int64_t countReplayedOps(ProgramOp function) {
  int64_t count = 0;
  function.walk([&](Operation *op) {
    if (isReplay(op) && !isa<LoopOp, OffloadOp>(op))
      count += countExecutions(op);
  });
  return count;
}

} // namespace reprise
