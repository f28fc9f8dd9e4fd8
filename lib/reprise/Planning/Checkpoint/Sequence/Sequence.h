// reprise: a sequence of executions under change, with its bytes and its cost
#ifndef REPRISE_LIB_PLANNING_CHECKPOINT_SEQUENCE_SEQUENCE_H
#define REPRISE_LIB_PLANNING_CHECKPOINT_SEQUENCE_SEQUENCE_H

#include "Pieces.h"

namespace reprise::checkpoint {

/// Executions of pieces in an order that changes, move by move. The model:
///
/// - A **step** is a launch, or replays of one launch that run as one kernel. The last step is the
///   end of the program.
/// - An **item** is a cell as one execution makes it. The item lies in memory from its step to the
///   last step that reads it, and in registers if its own step alone reads it.
/// - A **joined** execution runs inside a launch, which alone reads its items.
/// - Each read of an execution names the item that it takes.
///
/// Every change updates the bytes of the steps that it touches, and has an inverse, so that a
/// search makes a change, weighs it by `cost` and `excess`, and takes it back. A change costs as
/// many operations as steps lie between the places that it touches.
class Sequence {
public:
  /// The launches in program order without a replay. `budget` is in bytes.
  Sequence(const Pieces &pieces, int64_t budget);

  struct Exec {
    int piece = 0, step = -1, firstItem = 0;
    bool isJoined = false;
    std::vector<int> sources; ///< items, one per read of the piece
  };
  struct Reader {
    int exec = 0, read = 0;
  };
  struct Item {
    int exec = 0, cell = 0;
    int last = -1;     ///< the last step that reads the item; -1 for none
    bool dies = false; ///< a result of that step may take its place
    std::vector<Reader> readers;
  };
  struct Step {
    int place = 0, launch = 0;
    bool isReplay = false;
    int64_t made = 0;       ///< bytes of items of the step that lie in memory
    int64_t extra = 0;      ///< bytes of scratch without those of results in the places of operands
    std::vector<int> execs; ///< each stands behind those of the step that it reads
    struct Places {
      int sizeClass = 0, made = 0, dying = 0;
    };
    std::vector<Places> places;
  };
  /// A reader that took another item.
  struct Moved {
    int result = 0; ///< result of the execution that the reader reads
    Reader reader;
    int from = 0; ///< item that the reader takes otherwise
  };
  /// A replay that was taken away.
  struct Removed {
    int piece = 0, place = 0, step = -1;
    bool isJoined = false, hadStep = false;
    size_t index = 0; ///< in its step
    std::vector<int> sources;
    std::vector<Moved> moved;
  };

  /// Returns the number of steps without the end.
  int size() const { return static_cast<int>(order.size()) - 1; }
  /// Returns seconds beyond those of the launches, as Footprint.h counts them.
  double cost() const;
  /// Returns the bytes beyond the budget, summed over all steps.
  int64_t excess() const { return totalExcess; }
  int64_t peak() const;

  /// Returns how many places a step may go ahead or back.
  int slackAhead(int step) const;
  int slackBack(int step) const;
  /// Returns by how much `excess` grows if a step moves to a place within its slack. The cost
  /// stays.
  int64_t weighShift(int step, int place);
  /// Moves the step that was weighed last.
  void shift();

  /// Replays the cell of an item for `reader` and all later movable readers of the same execution.
  /// Returns the new execution, or -1 if there is none. Fills in the readers that it has.
  int replay(int item, Reader reader, std::vector<Moved> &moved);
  void takeBack(int exec, const std::vector<Moved> &moved);
  /// Adds a replay to a step that stands before `place`, or to a new step.
  int insert(int piece, int place, const std::vector<int> &sources, bool appends);

  /// Tells whether the readers of a replay can take earlier items instead.
  bool canRemove(int exec) const;
  Removed remove(int exec);
  int restore(const Removed &removed);
  /// Moves a replay into the launch whose step alone reads it, from registers.
  void join(int exec, int host);

  void moveReader(Reader reader, int to);
  bool isReplay(int exec) const { return pieces->isReplay(execs[exec].piece); }
  bool isRead(int exec) const;
  int placeOf(int exec) const { return steps[execs[exec].step].place; }
  const Pieces::Piece &pieceOf(int exec) const { return pieces->pieces[execs[exec].piece]; }

  /// Tells whether what the launch reads is still there before a place.
  bool mayRunBefore(int launch, int place) const;
  /// Tells whether an execution has a place.
  bool exists(int exec) const { return execs[exec].step >= 0; }
  /// Counts excess beyond another budget from now on.
  void setBudget(int64_t bytes);

  const Pieces *pieces;
  std::vector<int> order; ///< steps
  std::vector<Step> steps;
  std::vector<Exec> execs;
  std::vector<Item> items;
  std::vector<std::vector<int>> byCell; ///< items that exist, per cell

private:
  struct Home {
    int step = -1; ///< -1 for a new step
    bool isJoined = false, isFirst = false;
  };
  std::vector<int> findSources(const Pieces::Piece &piece, int place) const;
  int findLatest(int cell, int place) const;
  std::vector<Moved> findMoved(const Pieces::Piece &piece, int old, int place) const;
  std::optional<Home> findHome(int piece, int host, const std::vector<Moved> &moved,
                               const std::vector<int> &sources) const;
  bool runsIn(int piece, int step) const;
  const Pieces::Result &resultOf(const Item &item) const;

  void attach(int item);
  void detach(int item) { count(items[item], -1); }
  void count(const Item &item, int sign);
  void countLoad(int exec, int read, int sign);
  void addBytes(int begin, int end, int64_t bytes);
  void addExtra(int step, int64_t bytes);
  void addPlaces(int step, int sizeClass, int made, int dying, bool isCounted = true);
  int64_t bytesAcross(int place) const;
  void weighAhead(int to);
  void weighBack(int to);
  void growDying(int step, int sizeClass, int dying);
  int64_t findGrowth(int begin, int end) const;
  void renumber(size_t begin, size_t end);

  int makeExec(int piece);
  int addExec(int piece, int step, size_t index, bool isJoined, std::vector<int> sources);
  void drop(int exec, Removed *removed);
  int makeStep(int place, int launch);
  void eraseStep(int step);
  void link(int exec);
  void unlink(int exec);

  int64_t budget;
  std::vector<int64_t> above; // per place: bytes beyond the budget; negative below it
  int64_t totalExcess = 0, traffic = 0;
  double seconds = 0;
  int numReplaySteps = 0;
  std::vector<int> freeSteps;
  std::vector<std::vector<int>> freeExecs; // per piece
  std::vector<std::vector<int>> replays;   // per launch: executions

  /// A shift that was weighed.
  struct Shift {
    int step = 0, from = 0, to = 0;
    int64_t own = 0; ///< what `above` is at the new place
    struct Change {
      int place;
      int64_t bytes; ///< from the place on
    };
    std::vector<Change> changes; ///< at the places between, by place
    struct Dying {
      int step, sizeClass, dying;
    };
    std::vector<Dying> dying;
    struct Last {
      int item, step;
      bool dies;
    };
    std::vector<Last> lasts; ///< items with another last reader
    void change(int place, int64_t bytes);
  };
  Shift shifted;
};

} // namespace reprise::checkpoint

#endif // REPRISE_LIB_PLANNING_CHECKPOINT_SEQUENCE_SEQUENCE_H
