// reprise: what is known of the devices of a pipeline, and what became of its cut
#ifndef REPRISE_DIALECT_PIPE_TRANSFORMS_STAGEPLAN_H
#define REPRISE_DIALECT_PIPE_TRANSFORMS_STAGEPLAN_H

#include "reprise/Costs/CostModel.h"
#include "reprise/Planning/Stages/Balance.h"

namespace reprise::pipe {

/// A device and what its program may take.
struct StageDevice {
  std::shared_ptr<const CostModel> costs;
  std::optional<int64_t> arena; ///< bytes of arena and workspace
  std::optional<double> share;  ///< the same as a share of what saving all takes
};

/// The step as stages under one schedule, simulated.
struct StagedSchedule {
  std::string name;
  pipeline::Schedule schedule;
  std::vector<std::pair<int, int>> units; ///< of each stage: the first one, and behind the last one
  pipeline::Pipeline pipeline;
  std::vector<double> replays; ///< seconds per stage and micro-batch, of those of its backward pass
  pipeline::Simulation simulation;
  bool fits = true;       ///< by the estimate of the cut
  bool isRefused = false; ///< no cut of this schedule is left

  int chunks() const { return schedule.shape.chunks; }
};

/// A cut whose programs did not fit.
struct RefusedCut {
  std::string schedule;
  int chunks;
  std::vector<std::pair<int, int>> units; ///< as in StagedSchedule
  /// Per device: its bytes over those that its program takes at least; 1 where they are enough.
  std::vector<double> rooms;
};

/// Shared by those who cut a step and those who plan the programs.
struct StagePlan {
  // Given.
  std::vector<StageDevice> devices; ///< one each, or none: the built-in rates of a CPU
  std::vector<RefusedCut> refused;  ///< not taken again
  /// Cuts are those for the fewest bytes. The budgets of the devices are 0, and the rooms of
  /// refused cuts are those of a budget of one byte.
  bool isForLeast = false;

  // Found: the schedule that was taken comes first, and behind it, with `auto`, the others by what
  // they take. None for steps of other passes than one forward and one backward.
  std::vector<StagedSchedule> schedules;
};

} // namespace reprise::pipe

#endif // REPRISE_DIALECT_PIPE_TRANSFORMS_STAGEPLAN_H
