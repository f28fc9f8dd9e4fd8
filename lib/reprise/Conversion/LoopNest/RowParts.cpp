// reprise: emits the kernel of one loop nest: sums down the rows of a block
#include "NestEmitter.h"

#include "reprise/Conversion/Emission.h"

using namespace mlir;

namespace reprise::nests {

Value NestEmitter::rowPartsPosition(Value column) {
  int64_t columns = nest.shape.columnCount(), kept = nest.shape.outerSize() * columns;
  Value at = k.add(k.mul(rowBlock, kept), k.mul(outerNumber, columns));
  return k.add(k.add(at, firstColumn), column);
}

static SmallVector<StoreOp> rowParts(const Nest &nest) {
  SmallVector<StoreOp> parts;
  llvm::copy_if(nest.roots, std::back_inserter(parts),
                [](StoreOp root) { return root.getWhat() == Stored::RowParts; });
  return parts;
}

/// Returns the vector that parts start from.
static Value identityOf(ImplicitLocOpBuilder &b, StoreOp root, int64_t width) {
  Type type = getComputeType(typeOf(root.getElement()));
  return emitIdentity(b, kindOf(*root.getFold()), typeOfLanes(type, width));
}

void NestEmitter::sumRows(Value lastRow, llvm::function_ref<void(Value)> emitOne) {
  Carried identities;
  Scope scope;
  scope.width = schedule.width;
  for (StoreOp root : rowParts(nest))
    identities.push_back(identityOf(b, root, scope.width));
  auto addRow = [&](Value number, ValueRange sums) {
    rowSums = Carried(sums);
    emitOne(number);
    return rowSums;
  };
  Carried sums = forLoop(k, firstRow, lastRow, k.i64(1), identities, addRow);
  for (auto [root, sum] : llvm::zip_equal(rowParts(nest), sums))
    storeMasked(b, getElementTypeOrSelf(sum), sum, evaluator.buffer(StoreOp(root).getBuffer()),
                rowPartsPosition(k.i64(0)), scope, scope.width);
}

void NestEmitter::clearRowParts() {
  for (StoreOp root : rowParts(nest)) {
    Type type = getComputeType(typeOf(root.getElement()));
    int64_t width = schedule.width;
    Scope nowhere;
    Columns columns{firstColumn, lastColumn,  width, 1, nest.shape.columnCount() % width == 0,
                    0,           std::nullopt};
    emitVectors(columns, nowhere, {}, [&](Scope &scope, ValueRange, int64_t) {
      storeMasked(b, type, identityOf(b, root, scope.width), evaluator.buffer(root.getBuffer()),
                  rowPartsPosition(scope.column), scope);
      return Carried();
    });
  }
}

void NestEmitter::accumulateRow(StoreOp root, Value value, Scope &scope) {
  ReductionKind kind = kindOf(*root.getFold());
  if (!rowSums.empty()) {
    SmallVector<StoreOp> parts = rowParts(nest);
    Value &sum = rowSums[llvm::find(parts, root) - parts.begin()];
    sum = emitCombine(b, kind, sum, value);
    return;
  }
  Type type = getElementTypeOrSelf(value);
  Value at = rowPartsPosition(scope.column), base = evaluator.buffer(root.getBuffer());
  Value sum = loadMasked(b, type, base, at, scope);
  storeMasked(b, type, emitCombine(b, kind, sum, value), base, at, scope);
}

} // namespace reprise::nests
