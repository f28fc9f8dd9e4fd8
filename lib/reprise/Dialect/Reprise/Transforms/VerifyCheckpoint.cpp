// reprise: verifies that replays equal their originals and that the plan obeys every label.
#include "reprise/Dialect/Reprise/Transforms/Passes.h"

#include "VerifyMemory.h"
#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/Dialect/Reprise/IR/Loops.h"

using namespace mlir;

namespace reprise {
#define GEN_PASS_DEF_VERIFYCHECKPOINTPASS
#include "reprise/Dialect/Reprise/Transforms/Passes.h.inc"

namespace {

/// The number of the value_and_grad expansion that made the op, from 1; 0 for the source.
int getLevel(Operation *op) { return llvm::Log2_64_Ceil(getOrder(op) + 1); }

/// The outermost unit of an op; -1 outside all.
int64_t getOutermostUnit(Operation *op) {
  auto block = op->getAttrOfType<DenseI64ArrayAttr>(kBlockAttr);
  return block && !block.empty() ? block[0] : -1;
}

/// Returns true if `first` comes before `second` in a block that holds both, possibly inside loops.
bool isBefore(Operation *first, Operation *second) {
  for (Block *block = second->getBlock(); block; block = block->getParentOp()->getBlock()) {
    Operation *a = block->findAncestorOpInBlock(*first), *b = block->findAncestorOpInBlock(*second);
    if (a && b)
      return a->isBeforeInBlock(b);
  }
  return false;
}

/// Attributes that belong to one execution, or to the plan, and not to the op.
bool isBookkeeping(StringRef name) {
  return llvm::is_contained({StringRef("replay"), StringRef(kIdAttr), StringRef(kOriginalAttr),
                             StringRef(kPrimalAttr), StringRef(kNamesAttr),
                             StringRef(kDecisionsAttr), StringRef(kReasonsAttr)},
                            name);
}

/// Collects all attributes of an op, inherent ones included, sorted by name.
SmallVector<NamedAttribute> collectAttributes(Operation *op) {
  SmallVector<NamedAttribute> result;
  for (NamedAttribute attribute : op->getAttrDictionary())
    if (!isBookkeeping(attribute.getName()))
      result.push_back(attribute);
  return result;
}

class Verifier {
public:
  explicit Verifier(ProgramOp function) : function(function), signature(function) {}

  LogicalResult run();

private:
  LogicalResult collect();
  LogicalResult verifyReplay(Operation *replay);
  LogicalResult compareDraws(Operation *replay, Operation *original);
  LogicalResult compareAttributes(Operation *replay, Operation *original);
  LogicalResult verifyReaders(Operation *replay, Operation *original);
  LogicalResult verifyPlan(Operation *op);
  LogicalResult verifyScope(size_t scope);
  LogicalResult verifyDecision(OpResult result, const Use &use, const Verdict &verdict);
  Use findUse(OpResult result, size_t scope);
  void addReaders(Value value, Operation *op, size_t scope, Use &use);
  void addRowReaders(LoopOp loop, unsigned result, Operation *op, size_t scope, Use &use);
  bool isSame(Value repeated, Value first);

  InFlightDiagnostic fail(Operation *replay, Operation *original, const Twine &message) {
    InFlightDiagnostic diagnostic = replay->emitError(message);
    diagnostic.attachNote(original->getLoc()) << "the original";
    return diagnostic;
  }
  Operation *getOriginal(Operation *replay) {
    auto id = replay->getAttrOfType<IntegerAttr>(kOriginalAttr);
    return id ? originals.lookup(id.getInt()) : nullptr;
  }
  /// The value that `value` repeats, also as a row of a stack; itself if its op is no replay.
  Value getOrigin(Value value) {
    if (value)
      value = findRow(value);
    if (auto argument = dyn_cast_or_null<BlockArgument>(value)) {
      LoopOp loop = getLoop(argument.getOwner());
      Operation *original = loop && isReplay(loop) ? getOriginal(loop) : nullptr;
      return original
                 ? Value(cast<LoopOp>(original).getBlock().getArgument(argument.getArgNumber()))
                 : value;
    }
    auto result = dyn_cast_or_null<OpResult>(value);
    if (!result || !isReplay(result.getOwner()))
      return value;
    Operation *original = getOriginal(result.getOwner());
    bool known = original && result.getResultNumber() < original->getNumResults();
    return known ? Value(original->getResult(result.getResultNumber())) : value;
  }

