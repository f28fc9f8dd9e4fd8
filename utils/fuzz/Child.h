// reprise: checks in a child process, whose crash is a verdict
#ifndef REPRISE_UTILS_FUZZ_CHILD_H
#define REPRISE_UTILS_FUZZ_CHILD_H

#include "Check.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace reprise::fuzz {

/// Returns the verdict of `work`, run in a child of limited time and memory; "crash" if it crashed.
Verdict inChild(llvm::function_ref<Verdict()> work);

} // namespace reprise::fuzz

#endif
