// reprise: the pieces of a schedule in an order that their waits allow
#ifndef REPRISE_LIB_PLANNING_PIPELINE_WALK_H
#define REPRISE_LIB_PLANNING_PIPELINE_WALK_H

#include "reprise/Planning/Pipeline/Problem.h"

#include <functional>

namespace reprise::pipeline {

/// Runs every rank until it waits, and goes on with it when that piece has ended. The schedule must
/// have no defect of count or order.
class Walk {
public:
  /// Begins a piece at `ready` at the earliest; gives its end.
  using Visit = std::function<double(int rank, size_t place, double ready)>;

  Walk(const Schedule &schedule, const Pipeline &pipeline);

  /// False if some ranks wait for ever.
  bool run(const Visit &visit);

  /// What a rank that waits for ever stands before, and the first piece that it waits for.
  std::pair<Piece, Piece> getWait(int rank) const;
  bool isDone(int rank) const { return places[rank] == schedule.ranks[rank].size(); }

private:
  struct Link {
    int stage;    ///< at the other end
    int transfer; ///< its number
  };
  struct Waiting {
    bool isReady;
    double ready; ///< seconds, if it is
    Piece open;   ///< what has not ended, if it is not
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
  std::vector<size_t> places;                      // by rank: the next piece
  std::vector<int64_t> ended;                      // by line: how many micro-batches
  std::vector<std::vector<double>> ends;           // by line
  std::vector<std::vector<double>> arrivals;       // by transfer and direction
  std::vector<std::vector<int>> waiting; // by stage: the ranks that wait for a piece of it
  std::vector<int> ready;                // ranks
};

/// The most bytes that a rank holds, and at which of its pieces.
std::pair<int64_t, size_t> findPeak(const Schedule &schedule, const Pipeline &pipeline,
                                    size_t rank);

} // namespace reprise::pipeline

#endif // REPRISE_LIB_PLANNING_PIPELINE_WALK_H
