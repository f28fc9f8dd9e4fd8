// reprise: derivatives of calls, which are calls themselves
#include "Pullback.h"

#include "reprise/Dialect/Reprise/IR/Call.h"

using namespace mlir;
using namespace reprise;

namespace reprise {

/// Returns the entries of an attribute for the derivative of a call; the last entry stays.
template <typename T> static ArrayRef<T> dropFirst(ArrayRef<T> entries) {
  return entries.size() > 1 ? entries.drop_front() : entries;
}

/// Gives the cotangents by another call. A result without a cotangent is not named among the given
/// ones, because formulas of PyTorch leave terms out then, which with zeros could become NaN.
template <> void differentiate(CustomCallOp op, Pullback &p) {
  SmallVector<int64_t> wanted, given;
  SmallVector<Type> types;
  SmallVector<Value> operands(op.getOperands());
  for (auto [i, operand] : llvm::enumerate(op.getOperands()))
    if (p.wants(i)) {
      wanted.push_back(static_cast<int64_t>(i));
      types.push_back(operand.getType());
    }
  for (unsigned i = 0; i < op.getNumResults(); ++i)
    if (Value cotangent = p.getRaw(i)) {
      given.push_back(i);
      operands.push_back(cotangent);
    }
  DenseF64ArrayAttr seconds;
  if (op.getSeconds())
    seconds = p.b.getDenseF64ArrayAttr(dropFirst(*op.getSeconds()));
  DenseI64ArrayAttr workspace;
  if (op.getWorkspace())
    workspace = p.b.getDenseI64ArrayAttr(dropFirst(*op.getWorkspace()));
  auto callee = p.b.getStringAttr(op.getDerivativeCallee(wanted, given));
  auto call = CustomCallOp::create(p.b, types, callee, operands, seconds, workspace);
  for (auto [operand, cotangent] : llvm::zip(wanted, call.getResults()))
    p.give(static_cast<unsigned>(operand), cotangent);
}

} // namespace reprise
