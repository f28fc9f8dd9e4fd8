// reprise: checks in a child process, whose end is a verdict, too
#ifndef REPRISE_UTILS_FUZZ_CHILD_H
#define REPRISE_UTILS_FUZZ_CHILD_H

#include "Check.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace reprise::fuzz {

/// The verdict of `work`, run in a child of limited time and memory; "crash" if it did not end
/// well.
Verdict inChild(llvm::function_ref<Verdict()> work);

} // namespace reprise::fuzz

#endif
