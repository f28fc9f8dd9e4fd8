// reprise: packings of buffers as texts
#ifndef REPRISE_PLANTEXTS_OFFSETS_H
#define REPRISE_PLANTEXTS_OFFSETS_H

#include "llvm/Support/Error.h"

namespace reprise {

/// What came of one packing problem.
struct PackingPlan {
  int64_t buffers = 0, height = 0, maxLoad = 0;
  double seconds = 0;
  std::string text; ///< the packing as CSV
};

/// Packs the buffers of a CSV as long as it takes, some ten seconds; up to a height of `capacity`
/// the first packing is enough, 0 being none. The errors: what is wrong with the text, a load above
/// the capacity, a packing that its judge refutes. `path` is for messages.
llvm::Expected<PackingPlan> packBuffers(const std::string &text, const std::string &path,
                                        int64_t capacity);

/// One line for the terminal, one object for programs.
std::string describe(const PackingPlan &plan);
std::string describeAsJson(const PackingPlan &plan);

} // namespace reprise

#endif // REPRISE_PLANTEXTS_OFFSETS_H
