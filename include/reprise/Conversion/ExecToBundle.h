// reprise: from command lists to a bundle
#ifndef REPRISE_CONVERSION_EXECTOBUNDLE_H
#define REPRISE_CONVERSION_EXECTOBUNDLE_H

#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Runtime/Bundle.h"
#include "reprise/Target/Target.h"

namespace reprise {

/// Functions of one device, each a list of launches with places. The initializers take the
/// arguments of the step and one more, tensor<i64>, the step's number; either may be null.
struct BundlePrograms {
  ProgramOp step, initParameters, initInputs;
  const Target *target = nullptr;
};

/// Compiles the kernels of all programs and fills the bundle, except for `threads` and the budget.
/// The position in the list is the device number. Equal launch bodies of one target are compiled
/// once. Equal arguments of one name are one argument of the bundle, with a buffer on each device
/// that has the argument.
mlir::FailureOr<runtime::Bundle> buildBundle(llvm::ArrayRef<BundlePrograms> devices);

} // namespace reprise

#endif // REPRISE_CONVERSION_EXECTOBUNDLE_H
