// reprise: walks through functions of StableHLO and builds ours
#include "Importer.h"

#include "Checkpoints.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace reprise::stablehlo {

//===-- One op --------------------------------------------------------------------------------===//

Builder &Source::b() { return importer.b; }

RankedTensorType Source::type(unsigned result) {
  return importer.convert(op->getResult(result).getType());
}

bool Source::isUnsigned(unsigned operand) {
  Type type = op->getOperand(operand).getType();
  return getElementTypeOrSelf(type).isUnsignedInteger() && !isNarrow(type);
}

Integers Source::integers(Attribute attribute) {
  Integers list;
  if (auto array = dyn_cast_or_null<DenseI64ArrayAttr>(attribute))
    list.append(array.asArrayRef().begin(), array.asArrayRef().end());
  else if (auto booleans = dyn_cast_or_null<DenseBoolArrayAttr>(attribute))
    list.append(booleans.asArrayRef().begin(), booleans.asArrayRef().end());
  else if (auto dense = dyn_cast_or_null<DenseIntElementsAttr>(attribute))
    for (APInt number : dense.getValues<APInt>())
      list.push_back(number.getSExtValue());
  else if (auto elements = dyn_cast_or_null<ArrayAttr>(attribute))
    for (Attribute element : elements) {
      if (auto word = dyn_cast<StringAttr>(element))
        list.push_back(word.getValue() == "true");
      else if (auto integer = dyn_cast<IntegerAttr>(element))
        list.push_back(integer.getInt());
      else
        list.append(integers(element));
    }
  return list;
}

Integers Source::integers(StringRef name, StringRef field) {
  auto fields = op->getAttrOfType<DictionaryAttr>(name);
  return fields ? integers(fields.get(field)) : Integers();
}

int64_t Source::integer(StringRef name, int64_t otherwise) {
  auto attribute = op->getAttrOfType<IntegerAttr>(name);
  return attribute ? attribute.getInt() : otherwise;
}

std::string Source::word(StringRef name) {
  auto attribute = op->getAttrOfType<StringAttr>(name);
  return attribute ? attribute.getValue().str() : "";
}

bool Source::areDims(ArrayRef<int64_t> dims, int64_t rank) {
  llvm::SmallDenseSet<int64_t> seen;
  return llvm::all_of(dims, [&](int64_t d) { return d >= 0 && d < rank && seen.insert(d).second; });
}

Values Source::refuse(const Twine &why) {
  importer.refuse(op, why);
  return {};
}

//===-- Functions -----------------------------------------------------------------------------===//

void Importer::refuse(Operation *op, const Twine &why) { refused.emplace_back(op, why.str()); }

RankedTensorType Importer::convert(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return {};
  if (lifted && tensor.getRank() > 0)
    return {};
  ArrayRef<int64_t> shape = lifted ? ArrayRef(*lifted) : tensor.getShape();
  Type element = tensor.getElementType();
  if (element.isInteger(1))
    return RankedTensorType::get(shape, element);
  if (isNarrow(element))
    return RankedTensorType::get(shape, IntegerType::get(type.getContext(), 32));
  if (element.isInteger(32) || element.isInteger(64))
    return RankedTensorType::get(
        shape, IntegerType::get(type.getContext(), element.getIntOrFloatBitWidth()));
  if (element.isF32() || element.isF64() || element.isF16() || element.isBF16())
    return RankedTensorType::get(shape, element);
  return {};
}

/// Returns the op's name stack as scope, without its last part, the primitive, and without jit(…).
static Location convertLocation(Location location) {
  auto named = dyn_cast<NameLoc>(location);
  if (!named)
    return location;
  SmallVector<StringRef> parts, kept;
  named.getName().getValue().split(parts, '/');
  for (StringRef part : ArrayRef(parts).drop_back())
    if (!part.contains('(') && part != "checkpoint" && !part.empty())
      kept.push_back(part);
  Location child = named.getChildLoc();
  // Nested names of JAX are functions of the source, which are no scopes.
  if (kept.empty())
    return isa<NameLoc>(child) ? cast<NameLoc>(child).getChildLoc() : child;
  return NameLoc::get(StringAttr::get(location.getContext(), llvm::join(kept, "/")), child);
}

