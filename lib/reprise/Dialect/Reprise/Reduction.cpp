// reprise: how reprise-reduce shrinks a model
#include "reprise/Dialect/Reprise/Reduction.h"

#include "mlir/IR/Iterators.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Reducer/Tester.h"
#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace reprise {
namespace {

// ===-- Edits: each shrinks a function, or returns false
// --------------------------------------===//

using Ops = SmallVector<Operation *>;

Ops opsOf(FunctionOpInterface function) {
  Ops ops;
  function.walk([&](Operation *op) {
    if (op != function.getOperation() && !op->hasTrait<OpTrait::IsTerminator>())
      ops.push_back(op);
  });
  return ops;
}

bool hasCallers(FunctionOpInterface function) {
  return !SymbolTable::symbolKnownUseEmpty(function, function->getParentOp());
}

/// Makes a constant of ones, since zeros would hide values computed from them.
Value makeConstant(OpBuilder &builder, Location location, RankedTensorType type) {
  Type element = type.getElementType();
  Attribute one = isa<FloatType>(element) ? Attribute(builder.getFloatAttr(element, 1.0))
                                          : builder.getIntegerAttr(element, 1);
  return ConstantOp::create(builder, location, DenseElementsAttr::get(type, one));
}

/// Adds an argument with an initial value, which no fold can remove.
Value makeArgument(FunctionOpInterface function, RankedTensorType type, Location location) {
  MLIRContext *context = type.getContext();
  Builder b(context);
  Attribute init = UniformIntInitAttr::get(context, 0, 4);
  if (isa<FloatType>(type.getElementType()))
    init = NormalInitAttr::get(context, b.getF64FloatAttr(0), b.getF64FloatAttr(1));
  unsigned index = function.getNumArguments();
  if (failed(function.insertArgument(index, type, b.getDictionaryAttr({}), location)))
    return nullptr;
  function.setArgAttr(index, EntrySignature::kInit, init);
  return function.getArgument(index);
}

/// Puts arguments (or constants) in the place of all ops of a range.
bool replaceOps(FunctionOpInterface function, size_t begin, size_t end, bool byArguments) {
  Ops ops = opsOf(function);
  bool changed = false;
  for (size_t i = std::min(end, ops.size()); i-- > begin;) {
    Operation *op = ops[i];
    // We skip ops with regions in longer ranges, because an op inside an erased op no longer
    // exists.
    bool isOpaque = op->getNumRegions() != 0 && end - begin != 1;
    if (isOpaque || isa<ConstantOp>(op))
      continue;
    OpBuilder builder(op);
    for (Value result : op->getResults()) {
      auto type = cast<RankedTensorType>(result.getType());
      if (result.use_empty())
        continue;
      bool asArgument = byArguments && !type.getElementType().isInteger(1);
      result.replaceAllUsesWith(asArgument ? makeArgument(function, type, op->getLoc())
                                           : makeConstant(builder, op->getLoc(), type));
    }
    op->erase();
    changed = true;
  }
  return changed;
}

bool eraseUnused(FunctionOpInterface function, size_t index) {
  Operation *op = opsOf(function)[index];
  if (!op->use_empty())
    return false;
  op->erase();
  return true;
}

/// Lets an operand stand for each result.
bool forwardOperand(FunctionOpInterface function, size_t index) {
  Operation *op = opsOf(function)[index];
  SmallVector<Value> values;
  for (Value result : op->getResults()) {
    auto sameType = [&](Value operand) { return operand.getType() == result.getType(); };
    auto found = llvm::find_if(op->getOperands(), sameType);
    if (found == op->operand_end())
      return false;
    values.push_back(*found);
  }
  op->replaceAllUsesWith(values);
  op->erase();
  return true;
}

/// Replaces a block or a gradient by its body; results of a gradient that are cotangents become
/// ones.
bool inlineBody(FunctionOpInterface function, size_t index) {
  Operation *op = opsOf(function)[index];
  if (op->getNumRegions() != 1 || !op->getRegion(0).hasOneBlock())
    return false;
  Block &body = op->getRegion(0).front();
  if (body.getNumArguments() != op->getNumOperands() || !isa<YieldOp>(body.getTerminator()))
    return false;
  for (auto [argument, operand] : llvm::zip(body.getArguments(), op->getOperands()))
    argument.replaceAllUsesWith(operand);
  SmallVector<Value> values(body.getTerminator()->getOperands());
  body.getTerminator()->erase();
  op->getBlock()->getOperations().splice(op->getIterator(), body.getOperations());
  OpBuilder builder(op);
  for (size_t i = values.size(); i < op->getNumResults(); ++i)
    values.push_back(
        makeConstant(builder, op->getLoc(), cast<RankedTensorType>(op->getResult(i).getType())));
  op->replaceAllUsesWith(values);
  op->erase();
  return true;
}

bool dropAttributes(FunctionOpInterface function, size_t index) {
  Operation *op = opsOf(function)[index];
  bool had = !op->getDiscardableAttrs().empty();
  op->setDiscardableAttrs(DictionaryAttr::get(op->getContext()));
  if (auto checkpoint = dyn_cast<CheckpointOp>(op); checkpoint && checkpoint.getPolicyAttr()) {
    checkpoint.removePolicyAttr();
    had = true;
  }
  return had;
}

/// The op again with the results that are read, its body yielding no others.
bool dropResults(FunctionOpInterface function, size_t index) {
  Operation *op = opsOf(function)[index];
  if (!isa<BlockOp, CheckpointOp>(op))
    return false;
  llvm::BitVector unused(op->getNumResults());
  for (OpResult result : op->getResults())
    if (result.use_empty())
      unused.set(result.getResultNumber());
  if (unused.none())
    return false;
  op->getRegion(0).front().getTerminator()->eraseOperands(unused);
  OperationState state(op->getLoc(), op->getName(), op->getOperands(), {}, op->getAttrs());
  for (OpResult result : op->getResults())
    if (!unused.test(result.getResultNumber()))
      state.addTypes(result.getType());
  state.addRegion()->takeBody(op->getRegion(0));
  OpBuilder builder(op);
  Operation *made = builder.create(state);
  size_t next = 0;
  for (OpResult result : op->getResults())
    if (!unused.test(result.getResultNumber()))
      result.replaceAllUsesWith(made->getResult(next++));
  op->erase();
  return true;
}

bool eraseResults(FunctionOpInterface function, size_t begin, size_t end) {
  unsigned count = function.getNumResults();
  if (hasCallers(function) || begin >= count)
    return false;
  llvm::BitVector erased(count);
  erased.set(begin, std::min<size_t>(end, count));
  function.back().getTerminator()->eraseOperands(erased);
  return succeeded(function.eraseResults(erased));
}

/// Returns the results of one op, and drops the ops behind it.
bool returnEarlier(FunctionOpInterface function, size_t index) {
  Operation *op = opsOf(function)[index];
  Operation *end = function.back().getTerminator();
  if (hasCallers(function) || op->getParentOp() != function ||
      llvm::equal(op->getResults(), end->getOperands()))
    return false;
  end->setOperands(op->getResults());
  function.removeResAttrsAttr();
  function.setType(
      FunctionType::get(op->getContext(), function.getArgumentTypes(), op->getResultTypes()));
  return true;
}

bool eraseArguments(FunctionOpInterface function) {
  if (hasCallers(function))
    return false;
  llvm::BitVector erased(function.getNumArguments());
  for (BlockArgument argument : function.getArguments())
    if (argument.use_empty())
      erased.set(argument.getArgNumber());
  return erased.any() && succeeded(function.eraseArguments(erased));
}

void eraseDead(FunctionOpInterface function) {
  function.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isOpTriviallyDead(op))
      op->erase();
  });
}

