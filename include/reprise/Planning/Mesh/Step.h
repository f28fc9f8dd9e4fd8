// reprise: seconds and bytes of a step from which meshes are priced
#ifndef REPRISE_PLANNING_MESH_STEP_H
#define REPRISE_PLANNING_MESH_STEP_H

#include "reprise/Planning/Stages/Balance.h"

#include <string>

namespace reprise::mesh {

/// Step on the devices of one part of the model, by the units between which it may be cut. Seconds
/// and bytes are those of one micro-batch.
struct Step {
  /// Units, values, replays and tied weights, without devices and slots. `resident` and `outside`
  /// are 0: arrays and parameters have lists of their own.
  stages::Problem problem;
  std::vector<int64_t> madeForWeight; ///< bytes per unit, if schedules split the backward pass
  std::vector<int64_t> arrays;        ///< bytes of parameters, states and inputs per unit
  std::vector<int64_t> parameters; ///< bytes of parameters per unit; those of gradients are equal
  std::vector<int64_t> numParameters; ///< number of parameters per unit

  size_t countUnits() const { return problem.units.size(); }
};

/// Returns the numbers of a step in `microbatches` micro-batches, from those of the same step in
/// `few` and in `more` micro-batches. Each number is a constant plus a term that is proportional to
/// the samples of a micro-batch. Returns an error if the steps differ in their units.
std::string extrapolate(const Step &few, int64_t fewMicrobatches, const Step &more,
                        int64_t moreMicrobatches, int64_t microbatches, Step &made);

/// Joins neighbouring units until at most `most` are left. Places with the fewest bytes remain, and
/// among them those that make units of equal seconds.
Step joinUnits(const Step &step, size_t most);

} // namespace reprise::mesh

#endif // REPRISE_PLANNING_MESH_STEP_H
