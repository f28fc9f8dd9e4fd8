// reprise: the indices of a launch that a run can check
#ifndef REPRISE_CONVERSION_EXECTOBUNDLE_INDEXCHECKS_H
#define REPRISE_CONVERSION_EXECTOBUNDLE_INDEXCHECKS_H

#include "reprise/Conversion/Cpu/Launch.h"
#include "reprise/Dialect/Exec/IR/Exec.h"
#include "reprise/Runtime/Bundle.h"

namespace reprise {

runtime::DType dtypeOf(mlir::Type type);

/// Adds to `commands`, those of the launch, what `--check-indices` looks at: positions that the launch reads from a
/// buffer as a whole. Positions that its own kernel computes, or that it takes from a part of a buffer, are not among
/// them.
void addIndexChecks(exec::LaunchOp launch, const EmittedLaunch &emitted,
                    llvm::MutableArrayRef<runtime::Command> commands);

} // namespace reprise

#endif // REPRISE_CONVERSION_EXECTOBUNDLE_INDEXCHECKS_H
