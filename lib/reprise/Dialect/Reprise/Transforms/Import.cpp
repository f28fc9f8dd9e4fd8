// reprise: reduces a module to one entry function in the form that the phases expect.
#include "reprise/Dialect/Reprise/Transforms/Passes.h"

#include "Signature.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "reprise/Dialect/Reprise/IR/AttributeTable.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/Naming.h"
#include "reprise/Dialect/Reprise/IR/PlanAttributes.h"
#include "reprise/Dialect/Reprise/IR/Sizes.h"
#include "reprise/Dialect/Reprise/Transforms/Grid.h"

using namespace mlir;

namespace reprise {
#define GEN_PASS_DEF_IMPORTPASS
#include "reprise/Dialect/Reprise/Transforms/Passes.h.inc"

namespace {

/// Replaces calls and differentiated symbols by copies of the bodies, depth first.
class CallInliner {
public:
  explicit CallInliner(SymbolTable &symbols) : symbols(symbols) {}

  LogicalResult expandRegion(Region &region) {
    SmallVector<Operation *> ops;
    for (Block &block : region)
      for (Operation &op : block)
        ops.push_back(&op);
    for (Operation *op : ops)
      if (failed(expand(op)))
        return failure();
    return success();
  }

private:
  LogicalResult expand(Operation *op) {
    if (auto call = dyn_cast<func::CallOp>(op))
      return expandCall(call);
    if (auto derivative = dyn_cast<ValueAndGradOp>(op); derivative && derivative.getCalleeAttr())
      return expandDerivative(derivative);
    for (Region &region : op->getRegions())
      if (failed(expandRegion(region)))
        return failure();
    return success();
  }

  /// The callee, with a body and not on the stack of callers.
  FailureOr<func::FuncOp> enter(Operation *caller, StringRef name) {
    auto callee = symbols.lookup<func::FuncOp>(name);
    if (!callee || callee.isExternal())
      return caller->emitError("'") << name << "' is not a function with a body";
    if (!callee.getBody().hasOneBlock())
      return caller->emitError("expected a function of one block, but '") << name << "' branches";
    if (llvm::is_contained(stack, callee)) {
      auto diagnostic = caller->emitError("recursive use of '") << name << "'";
      diagnostic.attachNote(callee.getLoc()) << "the function";
      return diagnostic;
    }
    if (stack.size() == kDeepestCalls)
      return caller->emitError("calls nest deeper than ") << kDeepestCalls << " levels";
    stack.push_back(callee);
    return callee;
  }

  /// Calls of calls may double the graph at every level: stops before the machine's memory does.
  LogicalResult count(Operation *caller, func::FuncOp callee) {
    callee.walk([&](Operation *) { ++copied; });
    if (copied <= kMostCopies)
      return success();
    return caller->emitError(
        "the entry grows beyond 2^20 ops when calls are replaced by what they call");
  }

  LogicalResult expandCall(func::CallOp call) {
    if (call->hasAttr(kLabelAttr))
      return call.emitError("expected a label on an op with a value to save, got '")
             << call->getName() << "'";
    auto callee = enter(call, call.getCallee());
    if (failed(callee) || failed(count(call, *callee)))
      return failure();
    OpBuilder builder(call);
    IRMapping mapping;
    mapping.map(callee->getArguments(), call.getOperands());
    SmallVector<Operation *> copies;
    for (Operation &op : callee->getBody().front().without_terminator())
      copies.push_back(builder.clone(op, mapping));
    for (auto [result, value] :
         llvm::zip(call.getResults(), callee->getBody().front().getTerminator()->getOperands()))
      result.replaceAllUsesWith(mapping.lookup(value));
    call.erase();
    for (Operation *copy : copies)
      if (failed(expand(copy)))
        return failure();
    stack.pop_back();
    return success();
  }

  LogicalResult expandDerivative(ValueAndGradOp op) {
    auto callee = enter(op, *op.getCallee());
    if (failed(callee) || failed(count(op, *callee)))
      return failure();
    IRMapping mapping;
    callee->getBody().cloneInto(&op.getBody(), mapping);
    Operation *terminator = op.getBody().front().getTerminator();
    OpBuilder builder(terminator);
    YieldOp::create(builder, terminator->getLoc(), terminator->getOperands());
    terminator->erase();
    op.removeCalleeAttr();
    if (failed(expandRegion(op.getBody())))
      return failure();
    stack.pop_back();
    return success();
  }

