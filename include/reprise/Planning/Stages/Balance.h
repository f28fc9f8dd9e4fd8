// reprise: the cut of a step into stages whose slowest one is as fast as can be
#ifndef REPRISE_PLANNING_STAGES_BALANCE_H
#define REPRISE_PLANNING_STAGES_BALANCE_H

#include "reprise/Planning/Pipeline/Problem.h"

#include <functional>

namespace reprise::stages {

/// A value that a unit makes, and the later units that read it or make its gradient.
struct Value {
  int unit = 0;
  std::vector<int> readers;         ///< units, ascending
  double forward = 0, backward = 0; ///< seconds from one stage to another, per micro-batch
};

struct Device {
  double speed = 1; ///< seconds of units are divided by it
  int64_t memory = INT64_MAX;
};

/// Units in the order of the forward pass, between which a step may be cut. A stage is a run of
/// units, at least one, on a device of its own.
struct Problem {
  std::vector<pipeline::Stage> units; ///< what each takes, as a stage of its own would
  std::vector<Value> values;
  std::vector<Device> devices; ///< one per stage, in order
  std::vector<int64_t> slots;  ///< per stage: micro-batches in flight (pipeline::countSlots)
};

/// Where stages begin, the first one at unit 0.
struct Split {
  std::vector<int> begins;
  double slowest = 0; ///< seconds of the slowest stage per micro-batch
  double total = 0;   ///< of all stages together
};

/// Seconds that units first to last - 1 take as stage `stage`; infinity if they cannot be one.
using Cost = std::function<double(int first, int last, int stage)>;

/// The split whose slowest stage is the fastest, and among those one of least total seconds, by
/// dynamic programming over (stage, end): both are exact. None if no split has finite seconds.
/// O(stages * (units - stages)^2) costs. `floor`, if there is one, is at most what any range takes
/// that contains this one, and spares most of them.
std::optional<Split> balance(int units, int stages, const Cost &cost, const Cost &floor = nullptr);

/// The same with the costs of a problem: forward, backward and weight passes over the device's
/// speed, and the transfers of what the stage reads from stages before it, there and back. A stage
/// cannot be what its device cannot hold.
std::optional<Split> balance(const Problem &problem);

/// The stages of a split and the transfers between them: one per pair of stages that shares values,
/// straight from the one to the other.
pipeline::Pipeline makePipeline(const Problem &problem, const Split &split);

} // namespace reprise::stages

#endif // REPRISE_PLANNING_STAGES_BALANCE_H
