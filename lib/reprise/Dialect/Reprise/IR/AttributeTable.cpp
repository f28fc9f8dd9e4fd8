// reprise: tables of the attributes that passes and models put on ops, arguments and results
#include "reprise/Dialect/Reprise/IR/AttributeTable.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Support/Wording.h"

using namespace mlir;

namespace reprise {

const AttributeRow *findAttribute(ArrayRef<AttributeRow> table, StringRef name) {
  const auto *found =
      llvm::find_if(table, [&](const AttributeRow &row) { return row.name == name; });
  return found == table.end() ? nullptr : found;
}

/// Returns the fault of an attribute; empty if it has none.
static std::string findFault(ArrayRef<AttributeRow> table, const AttributePlace &place,
                             NamedAttribute attribute) {
  std::string name = attribute.getName().str(), wrong;
  const AttributeRow *row = findAttribute(table, name);
  if (!row) {
    auto known = llvm::map_range(table, [](const AttributeRow &each) { return each.name.str(); });
    wrong = "unknown attribute '" + name + "'" + suggest(name, llvm::to_vector(known));
  } else if (!row->place.contains(place)) {
    wrong = "expected '" + name + "' on " + row->place.words.str();
  } else if (!row->value.contains(place, attribute.getValue())) {
    if (row->value.explain)
      wrong = row->value.explain(place, attribute.getValue());
    if (wrong.empty())
      wrong = "expected '" + name + "' to be " + row->value.words.str();
  }
  return wrong;
}

LogicalResult verifyAttribute(ArrayRef<AttributeRow> table, const AttributePlace &place,
                              NamedAttribute attribute) {
  std::string wrong = findFault(table, place, attribute);
  if (wrong.empty())
    return success();
  if (place.kind == AttributePlace::Op)
    return place.op->emitOpError(wrong);
  StringRef kind = place.kind == AttributePlace::Argument ? "argument" : "result";
  return place.op->emitError(wrong) << " (" << kind << " " << place.number << ")";
}

LogicalResult verifyArgumentAttribute(ArrayRef<AttributeRow> table, Operation *op, unsigned number,
                                      NamedAttribute attribute) {
  // A declaration has no block with typed arguments, so we read the function type.
  Type type = cast<FunctionOpInterface>(op).getArgumentTypes()[number];
  return verifyAttribute(table, {AttributePlace::Argument, op, number, type}, attribute);
}

LogicalResult verifyResultAttribute(ArrayRef<AttributeRow> table, Operation *op, unsigned number,
                                    NamedAttribute attribute) {
  Type type = cast<FunctionOpInterface>(op).getResultTypes()[number];
  return verifyAttribute(table, {AttributePlace::Result, op, number, type}, attribute);
}

void dropAttributes(Operation *root, ArrayRef<AttributeRow> table, StringRef last) {
  auto isOver = [&](NamedAttribute attribute) {
    const AttributeRow *row = findAttribute(table, attribute.getName());
    return row && row->last == last;
  };
  root->walk([&](Operation *op) {
    for (NamedAttribute attribute : llvm::to_vector(op->getDiscardableAttrs()))
      if (isOver(attribute))
        op->removeDiscardableAttr(attribute.getName());
  });
}

//===-- Places and values of several rows -----------------------------------------------------===//

bool isOpOfFunction(const AttributePlace &place) {
  return place.kind == AttributePlace::Op && !isa<FunctionOpInterface, ModuleOp>(place.op) &&
         !isa_and_present<ModuleOp>(place.op->getParentOp());
}

bool isFunction(const AttributePlace &place) {
  return place.kind == AttributePlace::Op && isa<FunctionOpInterface>(place.op);
}

bool isFunctionOrModule(const AttributePlace &place) {
  return place.kind == AttributePlace::Op && isa<FunctionOpInterface, ModuleOp>(place.op);
}

bool isLoop(const AttributePlace &place) {
  return place.kind == AttributePlace::Op && isa<LoopOp>(place.op);
}

bool isArgument(const AttributePlace &place) { return place.kind == AttributePlace::Argument; }
bool isResult(const AttributePlace &place) { return place.kind == AttributePlace::Result; }
bool isArgumentOrResult(const AttributePlace &place) {
  return isArgument(place) || isResult(place);
}

bool isNumber(Attribute value, int64_t most) {
  auto number = dyn_cast<IntegerAttr>(value);
  return number && number.getType().isSignlessInteger(64) && number.getInt() >= 0 &&
         number.getInt() <= most;
}

bool isNumbers(Attribute value, int64_t most) {
  auto numbers = dyn_cast<DenseI64ArrayAttr>(value);
  return numbers && llvm::all_of(numbers.asArrayRef(),
                                 [&](int64_t number) { return number >= 0 && number <= most; });
}

bool isMark(const AttributePlace &, Attribute value) { return isa<UnitAttr>(value); }
bool isCount(const AttributePlace &, Attribute value) { return isNumber(value, kMostOfCount); }
bool isIndex(const AttributePlace &, Attribute value) { return isNumber(value, kMostOfIndex); }

} // namespace reprise