  static constexpr int64_t kMostCopies = int64_t(1) << 20;
  // We limit the depth, because the inliner, and walks over its results for nested gradients,
  // recurse.
  static constexpr size_t kDeepestCalls = 1000;

  SymbolTable &symbols;
  SmallVector<func::FuncOp> stack;
  int64_t copied = 0;
};

/// Makes `value` span `shape`: dimensions of size 1 are dropped, then broadcast again.
Value broadcastTo(OpBuilder &builder, Location location, Value value, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t shift = shape.size() - type.getRank();
  SmallVector<int64_t> kept, dims;
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (type.getDimSize(d) == shape[d + shift]) {
      kept.push_back(type.getDimSize(d));
      dims.push_back(d + shift);
    }
  if (static_cast<int64_t>(kept.size()) != type.getRank())
    value = ReshapeOp::create(builder, location, type.clone(kept), value);
  return BroadcastOp::create(builder, location, type.clone(shape), value, dims);
}

void makeBroadcastsExplicit(func::FuncOp entry) {
  entry.walk([](ElementwiseOpInterface op) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(op->getResult(0).getType()).getShape();
    OpBuilder builder(op);
    for (OpOperand &operand : op->getOpOperands())
      if (cast<RankedTensorType>(operand.get().getType()).getShape() != shape)
        operand.set(broadcastTo(builder, op->getLoc(), operand.get(), shape));
  });
}

/// Tells whether the name is an attribute of command lists or of steps in pieces.
bool isOfCommands(StringRef name) { return name.starts_with("exec.") || name.starts_with("pipe."); }

/// Verifies that a model has no attributes of later phases, which would be misread, and no seeds
/// and offsets, which the random phase adds: a computed offset may be no multiple of 4.
LogicalResult checkUntouched(Operation *op) {
  if (auto random = dyn_cast<RandomOpInterface>(op);
      random && random.draws() && random.getSeedOperand())
    return op->emitError("expected a random op without seed and offset: the compiler adds them");
  for (NamedAttribute attribute : op->getDiscardableAttrs()) {
    StringRef name = attribute.getName();
    const AttributeRow *row = findAttribute(getAttributeTable(), name);
    bool isOfPhase = row ? row->first != "model" : isOfCommands(name);
    if (isOfPhase)
      return op->emitError("unexpected attribute '") << name << "' on an op of a model";
  }
  return success();
}

LogicalResult checkOps(func::FuncOp entry) {
  WalkResult result = entry.walk([&](Operation *op) {
    bool known =
        isa_and_nonnull<RepriseDialect>(op->getDialect()) || isa<func::FuncOp, func::ReturnOp>(op);
    if (!known)
      op->emitError("'") << op->getName() << "' is not an op of the model graph";
    return known && succeeded(checkUntouched(op)) ? WalkResult::advance() : WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

struct ImportPass : impl::ImportPassBase<ImportPass> {
  using Base::Base;

  void runOnOperation() override {
    if (failed(import(getOperation())))
      signalPassFailure();
  }

  /// Compares the grid of the module with the mesh of the options.
  LogicalResult checkMesh(ModuleOp module) {
    if (mesh.empty())
      return success();
    if (mesh.size() != 3)
      return module.emitError("expected replicas, stages and parts as the mesh, got ")
             << mesh.size() << " numbers";
    FailureOr<Grid> grid = Grid::find(module);
    return failure(failed(grid) || failed(grid->check(mesh[0], mesh[1], mesh[2])));
  }

  LogicalResult import(ModuleOp module) {
    SymbolTable symbols(module);
    auto function = symbols.lookup<func::FuncOp>(entry);
    if (std::string fault = findEntryFault(module, entry); !fault.empty())
      return module.emitError(fault);
    if (!function.getBody().hasOneBlock())
      return function.emitError("expected an entry of one block");
    CallInliner inliner(symbols);
    if (failed(checkMesh(module)) || failed(inliner.expandRegion(function.getBody())) ||
        failed(takeShardings(function)) || failed(checkOps(function)) ||
        failed(completeSignature(function)) || failed(checkSizes(function)))
      return failure();
    for (Operation &op : llvm::make_early_inc_range(module.getBody()->getOperations()))
      if (&op != function.getOperation() && !isa<PolicyOp>(op))
        op.erase();
    int64_t stream = 0;
    function.walk<WalkOrder::PreOrder>([&](RandomOpInterface op) {
      if (op.draws())
        op.setStreamNumber(stream++);
    });
    makeBroadcastsExplicit(function);
    function.walk([](DotBiasOp op) { op.expand(); });
    return success();
  }
};

} // namespace
} // namespace reprise
