// reprise: packings of buffers as texts
#ifndef REPRISE_PLANTEXTS_OFFSETS_H
#define REPRISE_PLANTEXTS_OFFSETS_H

#include "llvm/Support/Error.h"

namespace reprise {

/// Result of one packing problem.
struct PackingPlan {
  int64_t buffers = 0, height = 0, maxLoad = 0;
  double seconds = 0;
  std::string text; ///< packing as CSV
};

/// Packs the buffers of a CSV until the work limit, some ten seconds. If `capacity` is not 0, the
/// first packing of at most that height is enough. Errors: an invalid text, a load above the
/// capacity, a packing that its judge refutes. `path` is for messages.
llvm::Expected<PackingPlan> packBuffers(const std::string &text, const std::string &path,
                                        int64_t capacity);

/// Returns one line for the terminal, or one object for programs.
std::string describe(const PackingPlan &plan);
std::string describeAsJson(const PackingPlan &plan);

} // namespace reprise

#endif // REPRISE_PLANTEXTS_OFFSETS_H
