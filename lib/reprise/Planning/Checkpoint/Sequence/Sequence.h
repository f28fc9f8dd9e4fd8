// reprise: a sequence of executions, with its bytes and its cost
#ifndef REPRISE_LIB_PLANNING_CHECKPOINT_SEQUENCE_SEQUENCE_H
#define REPRISE_LIB_PLANNING_CHECKPOINT_SEQUENCE_SEQUENCE_H

#include "Pieces.h"
#include "Profile.h"

namespace reprise::checkpoint {

/// Executions of pieces in an order. The model:
///
/// - A **step** is a launch, or replays of one launch that run as one kernel. The last step is the
///   end of the program.
/// - An **item** is a cell as one execution makes it. The item lies in memory from its step to the
///   last step that reads it, and in registers if its own step alone reads it.
/// - A **joined** execution runs inside a launch, which alone reads its items.
/// - Each read of an execution names the item that it takes.
///
/// The functions of this struct keep bytes and cost up to date; SequenceMoves.h and Shift.h make
/// whole changes of them, each of which has an inverse. A change costs as many operations as steps
/// lie between the places that it touches.
struct Sequence {
  /// Makes the launches in program order without a replay. `budget` is in bytes.
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

  /// Returns the number of steps without the end.
  int size() const { return static_cast<int>(order.size()) - 1; }
  /// Returns seconds beyond those of the launches, as Footprint.h counts them.
  double cost() const;
  /// Returns the most bytes of any step.
  int64_t peak() const;
  /// Returns the bytes beyond the budget, summed over all steps.
  int64_t excess() const { return profile.excess; }

  bool isReplay(int exec) const { return pieces->isReplay(execs[exec].piece); }
  /// Tells whether an execution has a place.
  bool exists(int exec) const { return execs[exec].step >= 0; }
  bool isRead(int exec) const;
  int placeOf(int exec) const { return steps[execs[exec].step].place; }
  const Pieces::Piece &pieceOf(int exec) const { return pieces->pieces[execs[exec].piece]; }
  /// Tells whether a result may lie where the item that is read dies.
  bool takesPlace(Reader reader) const {
    return pieceOf(reader.exec).reads[reader.read].takesPlace;
  }
  /// Returns the bytes of items that lie in memory before the step at a place and in it.
  int64_t bytesAcross(int place) const;

  /// Finds the last reader of an item and counts what the item takes. The profile has the bytes of
  /// the item up to before the place `counted`.
  void attach(int item, int counted);
  /// Takes away what an item takes, so that its readers and their steps may change. The profile
  /// keeps the bytes of the item up to before the returned place.
  int detach(int item);
  /// Lets a reader take another item of the same cell.
  void moveReader(Reader reader, int to);
  /// Changes how many results of a size may lie in places of a step, and how many places there are.
  /// The bytes that this spares are counted at the place of the step unless `isCounted` is false.
  void addPlaces(int step, int sizeClass, int made, int dying, bool isCounted = true);
  void addExtra(int step, int64_t bytes);

  /// Adds a replay that nothing reads yet to a step, as its `index`th execution.
  int add(int piece, int step, size_t index, bool isJoined, std::vector<int> sources);
  /// Takes away a replay that nothing reads, and its step if that is empty then.
  void drop(int exec);
  /// Adds an empty step of replays of a launch.
  int makeStep(int place, int launch);
  /// Notes the places of the steps in a range of `order`.
  void renumber(size_t begin, size_t end);

  const Pieces *pieces;
  std::vector<int> order; ///< steps
  std::vector<Step> steps;
  std::vector<Exec> execs;
  std::vector<Item> items;
  std::vector<std::vector<int>> byCell;  ///< items that exist, per cell
  std::vector<std::vector<int>> replays; ///< replays that exist, per launch
  Profile profile;
  int64_t traffic = 0; ///< bytes that are stored or loaded for the replays' sake
  double seconds = 0;  ///< seconds of replays
  int numReplaySteps = 0;
  std::vector<int> freeSteps;              ///< numbers for steps to come
  std::vector<std::vector<int>> freeExecs; ///< numbers for executions to come, per piece
};

} // namespace reprise::checkpoint

#endif // REPRISE_LIB_PLANNING_CHECKPOINT_SEQUENCE_SEQUENCE_H