/// Returns zeros for the results of a refused op, so that the rest can be imported.
static Value makeZero(Builder &b, Type source, RankedTensorType type) {
  auto tensor = dyn_cast<RankedTensorType>(source);
  bool isStatic = tensor && tensor.hasStaticShape();
  if (!type)
    type =
        RankedTensorType::get(isStatic ? tensor.getShape() : ArrayRef<int64_t>(), b.getI32Type());
  return splat(b, type, 0);
}

/// Returns whether the op has the form that its handler reads, since unregistered ops are not
/// verified.
static bool hasForm(Operation *op, const Handler &handler) {
  int operands = op->getNumOperands(), regions = op->getNumRegions();
  bool hasOperands =
      handler.operands == Handler::kAny ? operands > 0 : operands == handler.operands;
  bool hasRegions = handler.regions == Handler::kAny ? regions > 0 : regions == handler.regions;
  // A reduction may name its op instead.
  hasRegions |= regions == 0 && op->hasAttr("applies");
  return hasOperands && hasRegions && llvm::all_of(op->getRegions(), [](Region &region) {
           return region.hasOneBlock() && !region.front().empty() &&
                  region.front().back().getNumResults() == 0;
         });
}

Values Importer::importKnown(Operation *op, const Handler &handler) {
  if (!hasForm(op, handler)) {
    refuse(op, "has an unknown form");
    return {};
  }
  Source source(*this, op, llvm::map_to_vector(op->getOperands(), [&](Value value) {
    return values.lookup(value);
  }));
  return handler.import(source);
}

void Importer::importOp(Operation *op) {
  b.setLoc(convertLocation(op->getLoc()));
  Values results;
  auto handler = handlers.find(op->getName().getStringRef());
  auto unknown = llvm::find_if(op->getResultTypes(), [&](Type type) { return !convert(type); });
  // A reader of a value that could not be imported was told with that value.
  bool isTold =
      !lifted && llvm::any_of(op->getOperandTypes(), [&](Type type) { return !convert(type); });
  if (isTold && !isa<func::CallOp>(op)) {
    results = {};
  } else if (!isa<func::CallOp>(op) && unknown != op->result_type_end()) {
    std::string type;
    llvm::raw_string_ostream(type) << *unknown;
    refuse(op, "has a result of type '" + type + "'");
  } else if (auto call = dyn_cast<func::CallOp>(op)) {
    results = importCall(call);
  } else if (handler == handlers.end()) {
    refuse(op, "");
  } else {
    results = importKnown(op, handler->second);
  }
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    RankedTensorType type = convert(result.getType());
    bool isThere = i < results.size() && results[i] && results[i].getType() == type;
    if (!isThere && !results.empty() && type)
      refuse(op, "has an unknown form");
    if (isThere && isNarrow(result.getType()) && !keepsRange(op))
      results[i] = wrapNarrow(b, results[i], result.getType());
    values.map(result, isThere ? results[i] : makeZero(b, result.getType(), type));
  }
}

Values Importer::importCall(func::CallOp call) {
  Values arguments =
      llvm::map_to_vector(call.getOperands(), [&](Value value) { return values.lookup(value); });
  return importCallee(call, symbols.lookup<func::FuncOp>(call.getCallee()), arguments);
}

Values Importer::importCallee(Operation *caller, func::FuncOp callee, Values arguments) {
  bool isKnown = callee && callee.getBody().hasOneBlock() &&
                 ValueRange(arguments).size() == callee.getNumArguments();
  if (!isKnown || llvm::is_contained(stack, callee)) {
    refuse(caller, "calls a symbol that is not a function of one block");
    return {};
  }
  stack.push_back(callee);
  Values results = importRegion(callee.getBody(), arguments);
  stack.pop_back();
  return results;
}

