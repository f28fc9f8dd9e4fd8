// reprise: inputs of the pass that cuts a step into stages
#ifndef REPRISE_DIALECT_PIPE_TRANSFORMS_STAGEINPUTS_H
#define REPRISE_DIALECT_PIPE_TRANSFORMS_STAGEINPUTS_H

#include "reprise/Costs/CostModel.h"

namespace reprise::pipe {

/// Device and the limits of its program.
struct StageDevice {
  std::shared_ptr<const CostModel> costs;
  std::optional<int64_t> arena; ///< bytes of arena and workspace
  std::optional<double> share;  ///< limit as a share of arena and workspace with all values saved
};

/// Cut whose programs did not fit.
struct RefusedCut {
  std::string schedule;
  int64_t chunks;
  std::vector<std::pair<int, int>> units; ///< units of each stage: [first, end)
  /// Bytes of each device as a fraction of the smallest bytes of its program; 1 if they are enough.
  std::vector<double> rooms;
};

/// Input of `pipe-balance-stages`: the devices, and the results of earlier cuts in a search. The
/// pass writes its cut as `pipe.cuts` and `pipe.timing`.
struct StageInputs {
  std::vector<StageDevice> devices; ///< one per stage, or empty: the built-in rates of a CPU
  std::vector<RefusedCut> refused;  ///< cuts that the pass must not choose again
  /// Tells whether the search minimizes bytes. The budgets of the devices are then 0, and the rooms
  /// of refused cuts are those of a budget of one byte.
  bool isForLeast = false;
};

} // namespace reprise::pipe

#endif // REPRISE_DIALECT_PIPE_TRANSFORMS_STAGEINPUTS_H
