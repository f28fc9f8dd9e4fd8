// reprise: emits the kernel of one loop nest: sums down the rows of a block
#include "NestEmitter.h"

#include "reprise/Conversion/Emission.h"

using namespace mlir;

namespace reprise::nests {

Value NestEmitter::rowPartsPosition(Value column) {
  int64_t columns = graph.shape.columnCount(), kept = graph.shape.outerSize() * columns;
  Value at = k.add(k.mul(rowBlock, kept), k.mul(outerNumber, columns));
  return k.add(k.add(at, firstColumn), column);
}

static ReductionKind kindOf(const Root &root) {
  return cast<ReductionOpInterface>(root.value.getDefiningOp()).getReductionKind();
}

static SmallVector<const Root *> rowParts(const Graph &graph) {
  SmallVector<const Root *> parts;
  for (const Root &root : graph.roots)
    if (root.kind == Root::RowParts)
      parts.push_back(&root);
  return parts;
}

void NestEmitter::sumRows(Value lastRow, llvm::function_ref<void(Value)> emitOne) {
  Carried identities;
  Scope scope;
  scope.width = schedule.width;
  for (const Root *root : rowParts(graph)) {
    Type type = getComputeType(graph.nodes[root->node].type);
    identities.push_back(emitIdentity(b, kindOf(*root), typeOfLanes(type, scope.width)));
  }
  auto addRow = [&](Value number, ValueRange sums) {
    rowSums = Carried(sums);
    emitOne(number);
    return rowSums;
  };
  Carried sums = forLoop(k, firstRow, lastRow, k.i64(1), identities, addRow);
  for (auto [root, sum] : llvm::zip_equal(rowParts(graph), sums))
    storeMasked(b, getElementTypeOrSelf(sum), sum, evaluator.buffer(root->buffer),
                rowPartsPosition(k.i64(0)), scope, scope.width);
}

void NestEmitter::clearRowParts() {
  for (const Root *part : rowParts(graph)) {
    const Root &root = *part;
    ReductionKind kind = kindOf(root);
    Type type = getComputeType(graph.nodes[root.node].type);
    int64_t width = schedule.width;
    Scope nowhere;
    Columns columns{firstColumn, lastColumn,  width, 1, graph.shape.columnCount() % width == 0,
                    0,           std::nullopt};
    emitVectors(columns, nowhere, {}, [&](Scope &scope, ValueRange, int64_t) {
      Value identity = emitIdentity(b, kind, typeOfLanes(type, scope.width));
      storeMasked(b, type, identity, evaluator.buffer(root.buffer), rowPartsPosition(scope.column),
                  scope);
      return Carried();
    });
  }
}

void NestEmitter::accumulateRow(const Root &root, Value value, Scope &scope) {
  ReductionKind kind = kindOf(root);
  if (!rowSums.empty()) {
    SmallVector<const Root *> parts = rowParts(graph);
    Value &sum = rowSums[llvm::find(parts, &root) - parts.begin()];
    sum = emitCombine(b, kind, sum, value);
    return;
  }
  Type type = getElementTypeOrSelf(value);
  Value at = rowPartsPosition(scope.column), base = evaluator.buffer(root.buffer);
  Value sum = loadMasked(b, type, base, at, scope);
  storeMasked(b, type, emitCombine(b, kind, sum, value), base, at, scope);
}

} // namespace reprise::nests
