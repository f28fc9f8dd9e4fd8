// reprise: composite ops as the chains that define them.
#include "reprise/Dialect/Reprise/IR/Decompose.h"

using namespace mlir;

namespace reprise {

SmallVector<Value> buildDefinition(DecomposableOpInterface op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto convert = [&](Value value, Type elementType) -> Value {
    auto type = cast<RankedTensorType>(value.getType());
    return type.getElementType() == elementType
               ? value
               : CastOp::create(b, type.clone(elementType), value).getResult();
  };
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(convert(operand, getComputeType(getElementTypeOrSelf(operand.getType()))));
  SmallVector<Value> results = op.decompose(b, operands);
  for (auto [value, result] : llvm::zip_equal(results, op->getResults()))
    value = convert(value, getElementTypeOrSelf(result.getType()));
  return results;
}

} // namespace reprise
