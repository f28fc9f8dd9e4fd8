// reprise: random changes of files
#ifndef REPRISE_UTILS_FUZZ_MUTATE_H
#define REPRISE_UTILS_FUZZ_MUTATE_H

#include "reprise/Support/SplitMix.h"
#include <string>

namespace reprise::fuzz {

/// Returns `data` with one to three random changes. Texts also change by lines, names and numbers,
/// and take parts of `other`, a file of the same kind. The result depends on the arguments alone.
std::string mutate(std::string data, const std::string &other, bool isText, SplitMix &chance);

} // namespace reprise::fuzz

#endif
