// reprise: value, gradient and Hessian-vector product of a case, run by the interpreter.
#ifndef REPRISE_TEST_UNIT_DIALECT_REPRISE_DERIVATIVES_DERIVATIVEPROGRAM_H
#define REPRISE_TEST_UNIT_DIALECT_REPRISE_DERIVATIVES_DERIVATIVEPROGRAM_H

#include "DerivativeCases.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringRef.h"

namespace reprise::test {

/// Arrays of doubles, one per value.
using Arrays = std::vector<std::vector<double>>;

/// Module with the functions
///     @value(x…, u…, v…) -> Σ u·r² + v·r over the results r of the case,
///     @grad(x…, u…, v…) -> its gradient by x,
///     @hvp(x…, u…, v…, d…) -> its Hessian times d,
///   differentiated, with "$t" as `element`. If `indirect`, the op does not read the arguments
///   directly: the cotangents of 16-bit values are rounded, those of arguments are not.
class DerivativeProgram {
public:
  DerivativeProgram(const DerivativeCase &test, const std::string &element, bool indirect = false);

  /// Empty if the program parsed, differentiated and verified.
  const std::string &getError() const { return error; }

  /// Runs a function on arrays, which are converted to the types of the function's arguments.
  Arrays run(llvm::StringRef function, const Arrays &arguments);

  /// Values for x…, u…, v… that bf16 represents, no two of an array equal.
  Arrays drawInputs() const;

private:
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  DerivativeCase test;
  std::string error;
};

} // namespace reprise::test

#endif
