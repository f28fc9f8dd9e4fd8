// reprise: from command lists to a bundle
#ifndef REPRISE_CONVERSION_EXECTOBUNDLE_H
#define REPRISE_CONVERSION_EXECTOBUNDLE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "reprise/Runtime/Bundle.h"
#include "reprise/Target/Target.h"

namespace reprise {

/// The functions of a bundle, each a list of launches with places. The initializers take the
/// arguments of the step and one more, tensor<i64>, the step's number; either may be null.
struct BundlePrograms {
  mlir::func::FuncOp step, initParameters, initInputs;
};

/// Compiles the kernels of all programs for `target` and fills the bundle, but for `threads` and
/// the budget. Launch bodies that are alike are compiled once.
mlir::FailureOr<runtime::Bundle> buildBundle(BundlePrograms programs, const Target &target);

} // namespace reprise

#endif // REPRISE_CONVERSION_EXECTOBUNDLE_H
