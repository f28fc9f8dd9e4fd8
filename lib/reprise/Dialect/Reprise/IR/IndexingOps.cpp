// reprise: ops that read or write at computed positions: types.
#include "reprise/Dialect/Reprise/IR/Reprise.h"

using namespace mlir;
using namespace reprise;

static RankedTensorType tensor(Value value) { return cast<RankedTensorType>(value.getType()); }

//===-- Rows of a table -----------------------------------------------------------------------===//

/// [i…] and [rows, d…] give [i…, d…].
static SmallVector<int64_t> gatheredShape(RankedTensorType indices, ArrayRef<int64_t> row) {
  SmallVector<int64_t> shape = llvm::to_vector(indices.getShape());
  shape.append(row.begin(), row.end());
  return shape;
}

LogicalResult GatherOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &results) {
  auto table = dyn_cast<RankedTensorType>(adaptor.getTable().getType());
  auto indices = dyn_cast<RankedTensorType>(adaptor.getIndices().getType());
  if (!table || !indices || table.getRank() == 0 || table.getDimSize(0) == 0)
    return emitOptionalError(location, "expected a table with at least one row");
  results.push_back(RankedTensorType::get(gatheredShape(indices, table.getShape().drop_front()),
                                          table.getElementType()));
  return success();
}
LogicalResult GatherOp::verify() { return success(); }

static LogicalResult verifyUpdates(Operation *op, RankedTensorType table, Value indices,
                                   Value values) {
  RankedTensorType updates = tensor(values);
  if (table.getRank() == 0 || table.getDimSize(0) == 0 ||
      table.getElementType() != updates.getElementType() ||
      ArrayRef(gatheredShape(tensor(indices), table.getShape().drop_front())) != updates.getShape())
    return op->emitOpError("expected updates [indices…, row…] for a table [rows, row…] but got ")
           << updates << " and " << table;
  return success();
}

LogicalResult ScatterAddOp::verify() {
  return verifyUpdates(*this, tensor(getResult()), getIndices(), getUpdates());
}

LogicalResult ScatterOp::verify() {
  return verifyUpdates(*this, tensor(getTable()), getIndices(), getUpdates());
}

//===-- Elements of each row ------------------------------------------------------------------===//

/// [b…, n] and indices [b…, k].
static bool pairRows(RankedTensorType rows, RankedTensorType indices) {
  return rows.getRank() > 0 && rows.getShape().back() > 0 && indices.getRank() == rows.getRank() &&
         indices.getShape().drop_back() == rows.getShape().drop_back();
}

LogicalResult TakeAlongOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &results) {
  auto rows = dyn_cast<RankedTensorType>(adaptor.getOperand().getType());
  auto indices = dyn_cast<RankedTensorType>(adaptor.getIndices().getType());
  if (!rows || !indices || !pairRows(rows, indices))
    return emitOptionalError(location, "expected an operand [b…, n] and indices [b…, k] but got ",
                             adaptor.getOperand().getType(), " and ",
                             adaptor.getIndices().getType());
  results.push_back(RankedTensorType::get(indices.getShape(), rows.getElementType()));
  return success();
}

LogicalResult ScatterAddAlongOp::verify() {
  auto rows = tensor(getResult()), indices = tensor(getIndices()), updates = tensor(getUpdates());
  if (!pairRows(rows, indices) || updates.getShape() != indices.getShape() ||
      updates.getElementType() != rows.getElementType())
    return emitOpError("expected updates and indices [b…, k] for a result [b…, n] but got ")
           << updates << ", " << indices << " and " << rows;
  return success();
}

//===-- one_hot -------------------------------------------------------------------------------===//

LogicalResult OneHotOp::verify() {
  auto type = tensor(getResult());
  if (type.getRank() == 0 || type.getShape().drop_back() != tensor(getIndices()).getShape())
    return emitOpError("expected a result [indices…, depth] but got ") << type;
  return success();
}

SmallVector<Value> OneHotOp::decompose(ImplicitLocOpBuilder &b, ValueRange operands) {
  auto indices = tensor(operands[0]);
  auto type = tensor(getResult()).clone(indices.getElementType());
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, indices.getRank()));
  Value classes = IotaOp::create(b, type, type.getRank() - 1);
  Value spread = BroadcastOp::create(b, type, operands[0], dims);
  Value isOne = CompareOp::create(b, ComparePredicate::eq, classes, spread);
  Type element = getComputeType(tensor(getResult()).getElementType());
  return {CastOp::create(b, type.clone(element), isOne)};
}

//===-- Windows at computed positions ---------------------------------------------------------===//

/// A window of no larger sizes, and one start per dimension.
static LogicalResult verifyWindow(Operation *op, RankedTensorType whole, RankedTensorType window,
                                  RankedTensorType starts) {
  bool fits = whole.getRank() == window.getRank() &&
              whole.getElementType() == window.getElementType() &&
              llvm::all_of(llvm::zip(whole.getShape(), window.getShape()),
                           [](auto pair) { return std::get<1>(pair) <= std::get<0>(pair); });
  if (!fits)
    return op->emitOpError("expected a window inside of ") << whole << " but got " << window;
  if (starts.getRank() != 1 || starts.getDimSize(0) != whole.getRank())
    return op->emitOpError("expected ") << whole.getRank() << " starts but got " << starts;
  return success();
}

LogicalResult DynamicSliceOp::verify() {
  return verifyWindow(*this, tensor(getOperand()), tensor(getResult()), tensor(getStarts()));
}

LogicalResult DynamicUpdateOp::verify() {
  return verifyWindow(*this, tensor(getOperand()), tensor(getUpdate()), tensor(getStarts()));
}
