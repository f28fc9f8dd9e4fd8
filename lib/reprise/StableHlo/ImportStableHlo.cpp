// reprise: converts a module of StableHLO to a model of our dialect
#include "reprise/StableHlo/Passes.h"

#include "Importer.h"
#include "Shardings.h"
#include "mlir/Dialect/Shard/IR/ShardOps.h"
#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace reprise::stablehlo {
#define GEN_PASS_DEF_IMPORTSTABLEHLOPASS
#include "reprise/StableHlo/Passes.h.inc"

namespace {

const Handlers &allHandlers() {
  static const Handlers handlers = [] {
    Handlers list;
    addElementwise(list);
    addNumbers(list);
    addFunctions(list);
    addSpecial(list);
    addShapes(list);
    addContractions(list);
    addReductions(list);
    addWindows(list);
    addIndexing(list);
    addControl(list);
    return list;
  }();
  return handlers;
}

/// `params['layers'][0].w` as `params/layers/0/w`; `otherwise` if the place has no name.
std::string readName(Location location, const Twine &otherwise) {
  auto named = dyn_cast<NameLoc>(location);
  std::string name;
  for (char c : named ? named.getName().getValue() : StringRef())
    if (c == '[' || c == '.')
      name += '/';
    else if (c != ']' && c != '\'' && c != '"')
      name += c;
  return name.empty() ? otherwise.str() : name;
}

/// Names that arguments of an entry may have, each once.
SmallVector<std::string> readNames(func::FuncOp model) {
  SmallVector<std::string> names;
  llvm::StringSet<> seen = {"seed", "offset", "step"};
  for (BlockArgument argument : model.getArguments()) {
    unsigned i = argument.getArgNumber();
    std::string name = readName(argument.getLoc(), "argument" + Twine(i));
    if (!seen.insert(name).second)
      name += "/" + std::to_string(i);
    seen.insert(name);
    names.push_back(name);
  }
  return names;
}

struct ImportStableHloPass : impl::ImportStableHloPassBase<ImportStableHloPass> {
  using Base::Base;

  void runOnOperation() override {
    if (failed(import(getOperation())))
      signalPassFailure();
  }

private:
  /// Returns the only public function, or otherwise `@main`.
  static func::FuncOp findEntry(ModuleOp module) {
    func::FuncOp found;
    for (auto function : module.getOps<func::FuncOp>())
      if (function.isPublic() && !function.isExternal()) {
        if (function.getName() == "main")
          return function;
        found = function;
      }
    return found;
  }

  LogicalResult import(ModuleOp module) {
    func::FuncOp entry = findEntry(module);
    if (!entry || !entry.getBody().hasOneBlock())
      return emitError(module.getLoc(), "expected a public function of one block");
    Importer importer(module, allHandlers());
    func::FuncOp model = importer.importFunction(entry, "model");
    if (!model || failed(importer.report(module)) || failed(check(model)) ||
        failed(importShardings(module, entry, model, axes)))
      return failure();
    for (Operation &op : llvm::make_early_inc_range(module.getBody()->getOperations()))
      if (&op != model.getOperation() && !isa<shard::GridOp>(op))
        op.erase();
    for (NamedAttribute attribute : llvm::to_vector(module->getDiscardableAttrs()))
      module->removeDiscardableAttr(attribute.getName());
    Builder b(model.getLoc(), &getContext());
    b.setInsertionPointToEnd(module.getBody());
    writeEntry(b, model, /*isGradient=*/false);
    if (parameters > 0)
      writeEntry(b, model, /*isGradient=*/true);
    return success();
  }

  LogicalResult check(func::FuncOp model) {
    if (parameters < 0 || parameters > model.getNumArguments())
      return emitError(model.getLoc(), "expected up to ")
             << model.getNumArguments() << " parameters, got " << parameters.getValue();
    Type loss = model.getNumResults() > 0 ? model.getResultTypes()[0] : Type();
    auto scalar = dyn_cast_or_null<RankedTensorType>(loss);
    bool isLoss = scalar && scalar.getRank() == 0 && isa<FloatType>(scalar.getElementType());
    if (parameters > 0 && !isLoss)
      return emitError(model.getLoc(), "expected a float scalar, the loss, as the first result");
    for (int64_t i = 0; i < parameters; ++i)
      if (!isFloat(model.getArgument(i)))
        return emitError(model.getLoc(), "expected parameters of floats, but argument ")
               << i << " is of " << model.getArgument(i).getType();
    return success();
  }

  /// Writes an entry: `@forward` calls the model, `@grad` differentiates it.
  void writeEntry(Builder &b, func::FuncOp model, bool isGradient) {
    OpBuilder::InsertionGuard guard(b);
    SmallVector<Type> results(model.getResultTypes());
    SmallVector<int64_t> wrt;
    for (int64_t i = 0; isGradient && i < parameters; ++i) {
      wrt.push_back(i);
      results.push_back(model.getArgumentTypes()[i]);
    }
    auto entry = func::FuncOp::create(b, isGradient ? "grad" : "forward",
                                      b.getFunctionType(model.getArgumentTypes(), results));
    Block *block = entry.addEntryBlock();
    b.setInsertionPointToStart(block);
    ValueRange values;
    if (isGradient)
      values = ValueAndGradOp::create(b, results, FlatSymbolRefAttr::get(model.getSymNameAttr()),
                                      block->getArguments(), wrt)
                   .getResults();
    else
      values = func::CallOp::create(b, model, block->getArguments()).getResults();
    func::ReturnOp::create(b, values);
    nameEntry(b, entry, model);
  }

  void nameEntry(Builder &b, func::FuncOp entry, func::FuncOp model) {
    SmallVector<std::string> names = readNames(model);
    for (unsigned i = 0; i < entry.getNumArguments(); ++i) {
      bool isParameter = static_cast<int64_t>(i) < parameters;
      entry.setArgAttr(i, EntrySignature::kRole,
                       b.getStringAttr(isParameter ? "parameter" : "input"));
      entry.setArgAttr(i, EntrySignature::kName, b.getStringAttr(names[i]));
    }
    for (unsigned i = 0; i < entry.getNumResults(); ++i) {
      std::string name = "result/" + std::to_string(i);
      if (i >= model.getNumResults())
        name = "gradient/" + names[i - model.getNumResults()];
      else if (i == 0 && parameters > 0)
        name = "loss";
      entry.setResultAttr(i, EntrySignature::kName, b.getStringAttr(name));
    }
  }
};

} // namespace
} // namespace reprise::stablehlo
