// reprise: which CPU features a bundle may need, and which this machine has
#ifndef REPRISE_RUNTIME_HOSTFEATURES_H
#define REPRISE_RUNTIME_HOSTFEATURES_H

#include <string>
#include <vector>

namespace reprise::runtime {

/// LLVM's names ("avx2", "fma", "avx512f", …) and the levels "x86-64-v2" to "x86-64-v4", sorted. A
/// compiler for `native` lists in its bundle those of its features that are known here: all that
/// its code generator can draw on, and no more.
const std::vector<std::string> &knownFeatures();

/// True if processor and operating system both support the feature; false for an unknown name.
bool hostHasFeature(const std::string &name);

/// The known features that this machine has, sorted.
std::vector<std::string> hostFeatures();

/// Those of `needed` that this machine lacks, in their order.
std::vector<std::string> missingFeatures(const std::vector<std::string> &needed);

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_HOSTFEATURES_H
