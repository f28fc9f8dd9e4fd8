// reprise: what is given to a cut of a step into stages
#ifndef REPRISE_DIALECT_PIPE_TRANSFORMS_STAGEINPUTS_H
#define REPRISE_DIALECT_PIPE_TRANSFORMS_STAGEINPUTS_H

#include "reprise/Costs/CostModel.h"

namespace reprise::pipe {

/// A device and what its program may take.
struct StageDevice {
  std::shared_ptr<const CostModel> costs;
  std::optional<int64_t> arena; ///< bytes of arena and workspace
  std::optional<double> share;  ///< the same as a share of what saving all takes
};

/// A cut whose programs did not fit.
struct RefusedCut {
  std::string schedule;
  int64_t chunks;
  std::vector<std::pair<int, int>> units; ///< of each stage: the first one, and behind the last one
  /// Per device: its bytes over those that its program takes at least; 1 where they are enough.
  std::vector<double> rooms;
};

/// Input of `pipe-balance-stages`: the devices, and what a search over cuts has learned. The pass
/// writes the cut that it finds as `pipe.cuts` and `pipe.timing`.
struct StageInputs {
  std::vector<StageDevice> devices; ///< one each, or none: the built-in rates of a CPU
  std::vector<RefusedCut> refused;  ///< not taken again
  /// Cuts are those for the fewest bytes. The budgets of the devices are 0, and the rooms of
  /// refused cuts are those of a budget of one byte.
  bool isForLeast = false;
};

} // namespace reprise::pipe

#endif // REPRISE_DIALECT_PIPE_TRANSFORMS_STAGEINPUTS_H
