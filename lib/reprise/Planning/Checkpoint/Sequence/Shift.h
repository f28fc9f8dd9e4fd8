// reprise: a step of a sequence at another place
#ifndef REPRISE_LIB_PLANNING_CHECKPOINT_SEQUENCE_SHIFT_H
#define REPRISE_LIB_PLANNING_CHECKPOINT_SEQUENCE_SHIFT_H

#include "Sequence.h"

namespace reprise::checkpoint {

/// A move of a step, weighed before it is made, because most moves are not.
struct Shift {
  int step = 0, from = 0, to = 0;
  int64_t own = 0; ///< bytes beyond the budget at the new place
  Changes changes; ///< bytes at other places
  struct Dying {
    int step, sizeClass, dying;
  };
  std::vector<Dying> dying; ///< steps in which more or fewer items die
  struct Last {
    int item, step;
    bool dies;
  };
  std::vector<Last> lasts; ///< items with another last reader
  int64_t growth = 0;      ///< growth of the excess; the cost stays
  /// Returns the places between the old and the new one, and the new one.
  std::pair<int, int> range() const {
    return from < to ? std::make_pair(from + 1, to + 1) : std::make_pair(to, from);
  }
};

/// Returns how many places a step may go ahead, up to a step that must stay behind it.
int findSlackAhead(const Sequence &sequence, int step);
/// Returns how many places a step may go back, up to a step that must stay before it.
int findSlackBack(const Sequence &sequence, int step);
/// Weighs the move of a step to a place within its slack. Overwrites `shift`.
void weigh(const Sequence &sequence, int step, int to, Shift &shift);
/// Makes a move that was weighed for this sequence.
void apply(Sequence &sequence, const Shift &shift);

} // namespace reprise::checkpoint

#endif // REPRISE_LIB_PLANNING_CHECKPOINT_SEQUENCE_SHIFT_H