  ProgramOp function;
  EntrySignature signature;
  DenseMap<int64_t, Operation *> originals;
  DenseMap<Operation *, SmallVector<Operation *, 1>> replaysOf;
  DenseMap<Operation *, size_t> scopeOf;
  std::vector<Scope> scopes;
  SmallVector<Operation *> replays;
  Uses uses; ///< uses of the current scope
};

LogicalResult Verifier::collect() {
  WalkResult result = function.walk<WalkOrder::PreOrder>([&](Operation *op) -> WalkResult {
    if (isReplay(op))
      replays.push_back(op);
    else if (auto id = op->getAttrOfType<IntegerAttr>(kIdAttr))
      if (auto [known, isNew] = originals.try_emplace(id.getInt(), op); !isNew)
        return fail(op, known->second, "two originals have one id");
    return success();
  });
  if (result.wasInterrupted())
    return failure();
  for (Operation *replay : replays) {
    Operation *original = getOriginal(replay);
    if (!original || !isPrimal(original))
      return replay->emitError("expected a replay of an op of the forward part");
    // Ops in a replayed loop are planned with the loop.
    if (!isReplay(replay->getParentOp()))
      replaysOf[original].push_back(replay);
  }
  return success();
}

LogicalResult Verifier::compareDraws(Operation *replay, Operation *original) {
  auto draw = dyn_cast<RandomOpInterface>(replay), first = dyn_cast<RandomOpInterface>(original);
  if (!draw || !first)
    return success();
  if (!isSame(draw.getSeedOperand(), first.getSeedOperand()))
    return fail(replay, original, "replay draws from another seed than its original");
  if (!isSame(draw.getOffsetOperand(), first.getOffsetOperand()))
    return fail(replay, original, "replay draws at another offset than its original");
  if (!isSame(draw.getOriginOperand(), first.getOriginOperand()))
    return fail(replay, original, "replay draws from another origin than its original");
  if (draw.getStreamNumber() != first.getStreamNumber())
    return fail(replay, original, "replay draws from another stream than its original");
  return success();
}

LogicalResult Verifier::compareAttributes(Operation *replay, Operation *original) {
  SmallVector<NamedAttribute> own = collectAttributes(replay);
  SmallVector<NamedAttribute> expected = collectAttributes(original);
  for (size_t i = 0; i < std::max(own.size(), expected.size()); ++i) {
    if (i < own.size() && i < expected.size() && own[i] == expected[i])
      continue;
    bool missing = i >= own.size() || (i < expected.size() &&
                                       expected[i].getName().strref() < own[i].getName().strref());
    StringRef name = missing ? expected[i].getName() : own[i].getName();
    return fail(replay, original, "replay differs from its original in '" + name + "'");
  }
  return success();
}

/// A replay serves the backward pass, or other replays; never the forward pass or state.
LogicalResult Verifier::verifyReaders(Operation *replay, Operation *original) {
  if (replay->use_empty())
    return replay->emitError("replay is never read");
  for (OpOperand &use : replay->getUses()) {
    Operation *reader = use.getOwner();
    if (isa<YieldOp>(reader))
      reader = reader->getParentOp();
    if (signature.isNextValue(use))
      return fail(replay, original,
                  "replay yields the next value of '" +
                      signature.getResultName(use.getOperandNumber()).getValue() + "'");
    bool inBackward = isReplay(reader) || ((isPrimal(reader) || isCotangent(reader)) &&
                                           getLevel(reader) > getLevel(original));
    if (!inBackward)
      return fail(replay, original, "replay is read outside the backward pass");
  }
  return success();
}

LogicalResult Verifier::verifyReplay(Operation *replay) {
  Operation *original = getOriginal(replay);
  if (replay->getName() != original->getName())
    return fail(replay, original, "replay is another op than its original");
  if (!isBefore(original, replay))
    return fail(replay, original, "replay precedes its original");
  if (replay->getResultTypes() != original->getResultTypes())
    return fail(replay, original, "replay has other types than its original");
  if (failed(compareDraws(replay, original)) || failed(compareAttributes(replay, original)))
    return failure();
  if (replay->getNumOperands() != original->getNumOperands())
    return fail(replay, original, "replay has another number of operands than its original");
  for (unsigned i = 0; i < replay->getNumOperands(); ++i)
    if (!isSame(replay->getOperand(i), original->getOperand(i)))
      return fail(replay, original,
                  "operand " + Twine(i) + " of the replay is another value than its original's");
  return verifyReaders(replay, original);
}

/// Returns true if both are one value, replayed or not, or equal views of one value.
bool Verifier::isSame(Value repeated, Value first) {
  repeated = getOrigin(repeated);
  first = getOrigin(first);
  if (repeated == first)
    return true;
  if (!repeated || !first)
    return false;
  Operation *again = repeated.getDefiningOp(), *original = first.getDefiningOp();
  bool isView = again && original && again->getName() == original->getName() &&
                (isa<ViewOpInterface>(again) || readsNothing(again));
  return isView && again->getPropertiesAsAttribute() == original->getPropertiesAsAttribute() &&
         repeated.getType() == first.getType() &&
         llvm::equal(again->getOperands(), original->getOperands(),
                     [&](Value a, Value b) { return isSame(a, b); });
}

/// Adds readers of the rows of a result of `loop`, or of its replays.
void Verifier::addRowReaders(LoopOp loop, unsigned result, Operation *op, size_t scope, Use &use) {
  addReaders(loop.getResult(result), op, scope, use);
  if (auto found = replaysOf.find(loop); found != replaysOf.end())
    for (Operation *replay : found->second)
      addReaders(replay->getResult(result), op, scope, use);
}

/// Adds readers of `value`, a result of `op` or a stack of its rows.
void Verifier::addReaders(Value value, Operation *op, size_t scope, Use &use) {
  for (OpOperand &operand : value.getUses()) {
    Operation *reader = operand.getOwner();
    unsigned i = operand.getOperandNumber();
    LoopOp around = getLoop(reader->getBlock()), loop = dyn_cast<LoopOp>(reader);
    // The loop reads a row from above; its stack is another value.
    bool isOfRows = value.getDefiningOp() != op;
    bool isRow = isOfRows || (around && around->isAncestor(op));
    if (around && reader == around.getYield() && isRow) {
      // The next iteration has the value as its carry, which a plan may read anywhere.
      if (!isPrimal(around) && !isCotangent(around))
        use.outlives = true;
      else if (i >= around.getNumCarries())
        addRowReaders(around, i, op, scope, use);
      continue;
    }
    if (loop && i >= loop.getNumCarries() && isOfRows) {
      addReaders(loop.getBlock().getArgument(i), op, scope, use);
      continue;
    }
    // If the body of a loop reads a whole stack from above, the loop counts as the reader, not its
    // iterations.
    if (isOfRows && isa<OpResult>(value))
      reader = value.getParentBlock()->findAncestorOpInBlock(*reader);
    // An op in a loop of the scope, replays included, counts as that loop. A replay of another
    // gradient's op reads the value like that op.
    auto isMember = [&](Operation *at) {
      Operation *planned = isReplay(at) ? getOriginal(at) : at;
      return planned && scopeOf.lookup_or(planned, scopes.size()) == scope;
    };
    while (reader && !isMember(reader))
      reader = reader->getParentOp();
    if (!reader) {
      use.outlives = true;
    } else if (isReplay(reader) && isa<OffloadOp>(reader)) {
      continue; // reads the copy on the host
    } else if (isReplay(reader) || getLevel(reader) > getLevel(op)) {
      use.held = true;
      use.crossesUnits |= getOutermostUnit(reader) != getOutermostUnit(op);
    }
  }
}

Use Verifier::findUse(OpResult result, size_t scope) {
  Use use;
  Operation *op = result.getOwner();
  addReaders(result, op, scope, use);
  if (auto found = replaysOf.find(op); found != replaysOf.end())
    for (Operation *replay : found->second)
      use.replayed |= !replay->getResult(result.getResultNumber()).use_empty();
  addViews(result, uses, use);
  return use;
}

LogicalResult Verifier::verifyDecision(OpResult result, const Use &use, const Verdict &verdict) {
  auto fail = [&](const Twine &message) {
    return result.getOwner()->emitError("result ") << result.getResultNumber() << " " << message;
  };
  using checkpoint::Decision;
  bool saysReplayed = verdict.decision == Decision::Replayed;
  bool saysHeld = verdict.decision == Decision::Saved || verdict.decision == Decision::Kept;
  bool isHeld = use.held || use.viewed;
  if (use.replayed != saysReplayed || (!use.replayed && isHeld != saysHeld))
    return fail("is decided '" + StringRef(getText(verdict.decision)) + "', but " +
                (use.replayed ? "a replay of it is read"
                 : use.held   ? "the backward pass reads it"
                 : use.viewed ? "the backward pass reads a view of it"
                              : "the backward pass does not read it"));
  return verifyLabel(result, use, verdict.reason);
}

LogicalResult Verifier::verifyPlan(Operation *op) {
  for (StringRef name : {kDecisionsAttr, kReasonsAttr})
    if (auto list = op->getAttrOfType<ArrayAttr>(name); !list || list.size() != op->getNumResults())
      return op->emitError("expected a decision and a reason per result");
  for (OpResult result : op->getOpResults()) {
    std::optional<Verdict> verdict = readVerdict(result);
    if (!verdict)
      return op->emitError("expected decisions, and a reason or a rule for each");
    if (failed(verifyDecision(result, uses.lookup(result), *verdict)))
      return failure();
  }
  return success();
}

/// Verifies a scope. Readers come first, so that the uses of a view are known before those of its
/// operand.
LogicalResult Verifier::verifyScope(size_t scope) {
  uses.clear();
  for (Operation *op : llvm::reverse(scopes[scope]))
    if (op && isPrimal(op))
      for (OpResult result : op->getOpResults())
        uses[result] = findUse(result, scope);
  for (Operation *op : scopes[scope])
    if (op && isPrimal(op) && failed(verifyPlan(op)))
      return failure();
  return verifyMemory(scopes[scope], uses);
}

LogicalResult Verifier::run() {
  if (failed(collect()))
    return failure();
  for (Operation *replay : replays)
    if (failed(verifyReplay(replay)))
      return failure();
  scopes = findScopes(function);
  for (auto [i, scope] : llvm::enumerate(scopes))
    for (Operation *op : scope)
      if (op)
        scopeOf[op] = i;
  for (size_t i = 0; i < scopes.size(); ++i)
    if (failed(verifyScope(i)))
      return failure();
  return success();
}

struct VerifyCheckpointPass : impl::VerifyCheckpointPassBase<VerifyCheckpointPass> {
  using Base::Base;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    if (failed(verify(getOperation())))
      signalPassFailure();
  }

  static LogicalResult verify(ProgramOp function) {
    Verifier verifier(function);
    return success(succeeded(verifier.run()) &&
                   succeeded(compare(function, kSavedBytesAttr, countSavedBytes(function))) &&
                   succeeded(compare(function, kReplayedOpsAttr, countReplayedOps(function))));
  }

  static LogicalResult compare(ProgramOp function, StringRef name, int64_t actual) {
    auto stated = function->getAttrOfType<IntegerAttr>(name);
    if (!stated)
      return function.emitError("expected '") << name << "': run reprise-checkpoint first";
    if (stated.getInt() != actual)
      return function.emitError("expected '")
             << name << "' to be " << actual << ", as the graph says, but it is "
             << stated.getInt();
    return success();
  }
};

} // namespace
} // namespace reprise
