// reprise: the cut of a step into stages whose slowest one is as fast as can be
#ifndef REPRISE_PLANNING_STAGES_BALANCE_H
#define REPRISE_PLANNING_STAGES_BALANCE_H

#include "reprise/Planning/Pipeline/Problem.h"

#include <functional>
#include <memory>

namespace reprise::stages {

/// A value that a unit makes, and the later units that read it or make its gradient.
struct Value {
  int unit = 0;
  std::vector<int> readers;         ///< units, ascending
  double forward = 0, backward = 0; ///< seconds from one stage to another, per micro-batch
  int64_t bytes = 0;                ///< that a stage behind the unit's saves of it, per micro-batch
};

/// A weight of a unit that later units read, too. Stages behind the unit's hold a copy of it and
/// their gradient for the whole step; the unit's own stage holds what comes back of that.
struct TiedWeight {
  int unit = 0;
  std::vector<int> readers; ///< units, ascending
  int64_t bytes = 0;
};

/// Bytes of what a unit saves that may be made again for its backward pass, per micro-batch.
struct Replay {
  int unit = 0;
  int64_t bytes = 0;
  double seconds = 0; ///< at speed 1
};

struct Device {
  double speed = 1; ///< seconds of units are divided by it
  int64_t memory = INT64_MAX;
  int64_t arena = INT64_MAX; ///< the same for all but what lies outside of the arena
  double share = 0; ///< if above 0: the share of what a stage takes there that may be taken
  int rates = -1;   ///< which of the problem's; -1: none
};

/// Units in the order of the forward pass, between which a step may be cut. A stage is a run of
/// units, at least one, on a device of its own.
struct Problem {
  std::vector<pipeline::Stage> units; ///< what each takes, as a stage of its own would
  std::vector<Value> values;
  std::vector<Device> devices; ///< one per stage, in order
  std::vector<int64_t> slots;  ///< per stage: micro-batches in flight (pipeline::countSlots)
  std::vector<Replay> replays;
  /// Per unit: seconds of its backward pass that are replays; or empty.
  std::vector<double> replayed;
  std::vector<int64_t> outside; ///< per unit: bytes of `resident` outside of the arena; or empty
  /// Units and transfers at the rates of other devices.
  struct Rates {
    std::vector<pipeline::Stage> units; ///< seconds only
    double transfers = 1;               ///< what the device receives takes so many times as long
  };
  std::vector<Rates> rates;
  std::vector<TiedWeight> tied = {};
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

/// What a run of units takes as one stage.
struct Load {
  pipeline::Stage stage; ///< its backward pass with replays, and without what they free
  double incoming = 0;   ///< seconds of what it reads from stages before it, there and back
  double replay = 0;     ///< seconds of replays, of those of its backward pass
  double taken = 0;      ///< bytes of the arena
  double fullness = 0; ///< the share of the device's memory that it takes; above 1 it does not fit

  double seconds() const { return stage.forward + stage.backward + stage.weight + incoming; }
};

/// What all runs of units take, each in time that does not grow with the run: forward, backward and
/// weight passes on the device, and the transfers of what the stage reads from stages before it,
/// there and back. Where all that a stage saves for the micro-batches in flight does not fit the
/// device, the cheapest replays are taken that free enough bytes, the last one in part.
class Loads {
public:
  explicit Loads(const Problem &problem);
  ~Loads();

  Load get(int first, int last, int stage) const;
  /// At most the seconds of any run that contains this one.
  double getFloor(int first, int last, int stage) const;

private:
  class Sums;
  const Problem &problem;
  std::unique_ptr<Sums> sums;
};

/// The same with the loads of a problem. A stage cannot be what its device cannot hold.
std::optional<Split> balance(const Problem &problem);

/// Splits for problems where nothing fits, in case the bytes are estimates: the fastest of all, the
/// fastest of half the excess, and the one whose fullest device is the least full.
std::vector<Split> loosen(const Problem &problem);

/// The stages of a split and the transfers between them: one per pair of stages that shares values,
/// straight from the one to the other.
pipeline::Pipeline makePipeline(const Problem &problem, const Split &split);

} // namespace reprise::stages

#endif // REPRISE_PLANNING_STAGES_BALANCE_H
