// reprise: reduces a module to one entry function in the form that the phases expect.
#include "reprise/Dialect/Reprise/Transforms/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringSet.h"

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
    stack.push_back(callee);
    return callee;
  }

  LogicalResult expandCall(func::CallOp call) {
    auto callee = enter(call, call.getCallee());
    if (failed(callee))
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
    if (failed(callee))
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

  SymbolTable &symbols;
  SmallVector<func::FuncOp> stack;
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

/// Fills in missing roles and names and refuses names that occur twice.
LogicalResult completeSignature(func::FuncOp entry) {
  Builder builder(entry.getContext());
  llvm::StringSet<> names;
  for (unsigned i = 0; i < entry.getNumArguments(); ++i) {
    auto type = dyn_cast<RankedTensorType>(entry.getArgument(i).getType());
    if (!type || !type.hasStaticShape())
      return entry.emitError("expected a statically shaped tensor as argument ")
             << i << " of the entry but got " << entry.getArgument(i).getType();
    if (!entry.getArgAttr(i, "reprise.role"))
      entry.setArgAttr(i, "reprise.role", builder.getStringAttr("input"));
    if (!entry.getArgAttr(i, "reprise.name"))
      entry.setArgAttr(i, "reprise.name", builder.getStringAttr("argument" + Twine(i)));
    auto name = entry.getArgAttrOfType<StringAttr>(i, "reprise.name");
    if (!names.insert(name.getValue()).second)
      return entry.emitError("two arguments of the entry have the name '") << name.getValue() << "'";
  }
  llvm::StringSet<> results;
  for (unsigned i = 0; i < entry.getNumResults(); ++i) {
    if (!entry.getResultAttr(i, "reprise.name"))
      entry.setResultAttr(i, "reprise.name", builder.getStringAttr("result" + Twine(i)));
    auto name = entry.getResultAttrOfType<StringAttr>(i, "reprise.name");
    if (!results.insert(name.getValue()).second)
      return entry.emitError("two results of the entry have the name '") << name.getValue() << "'";
  }
  return success();
}

/// A result that carries an argument's name must have its type.
LogicalResult checkNextValues(func::FuncOp entry) {
  llvm::StringMap<Type> arguments;
  for (unsigned i = 0; i < entry.getNumArguments(); ++i)
    arguments[entry.getArgAttrOfType<StringAttr>(i, "reprise.name").getValue()] = entry.getArgument(i).getType();
  for (unsigned i = 0; i < entry.getNumResults(); ++i) {
    StringRef name = entry.getResultAttrOfType<StringAttr>(i, "reprise.name").getValue();
    auto argument = arguments.find(name);
    if (argument != arguments.end() && argument->second != entry.getResultTypes()[i])
      return entry.emitError("result '") << name << "' is the next value of an argument of type " << argument->second
                                         << " but has type " << entry.getResultTypes()[i];
  }
  return success();
}

LogicalResult checkOps(func::FuncOp entry) {
  WalkResult result = entry.walk([&](Operation *op) {
    bool known = isa<RepriseDialect>(op->getDialect()) || isa<func::FuncOp, func::ReturnOp>(op);
    if (known)
      return WalkResult::advance();
    op->emitError("'") << op->getName() << "' is not an op of the model graph";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

struct ImportPass : impl::ImportPassBase<ImportPass> {
  using Base::Base;

  void runOnOperation() override {
    if (failed(import(getOperation())))
      signalPassFailure();
  }

  LogicalResult import(ModuleOp module) {
    SymbolTable symbols(module);
    auto function = symbols.lookup<func::FuncOp>(entry);
    if (!function || function.isExternal())
      return reportUnknownEntry(module);
    if (!function.getBody().hasOneBlock())
      return function.emitError("expected an entry of one block");
    CallInliner inliner(symbols);
    if (failed(inliner.expandRegion(function.getBody())) || failed(completeSignature(function)) ||
        failed(checkNextValues(function)))
      return failure();
    for (Operation &op : llvm::make_early_inc_range(module.getBody()->getOperations()))
      if (&op != function.getOperation())
        op.erase();
    function.setPublic();
    int64_t stream = 0;
    function.walk<WalkOrder::PreOrder>([&](RandomOpInterface op) {
      if (op.draws())
        op.setStreamNumber(stream++);
    });
    makeBroadcastsExplicit(function);
    return checkOps(function);
  }

  LogicalResult reportUnknownEntry(ModuleOp module) {
    auto diagnostic = module.emitError("unknown entry '") << entry << "'";
    auto functions = llvm::to_vector(module.getOps<func::FuncOp>());
    llvm::erase_if(functions, [](func::FuncOp f) { return f.isPrivate() || f.isExternal(); });
    if (!functions.empty()) {
      diagnostic << ", expected one of ";
      llvm::interleaveComma(functions, diagnostic, [&](func::FuncOp f) { diagnostic << "'" << f.getName() << "'"; });
    }
    return diagnostic;
  }
};

} // namespace
} // namespace reprise
