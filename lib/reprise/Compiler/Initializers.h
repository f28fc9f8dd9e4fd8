// reprise: construction of the programs that write initial parameters and inputs
#ifndef REPRISE_COMPILER_INITIALIZERS_H
#define REPRISE_COMPILER_INITIALIZERS_H

#include "mlir/IR/BuiltinOps.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise {

/// Builds a module with @init_parameters and @init_inputs for the arguments of `step` that have an
/// initializer. Each takes the arguments of the step and the step's number, and returns next values
/// of the arguments that it writes: key = seed, stream = 2^63 | FNV-1a-64(name), offset 0 for
/// parameters and state and 4·step·⌈n/4⌉ for inputs.
mlir::OwningOpRef<mlir::ModuleOp> buildInitializers(ProgramOp step);

} // namespace reprise

#endif // REPRISE_COMPILER_INITIALIZERS_H
