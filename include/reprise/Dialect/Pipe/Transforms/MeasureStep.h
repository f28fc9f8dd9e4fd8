// reprise: seconds and bytes of a flat step for the search for a mesh
#ifndef REPRISE_DIALECT_PIPE_TRANSFORMS_MEASURESTEP_H
#define REPRISE_DIALECT_PIPE_TRANSFORMS_MEASURESTEP_H

#include "reprise/Costs/CostModel.h"
#include "reprise/Planning/Mesh/Step.h"

namespace reprise::pipe {

/// Returns the numbers of a flat step whose ops are marked with units (buildFlatStep). `parts` is
/// the number of parts of the model, of which the first one counts.
mesh::Step measureStep(ProgramOp step, std::shared_ptr<const CostModel> costs, int64_t parts);

/// Returns how many times a step goes through its stages: 2 with one forward and one backward pass.
int64_t countStepSweeps(ProgramOp step);

} // namespace reprise::pipe

#endif // REPRISE_DIALECT_PIPE_TRANSFORMS_MEASURESTEP_H
