// reprise: what no choice changes of a problem and the step around it, laid out to be read often
#ifndef REPRISE_LIB_PLANNING_CHECKPOINT_SCHEDULE_METERTABLES_H
#define REPRISE_LIB_PLANNING_CHECKPOINT_SCHEDULE_METERTABLES_H

#include "reprise/Planning/Checkpoint/Problem/Footprint.h"

#include <algorithm>
#include <map>

namespace reprise::checkpoint {

/// Most originals read what they read in any case. They are measured once, here; each measurement
/// of choices looks at the others, which are called open, and at replays.
class MeterTables {
public:
  MeterTables(const Problem &problem, const Footprint &footprint);

  /// An operand that is not available anyway.
  struct Operand {
    int value;
    unsigned definition : 31;
    unsigned mayMove : 1; // a replay may be read instead of the original
  };
  /// Small, as every run is looked up here several times.
  struct Op {
    int launch;
    int firstResult, numResults;
    int firstOpen = 0;     // operands that choices may move, if it is open
    int firstReplayed = 0; // operands of its replays, which follow
    int endReplayed = 0;
    int free = -1; // its number among the open ones without a launch
    bool isElementwise, readsRegisters;
    bool takesPlaces; // its results lie where operands die
    bool makesAll;    // it stores results that nothing reads, too
    bool handsOn;     // without a launch, it hands on its first operand
    bool isFree() const { return launch == kNoLaunch; }
  };
  /// The buffer that a value has, made by its original, if only what is not open reads it.
  struct Buffer {
    int first, last;          // launches
    int sizeClass;            // of buffers with as many bytes
    int root = -1;            // the value whose buffer this is; -1 for none
    bool dies = false;        // it may make place for a result of its last launch
    bool takesPlaces = false; // it may lie where a buffer dies
    bool isAlive() const { return last > first; }
  };
  /// How many buffers of a size die in a launch, and how many could take their places.
  struct Places {
    int sizeClass = 0, dying = 0, made = 0;
    int shared() const { return std::min(dying, made); }
  };

  int numLaunches;
  int numFree = 0; // open originals without a launch
  std::vector<Op> ops;
  std::vector<int> sessions;    // per operation
  std::vector<double> seconds;  // of its replays
  std::vector<int64_t> scratch; // bytes, while it runs
  std::vector<Operand> operands;
  std::vector<int> open;       // originals
  std::vector<Buffer> buffers; // per value
  std::vector<int64_t> sizes;  // per class
  // Per launch: bytes while it runs, and while replays for it run.
  std::vector<int64_t> during, before;
  std::vector<int> firstPlaces; // per launch, in `places`, and the end
  std::vector<Places> places;
  double launchSeconds, byteSeconds;      // as the footprint has them
  std::vector<std::pair<int, int>> loads; // launches, and the buffers that they load in any case
  std::vector<bool> mayVanish;            // per value: its operation is elementwise
  std::vector<bool> makesAll;             // per value: its operation stores what nothing reads, too

private:
  void addOperations(const Problem &problem, const Footprint &footprint);
  void addOperands(const Problem &problem);
  void addReads(const Problem &problem, const Footprint &footprint);
  template <typename Visit> void forEachRead(const Problem &problem, size_t operation, Visit visit);
  void findDying(const Problem &problem);
  void addBytes(const Footprint &footprint);
  void addPlaces();

  std::vector<std::map<int, Places>> placesOf; // until `places` is made of it, then empty
};

} // namespace reprise::checkpoint

#endif // REPRISE_LIB_PLANNING_CHECKPOINT_SCHEDULE_METERTABLES_H
