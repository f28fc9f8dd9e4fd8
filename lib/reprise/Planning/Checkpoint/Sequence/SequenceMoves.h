// reprise: replays that come into a sequence and go again
#ifndef REPRISE_LIB_PLANNING_CHECKPOINT_SEQUENCE_SEQUENCEMOVES_H
#define REPRISE_LIB_PLANNING_CHECKPOINT_SEQUENCE_SEQUENCEMOVES_H

#include "Sequence.h"

namespace reprise::checkpoint {

/// A reader that took another item.
struct Moved {
  int result = 0; ///< result of the replay that the reader reads
  Sequence::Reader reader;
  int from = 0; ///< item that the reader takes without the replay
};

/// A replay that was taken away.
struct Removed {
  int piece = 0, place = 0, step = -1;
  bool isJoined = false, hadStep = false;
  size_t index = 0; ///< in its step
  std::vector<int> sources;
  std::vector<Moved> moved;
};

/// Replay that may be added before the step of a reader.
struct Proposal {
  int piece = 0, place = 0;
  int old = 0; ///< the execution that the readers read without the replay
  std::vector<int> sources;
  std::vector<Moved> moved;
};

/// Returns the latest item of a cell that lies in memory before a place; -1 for none.
int findLatest(const Sequence &sequence, int cell, int place);
/// Proposes to replay the cell of an item for `reader` and all later movable readers of the same
/// execution. Returns false if that is impossible. Overwrites `proposal`.
bool propose(const Sequence &sequence, int item, Sequence::Reader reader, Proposal &proposal);
/// Returns the growth of the excess by a replay. Only for plain pieces.
int64_t weigh(const Sequence &sequence, const Proposal &proposal, Changes &changes);
/// Makes a replay that was proposed for this sequence. Returns the new execution, or -1 if the step
/// of its reader has the same piece already.
int make(Sequence &sequence, const Proposal &proposal);
/// Undoes a replay.
void takeBack(Sequence &sequence, int exec, const std::vector<Moved> &moved);

/// Tells whether the readers of a replay can take earlier items instead.
bool canRemove(const Sequence &sequence, int exec);
/// Returns the growth of the excess by a removal. Only for plain pieces.
int64_t weighRemoval(const Sequence &sequence, int exec, Changes &changes);
Removed remove(Sequence &sequence, int exec);
/// Undoes a removal.
int restore(Sequence &sequence, const Removed &removed);

/// Adds a replay to the step of replays before `place`, or to a new step.
int insert(Sequence &sequence, int piece, int place, const std::vector<int> &sources, bool appends);
/// Moves a replay into the launch whose step alone reads it, from registers.
void join(Sequence &sequence, int exec, int host);
/// Tells whether what the launch reads is still there before a place.
bool mayRunBefore(const Sequence &sequence, int launch, int place);

} // namespace reprise::checkpoint

#endif // REPRISE_LIB_PLANNING_CHECKPOINT_SEQUENCE_SEQUENCEMOVES_H