//===-- The search ----------------------------------------------------------------------------===//

class Reducer {
public:
  Reducer(ModuleOp module, StringRef script) : tester(script, {}), best(module.clone()) {}

  bool isInteresting(ModuleOp module) {
    return tester.isInteresting(module).first == Tester::Interestingness::True;
  }
  /// Applies edits until none succeeds, and returns the smallest module.
  ModuleOp run() {
    while (sweep()) {
    }
    return *best;
  }

private:
  bool sweep();
  bool sweep(StringRef name);
  bool sweepPolicies();
  bool attempt(llvm::function_ref<bool(ModuleOp)> edit);
  bool attempt(StringRef name, llvm::function_ref<bool(FunctionOpInterface)> edit);
  bool inRanges(StringRef name, size_t count,
                llvm::function_ref<bool(FunctionOpInterface, size_t, size_t)> edit);
  FunctionOpInterface find(StringRef name) { return best->lookupSymbol<FunctionOpInterface>(name); }

  Tester tester;
  OwningOpRef<ModuleOp> best;
  llvm::StringSet<> seen; ///< programs that are not interesting
};

bool Reducer::attempt(llvm::function_ref<bool(ModuleOp)> edit) {
  OwningOpRef<ModuleOp> candidate = best->clone();
  ScopedDiagnosticHandler quiet(best->getContext(), [](Diagnostic &) { return success(); });
  if (!edit(*candidate) || failed(verify(*candidate)))
    return false;
  std::string text;
  llvm::raw_string_ostream stream(text);
  candidate->print(stream);
  if (!seen.insert(text).second || !isInteresting(*candidate))
    return false;
  best = std::move(candidate);
  return true;
}