func::FuncOp Importer::findCallee(ArrayAttr names) {
  auto symbol =
      names && names.size() == 1 ? dyn_cast<FlatSymbolRefAttr>(names[0]) : FlatSymbolRefAttr();
  return symbol ? symbols.lookup<func::FuncOp>(symbol.getValue()) : func::FuncOp();
}

Values Importer::importRegion(Region &region, ValueRange arguments) {
  values.map(region.getArguments(), arguments);
  return importBlock(region.front());
}

/// Imports a checkpoint around the ops; values of it that other ops read are its results.
void Importer::importCheckpoint(ArrayRef<Operation *> ops) {
  Location location = convertLocation(ops.front()->getLoc());
  Values read;
  for (Operation *op : ops)
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) {
            Operation *inBlock = op->getBlock()->findAncestorOpInBlock(*user);
            return !llvm::is_contained(ops, inBlock);
          }))
        read.push_back(result);
  Region body;
  Block &block = body.emplaceBlock();
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&block);
    openRegions.push_back(&body);
    for (Operation *op : ops)
      importOp(op);
    openRegions.pop_back();
    Values results = llvm::map_to_vector(read, [&](Value value) { return values.lookup(value); });
    b.setLoc(location);
    YieldOp::create(b, results);
  }
  b.setLoc(location);
  auto checkpoint = CheckpointOp::create(b, block.getTerminator()->getOperandTypes(), StringAttr());
  checkpoint.getBody().takeBody(body);
  values.map(read, checkpoint.getResults());
}

Values Importer::importBlock(Block &block) {
  for (const Run &run : splitAtCheckpoints(block))
    if (run.isCheckpoint)
      importCheckpoint(run.ops);
    else
      for (Operation *op : run.ops)
        importOp(op);
  return llvm::map_to_vector(block.getTerminator()->getOperands(),
                             [&](Value value) { return values.lookup(value); });
}

func::FuncOp Importer::importFunction(func::FuncOp function, StringRef name) {
  Values arguments;
  SmallVector<Type> types;
  for (BlockArgument argument : function.getArguments()) {
    types.push_back(convert(argument.getType()));
    if (types.back())
      continue;
    emitError(function.getLoc(), "argument ") << argument.getArgNumber() << " has type "
                                              << argument.getType() << ", which is not imported";
    return {};
  }
  b.setInsertionPoint(function);
  b.setLoc(function.getLoc());
  auto made = func::FuncOp::create(b, name, b.getFunctionType(types, {}));
  made.setPrivate();
  Block *block = made.addEntryBlock();
  for (auto [own, argument] : llvm::zip(block->getArguments(), function.getArguments()))
    own.setLoc(argument.getLoc());
  b.setInsertionPointToStart(block);
  stack.push_back(function);
  Values results = importRegion(function.getBody(), block->getArguments());
  stack.pop_back();
  b.setLoc(function.getLoc());
  func::ReturnOp::create(b, results);
  made.setFunctionType(b.getFunctionType(types, ValueRange(results).getTypes()));
  return made;
}

LogicalResult Importer::report(ModuleOp module) {
  if (refused.empty())
    return success();
  llvm::SmallSetVector<Operation *, 8> seen;
  for (auto &[op, why] : refused)
    seen.insert(op);
  auto &[first, reason] = refused.front();
  if (seen.size() == 1)
    return emitError(first->getLoc()) << "not imported from StableHLO: '" << first->getName() << "'"
                                      << (reason.empty() ? "" : " ") << reason;
  auto diagnostic = emitError(first->getLoc())
                    << seen.size() << " ops are not imported from StableHLO";
  for (auto &[op, why] : refused)
    if (seen.remove(op))
      diagnostic.attachNote(op->getLoc())
          << "'" << op->getName() << "'" << (why.empty() ? "" : " ") << why;
  return failure();
}

} // namespace reprise::stablehlo
