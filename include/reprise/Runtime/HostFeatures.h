// reprise: CPU features that a bundle may need, and those of this machine
#ifndef REPRISE_RUNTIME_HOSTFEATURES_H
#define REPRISE_RUNTIME_HOSTFEATURES_H

#include <string>
#include <vector>

namespace reprise::runtime {

/// Returns LLVM's names ("avx2", "fma", "avx512f", …) and the levels "x86-64-v2" to "x86-64-v4",
/// sorted. For target `native`, the compiler lists in its bundle the CPU's features that are in
/// this list; its code generator uses no other features.
const std::vector<std::string> &knownFeatures();

/// Returns true if processor and operating system both support the feature; false for an unknown
/// name.
bool hostHasFeature(const std::string &name);

/// Returns the known features of this machine, sorted.
std::vector<std::string> hostFeatures();

/// Returns the features of `needed` that this machine lacks, in their order.
std::vector<std::string> missingFeatures(const std::vector<std::string> &needed);

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_HOSTFEATURES_H
