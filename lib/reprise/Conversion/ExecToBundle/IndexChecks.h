// reprise: checks of the indices of a launch in a run
#ifndef REPRISE_CONVERSION_EXECTOBUNDLE_INDEXCHECKS_H
#define REPRISE_CONVERSION_EXECTOBUNDLE_INDEXCHECKS_H

#include "reprise/Dialect/Exec/IR/Exec.h"
#include "reprise/Runtime/Bundle.h"
#include "reprise/Target/Launch.h"

namespace reprise {

/// Adds the checks of `--check-indices` to the launch's commands. Each op of the launch that reads
/// positions reads them from a buffer; the command that reads this buffer gets the check.
void addIndexChecks(exec::LaunchOp launch, const EmittedLaunch &emitted,
                    llvm::MutableArrayRef<runtime::Command> commands);

} // namespace reprise

#endif // REPRISE_CONVERSION_EXECTOBUNDLE_INDEXCHECKS_H
