// reprise: the indices of a launch, which a run can check
#ifndef REPRISE_CONVERSION_EXECTOBUNDLE_INDEXCHECKS_H
#define REPRISE_CONVERSION_EXECTOBUNDLE_INDEXCHECKS_H

#include "reprise/Dialect/Exec/IR/Exec.h"
#include "reprise/Runtime/Bundle.h"
#include "reprise/Target/Launch.h"

namespace reprise {

/// Adds what `--check-indices` looks at to the launch's commands: each of its ops that read
/// positions looks at those in a buffer of their own, which the command that is given the check
/// reads.
void addIndexChecks(exec::LaunchOp launch, const EmittedLaunch &emitted,
                    llvm::MutableArrayRef<runtime::Command> commands);

} // namespace reprise

#endif // REPRISE_CONVERSION_EXECTOBUNDLE_INDEXCHECKS_H
