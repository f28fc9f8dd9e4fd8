// reprise: what remains to be done in a state of a small graph's execution, and what it costs
#ifndef REPRISE_LIB_PLANNING_REMATERIALIZATION_STATES_H
#define REPRISE_LIB_PLANNING_REMATERIALIZATION_STATES_H

#include "reprise/Planning/Rematerialization/Exact.h"

namespace reprise::remat {

/// Bit i for operation i, or for value i.
using Set = unsigned __int128;

inline Set bit(int i) { return Set{1} << i; }
inline bool has(Set set, int i) { return (set >> i & 1) != 0; }

inline int countOf(Set set) {
  return __builtin_popcountll(static_cast<uint64_t>(set)) +
         __builtin_popcountll(static_cast<uint64_t>(set >> 64));
}

/// Ascending.
template <typename Visit> void forEach(Set set, Visit visit) {
  for (int first : {0, 64})
    for (auto part = static_cast<uint64_t>(set >> first); part != 0; part &= part - 1)
      visit(first + __builtin_ctzll(part));
}

/// Between two executions.
struct State {
  Set executed = 0; ///< operations, at least once
  Set resident = 0; ///< values
  int last = -1;    ///< in stages: the replay after which others of this stage must come

  bool operator==(const State &other) const {
    return executed == other.executed && resident == other.resident && last == other.last;
  }
  /// The same operations, no fewer values, no fewer replays allowed.
  bool holds(const State &other) const {
    return last <= other.last && (other.resident & ~resident) == 0;
  }
};

struct StateHash {
  size_t operator()(const State &state) const {
    uint64_t hash = static_cast<uint64_t>(state.last);
    for (Set set : {state.executed, state.resident})
      for (int half : {0, 64}) {
        hash = (hash ^ static_cast<uint64_t>(set >> half)) * 0x9E3779B97F4A7C15;
        hash ^= hash >> 32;
      }
    return hash;
  }
};

/// Lower bounds of what a state still takes.
class Remainder {
public:
  Remainder(const Problem &problem, int64_t budget, Orders orders);

  /// One execution of what has not run, and of what must be replayed because a value that it reads,
  /// or that such a replay reads, is gone.
  struct Least {
    double cost = 0;
    Set replays = 0;
  };
  Least least(State state) const;
  /// What other replays cost at least: at the first execution of an operation the values that are
  /// read before and after it are there or made again later. A fractional knapsack, as in Bound.h.
  double others(State state, Set replays) const;
  /// The values that a schedule may still read if its replays beyond `replays` cost less than
  /// `slack`.
  Set useful(State state, Set replays, double slack) const;
  int64_t bytes(Set values) const;

  struct Sets {
    Set operands = 0, results = 0;
  };
  std::vector<Sets> sets;   ///< per operation
  std::vector<Set> readers; ///< per value

private:
  /// Set of one operation that cross another one's first execution.
  struct Item {
    int operation;
    double cost;
    int64_t bytes;
  };
  struct Cut {
    int operation;
    int64_t excess;          ///< over the budget if all of them are there
    std::vector<Item> items; ///< the cheapest per byte first
  };
  Cut cutAt(int t, int64_t budget, Set before, Set behind) const;

  const Problem &problem;
  bool isIntegral = true; // all costs are whole numbers, and so is each schedule's
  std::vector<Cut> cuts;
};

} // namespace reprise::remat

#endif // REPRISE_LIB_PLANNING_REMATERIALIZATION_STATES_H
