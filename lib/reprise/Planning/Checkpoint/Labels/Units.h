// reprise: units of a checkpoint problem: where they lie in the program and which follow directly
#ifndef REPRISE_LIB_PLANNING_CHECKPOINT_LABELS_UNITS_H
#define REPRISE_LIB_PLANNING_CHECKPOINT_LABELS_UNITS_H

#include "reprise/Planning/Checkpoint/Problem/Problem.h"

#include <map>
#include <utility>

namespace reprise::checkpoint {

/// The operations of each unit: a container, nested containers included, and a derivative order.
class Units {
public:
  explicit Units(const Problem &problem);

  /// The innermost container that holds both; the root if they have nothing in common.
  int commonContainer(int a, int b) const;
  /// The child of the root that holds `container`.
  int outermost(int container) const;
  bool holds(int outer, int inner) const { return commonContainer(outer, inner) == outer; }

  /// True if the unit (container, order) wants to be recomputed as a whole, and no other operation
  /// runs between it and the unit (container, later): replaying it would only repeat what has just
  /// been computed.
  bool isLastBefore(int container, int64_t order, int64_t later) const;
  /// True if `isLastBefore(container, order, later)` for any order before `later`.
  bool followsItsOwn(int container, int64_t later) const;

private:
  struct Unit {
    int first = 0;
    int last = 0;
    bool recomputed = true; // all values are labelled so
  };
  void add(const Problem &problem, int operation, int container);

  std::vector<int> parents, depths;
  std::vector<std::vector<int>> positions; // per container, the operations in it, ascending
  std::map<std::pair<int, int64_t>, Unit> units;
};

} // namespace reprise::checkpoint

#endif // REPRISE_LIB_PLANNING_CHECKPOINT_LABELS_UNITS_H