bool Reducer::attempt(StringRef name, llvm::function_ref<bool(FunctionOpInterface)> edit) {
  return attempt([&](ModuleOp module) {
    auto function = module.lookupSymbol<FunctionOpInterface>(name);
    if (!edit(function))
      return false;
    eraseDead(function);
    return true;
  });
}

/// Halves, quarters, … of `count` things, from the last to the first.
bool Reducer::inRanges(StringRef name, size_t count,
                       llvm::function_ref<bool(FunctionOpInterface, size_t, size_t)> edit) {
  bool changed = false;
  for (size_t size = count; size > 0; size /= 2)
    for (size_t end = count; end > 0; end -= std::min(end, size)) {
      size_t begin = end - std::min(end, size);
      changed |= attempt(name, [&](FunctionOpInterface f) { return edit(f, begin, end); });
    }
  return changed;
}

bool Reducer::sweep(StringRef name) {
  bool changed = inRanges(name, find(name).getNumResults(), eraseResults);
  bool isEntry = !hasCallers(find(name));
  for (size_t index = 0; isEntry && index < opsOf(find(name)).size(); ++index)
    changed |= attempt(name, [&](FunctionOpInterface f) { return returnEarlier(f, index); });
  auto byArguments = [&](FunctionOpInterface f, size_t begin, size_t end) {
    return replaceOps(f, begin, end, isEntry);
  };
  changed |= inRanges(name, opsOf(find(name)).size(), byArguments);
  for (auto edit : {eraseUnused, forwardOperand, inlineBody, dropResults, dropAttributes})
    for (size_t index = opsOf(find(name)).size(); index-- > 0;)
      if (index < opsOf(find(name)).size())
        changed |= attempt(name, [&](FunctionOpInterface f) { return edit(f, index); });
  changed |= attempt(name, eraseArguments);
  return changed;
}

/// Leaves out rules, and policies whole.
bool Reducer::sweepPolicies() {
  auto listOf = [](ModuleOp module) {
    Ops ops;
    module.walk([&](Operation *op) {
      if (isa<PolicyOp, RuleOp>(op))
        ops.push_back(op);
    });
    return ops;
  };
  bool changed = false;
  for (size_t index = listOf(*best).size(); index-- > 0;)
    changed |= attempt([&](ModuleOp module) {
      Ops ops = listOf(module);
      if (index >= ops.size())
        return false; // erased with its policy
      ops[index]->erase();
      return true;
    });
  return changed;
}

bool Reducer::sweep() {
  bool changed = sweepPolicies();
  std::vector<std::string> names;
  for (auto function : best->getOps<FunctionOpInterface>())
    names.push_back(function.getName().str());
  for (const std::string &name : names) {
    auto eraseFunction = [&](ModuleOp module) {
      auto function = module.lookupSymbol<FunctionOpInterface>(name);
      bool unused = !hasCallers(function);
      if (unused)
        function.erase();
      return unused;
    };
    if (attempt(eraseFunction))
      changed = true;
    else if (!find(name).isExternal())
      changed |= sweep(name);
  }
  return changed;
}

struct ShrinkPass : PassWrapper<ShrinkPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ShrinkPass)

  ShrinkPass() = default;
  ShrinkPass(const ShrinkPass &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "reprise-shrink"; }
  StringRef getDescription() const override {
    return "Takes from a model whatever its test can do without";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<RepriseDialect>();
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    Reducer reducer(module, test);
    if (!reducer.isInteresting(module)) {
      module.emitError("the test is not interested in the model: '") << test << "' returns 0";
      return signalPassFailure();
    }
    module.getBodyRegion().takeBody(reducer.run().getBodyRegion());
  }

  Option<std::string> test{
      *this, "test",
      llvm::cl::desc("A program that gets a file's name; it is interested unless it returns 0")};
};

} // namespace

void registerShrinkPass() { PassRegistration<ShrinkPass>(); }

} // namespace reprise
