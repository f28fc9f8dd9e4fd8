// reprise: replays that run while their device waits for another one
#ifndef REPRISE_LIB_COMPILER_EARLYREPLAYS_H
#define REPRISE_LIB_COMPILER_EARLYREPLAYS_H

#include "Report.h"

namespace reprise {

/// Device program after the kernels phase.
struct WaitingProgram {
  ProgramOp program;
  const CostModel *costs;
  int64_t room; ///< bytes that the arena may grow
};

/// Moves launches of backward passes in front of the waits of these passes, as long as the device
/// waits by the simulation, and as the live bytes stay within the peak and the room. Returns the
/// moved seconds by stage and micro-batch, the fewest of all replicas.
std::vector<std::vector<double>> hideReplays(const PlannedPipeline &planned,
                                             llvm::ArrayRef<WaitingProgram> programs);

} // namespace reprise

#endif // REPRISE_LIB_COMPILER_EARLYREPLAYS_H
