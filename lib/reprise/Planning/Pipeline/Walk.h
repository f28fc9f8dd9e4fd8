// reprise: the pieces of a schedule in an order that respects their waits
#ifndef REPRISE_LIB_PLANNING_PIPELINE_WALK_H
#define REPRISE_LIB_PLANNING_PIPELINE_WALK_H

#include "reprise/Planning/Pipeline/Problem.h"

#include <functional>

namespace reprise::pipeline {

/// Walk over a schedule: runs every rank until it waits, and continues the rank when the awaited
/// piece has ended. The schedule must have no defect of count or order.
class Walk {
public:
  /// Begins a piece at `ready` at the earliest; gives its end.
  using Visit = std::function<double(int rank, size_t place, double ready)>;

  Walk(const Schedule &schedule, const Pipeline &pipeline);

  /// Runs all ranks. Returns false if some ranks deadlock.
  bool run(const Visit &visit);

  /// Returns the next piece of a deadlocked rank, and the first piece that it waits for.
  std::pair<Piece, Piece> getWait(int rank) const;
  bool isDone(int rank) const { return places[rank] == schedule.ranks[rank].size(); }

private:
  struct Link {
    int stage;    ///< stage at the other end
    int transfer; ///< number of the transfer
  };
  struct Waiting {
    bool isReady;
    double ready; ///< seconds, if it is ready
    Piece open;   ///< awaited piece, if it is not ready
  };

  size_t line(Pass pass, int stage) const { return 3 * stage + static_cast<size_t>(pass); }
  bool hasEnded(const Piece &piece) const {
    return ended[line(piece.pass, piece.stage)] > piece.microbatch;
  }
  Waiting look(const Piece &piece) const;
  /// Adds a wait for the end of `other`, or for its message.
  void await(Waiting &waiting, const Piece &other, double at) const;
  double endOf(const Piece &piece) const {
    return hasEnded(piece) ? ends[line(piece.pass, piece.stage)][piece.microbatch] : 0;
  }
  void awaitMessages(Waiting &waiting, const Piece &piece) const;
  void awaitBuffers(Waiting &waiting, const Piece &piece) const;
  bool isLocal(int stage, int other) const;
  void send(const Piece &piece, double at);
  void advance(int rank, const Visit &visit);

  const Schedule &schedule;
  const Pipeline &pipeline;
  std::vector<std::vector<Link>> sources, readers; // by stage
  std::vector<size_t> places;                      // next piece by rank
  std::vector<int64_t> ended;                      // number of micro-batches by line
  std::vector<std::vector<double>> ends;           // by line
  std::vector<std::vector<double>> arrivals;       // by transfer and direction
  std::vector<std::vector<int>> waiting;           // ranks that wait for a piece, by stage
  std::vector<int> ready;                          // ranks
};

/// Returns the most bytes that a rank holds, and the piece at which it holds them.
std::pair<int64_t, size_t> findPeak(const Schedule &schedule, const Pipeline &pipeline,
                                    size_t rank);

} // namespace reprise::pipeline

#endif // REPRISE_LIB_PLANNING_PIPELINE_WALK_H
