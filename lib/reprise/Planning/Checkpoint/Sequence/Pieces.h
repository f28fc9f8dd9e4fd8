// reprise: a step in pieces: what a sequence executes, and what each execution reads and stores
#ifndef REPRISE_LIB_PLANNING_CHECKPOINT_SEQUENCE_PIECES_H
#define REPRISE_LIB_PLANNING_CHECKPOINT_SEQUENCE_PIECES_H

#include "reprise/Planning/Checkpoint/Problem/LaunchOrder.h"

namespace reprise::checkpoint {

/// Parts of a step that a sequence executes as a whole. The model:
///
/// - A **cell** is a value that lies in memory, because a launch other than its own reads it. Cells
///   without a value are the other buffers of the step.
/// - A **piece** is a whole launch, or the part of a launch that makes a cell again from other
///   cells. Values inside a piece stay in registers.
/// - A **movable** read may take a replay of its cell.
/// - The end of the step is a piece that reads what the step returns.
struct Pieces {
  /// Plans obey PREFERs like MUSTs unless `mayOverride` is true. Launches keep program order if
  /// `links` is null. Problem and footprint must outlive the pieces. O(operations² / 64 + reads).
  Pieces(const Problem &problem, const Footprint &footprint, const LaunchLinks *links,
         bool mayOverride);

  struct Read {
    int cell = 0;
    bool mayMove = true;       ///< the read may take a replay
    bool fromRegisters = true; ///< the kernel can take the cell from registers
    bool takesPlace = false;   ///< a result may lie where the cell dies
    bool isUsual = false;      ///< the load costs nothing, because no choice spares it
  };
  struct Result {
    int cell = 0;
    bool takesPlaces = false; ///< the result may lie where an operand dies
    bool makesAll = false;    ///< the kernel stores the result even if nothing reads it
    bool isKnown = false;     ///< the store costs nothing, because no choice spares it
  };
  struct Piece {
    int launch = 0;
    bool isElementwise = false;
    double seconds = 0;          ///< seconds of one replay, without its launch and traffic
    int64_t scratch = 0;         ///< bytes that the kernel takes beside operands and results
    std::vector<int> operations; ///< numbers of operations with a launch, ascending
    std::vector<Read> reads;
    std::vector<Result> results;
  };
  struct Cell {
    int value = -1; ///< -1 for a buffer outside of the problem
    int64_t bytes = 0;
    int sizeClass = 0;
    int launch = 0, result = 0; ///< the launch that makes the cell, and its result there
    int replay = -1;            ///< the piece that makes the cell again; -1 for none
    bool mustReplay = false;    ///< movable reads must not take the original
  };

  bool isReplay(int piece) const { return piece > numLaunches; }

  const Problem &problem;
  const Footprint &footprint;
  int numLaunches = 0;
  bool isOrdered = false; ///< launches keep program order
  /// Each replay is a step of its own that costs its seconds alone, and no result takes the place
  /// of an operand, as in a graph.
  bool isPlain = false;
  std::vector<Piece> pieces; ///< the launches, the end of the step, then all replays
  std::vector<Cell> cells;
  std::vector<int> cellOf;    ///< cell per value; -1 for none
  std::vector<int> replayOf;  ///< piece per operation; -1 for none
  std::vector<int64_t> sizes; ///< bytes per size class
  /// Launches that wait for a launch without reading from it. They may overwrite what that launch
  /// reads, so that its replays run before them. `overwritten` is the inverse relation.
  std::vector<std::vector<int>> overwriters, overwritten;

private:
  int addCell(int value, int64_t bytes, int launch);
  void findCells();
  void addLaunches();
  void addNeighbours(const LaunchLinks *links);
  void addReturned(const LaunchLinks *links);
  void addReads(int piece, int operation, const std::vector<bool> *isOwn);
  Read describeRead(int operation, int operand, bool isOriginal) const;
  void addReplay(int operation);
  std::vector<int> collectOwn(int operation) const;
  int64_t findUnreadBytes(int operation, bool hasResults) const;
  bool mayMove(int reader, int operand, bool isReplay) const;
  void findReadingLaunches();
  void findWaits(const LaunchLinks *links);
  void findPlain();
  bool isMoved(const Problem::Operation &reader, int value) const;
  bool isReplayable(int operation) const;
  bool mustSave(int value) const;

  static constexpr int kUnread = -1, kApart = -2; // in place of a launch
  bool mayOverride;
  std::vector<int> readingLaunch; // per value
};

} // namespace reprise::checkpoint

#endif // REPRISE_LIB_PLANNING_CHECKPOINT_SEQUENCE_PIECES_H
