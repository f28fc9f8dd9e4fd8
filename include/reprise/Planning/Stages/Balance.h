// reprise: cuts of a step into stages that minimize the slowest stage
#ifndef REPRISE_PLANNING_STAGES_BALANCE_H
#define REPRISE_PLANNING_STAGES_BALANCE_H

#include "reprise/Planning/Pipeline/Problem.h"

#include <functional>
#include <memory>

namespace reprise::stages {

/// Value that a unit computes, and the later units that read it or compute its gradient.
struct Value {
  int unit = 0;
  std::vector<int> readers;         ///< units, ascending
  double forward = 0, backward = 0; ///< seconds from one stage to another, per micro-batch
  int64_t bytes = 0;                ///< bytes of it that a later stage saves, per micro-batch
};

/// Weight of a unit that later units read as well. Later stages hold a copy and its gradient for
/// the whole step; the unit's own stage holds the returned gradients.
struct TiedWeight {
  int unit = 0;
  std::vector<int> readers; ///< units, ascending
  int64_t bytes = 0;
};

/// Bytes saved by a unit that may be replayed for its backward pass, per micro-batch.
struct Replay {
  int unit = 0;
  int64_t bytes = 0;
  double seconds = 0; ///< at speed 1
};

struct Device {
  double speed = 1; ///< divisor of the seconds of units
  int64_t memory = INT64_MAX;
  int64_t arena = INT64_MAX; ///< limit of bytes in the arena
  double share = 0;          ///< if above 0: limit as a share of the arena that a stage needs there
  int rates = -1;            ///< index into the problem's rates; -1: none
  double transfers = 1;      ///< factor of the seconds of transfers to the device
  bool endsForward = false;  ///< whether all forward passes end before the first backward pass
};

/// Units in the order of the forward pass, between which a step may be cut. A stage is a run of at
/// least one unit, on a device of its own.
struct Problem {
  std::vector<pipeline::Stage> units; ///< cost of each unit as a separate stage
  std::vector<Value> values;
  std::vector<Device> devices; ///< one per stage, in order
  std::vector<int64_t> slots;  ///< per stage: micro-batches in flight (pipeline::countSlots)
  std::vector<Replay> replays;
  /// Seconds of replays in the backward pass, per unit; may be empty.
  std::vector<double> replayed;
  /// Bytes of `resident` outside of the arena, per unit; may be empty.
  std::vector<int64_t> outside;
  /// Units and transfers at the rates of other devices.
  struct Rates {
    std::vector<pipeline::Stage> units; ///< seconds only
    double transfers = 1;               ///< factor of the time of transfers to the device
  };
  std::vector<Rates> rates;
  std::vector<TiedWeight> tied = {};
};

/// Begins of stages; the first stage begins at unit 0.
struct Split {
  std::vector<int> begins;
  double slowest = 0; ///< seconds of the slowest stage per micro-batch
  double total = 0;   ///< seconds of all stages together
};

/// Seconds of units first to last - 1 as stage `stage`; infinity if they cannot be one stage.
using Cost = std::function<double(int first, int last, int stage)>;

/// Finds the split with the fastest slowest stage, and among these splits the one with the least
/// total seconds, by exact dynamic programming over (stage, end). None if no split has finite
/// seconds. O(stages * (units - stages)^2) costs. `floor`, if given, is a lower bound for every
/// range that contains the range, and saves most evaluations.
std::optional<Split> balance(int units, int stages, const Cost &cost, const Cost &floor = nullptr);

/// Cost of a run of units as one stage.
struct Load {
  /// Costs; its backward pass includes replays, its bytes exclude what they free.
  pipeline::Stage stage;
  double incoming = 0; ///< seconds of transfers from earlier stages, in both directions
  double replay = 0;   ///< seconds of replays in its backward pass
  double taken = 0;    ///< bytes of the arena
  double fullness = 0; ///< share of the device's memory; above 1 it does not fit

  double seconds() const { return stage.forward + stage.backward + stage.weight + incoming; }
};

/// Costs of all runs of units, each in time that does not grow with the run: forward, backward and
/// weight passes on the device, and transfers from earlier stages, in both directions. If the
/// values that a stage saves for the micro-batches in flight do not fit the device, the cheapest
/// replays that free enough bytes are used, the last replay in part.
class Loads {
public:
  explicit Loads(const Problem &problem);
  ~Loads();

  Load get(int first, int last, int stage) const;
  /// Returns a lower bound on the seconds of any run that contains this run.
  double getFloor(int first, int last, int stage) const;

private:
  class Sums;
  const Problem &problem;
  std::unique_ptr<Sums> sums;
};

/// Finds the split with the loads of a problem. A stage must fit its device.
std::optional<Split> balance(const Problem &problem);

/// Returns splits for problems where no stage fits, in case the bytes are estimates: the fastest of
/// all, the fastest with half the excess, and the split whose fullest device is the least full.
std::vector<Split> loosen(const Problem &problem);

/// Makes the stages of a split and the transfers between them: one per pair of stages that shares
/// values, directly between the two.
pipeline::Pipeline makePipeline(const Problem &problem, const Split &split);

/// Lets all replays of each pass run while its rank waits; `replays` are seconds by stage, per
/// micro-batch. Launches that hold replays and gradients have to wait, and moved replays need
/// bytes, so a program may hide less.
void hideReplays(const std::vector<double> &replays, int64_t microbatches,
                 pipeline::Pipeline &pipeline);

} // namespace reprise::stages

#endif // REPRISE_PLANNING_STAGES_BALANCE_H
