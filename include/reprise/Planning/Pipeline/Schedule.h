// reprise: in which order every device of a pipeline runs its pieces
#ifndef REPRISE_PLANNING_PIPELINE_SCHEDULE_H
#define REPRISE_PLANNING_PIPELINE_SCHEDULE_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::pipeline {

/// A step is cut into stages, stages are given to ranks, and the batch is cut into micro-batches.
///
/// - A rank is a device. It holds as many chunks, which are stages, as every other rank.
/// - Stage s lies on rank s mod ranks: after the last rank the next chunk begins at the first one.
///   In a vee every second chunk runs back, so that the last rank holds two stages in a row.
struct Shape {
  int ranks = 1;
  int chunks = 1;
  int64_t microbatches = 1;
  bool isVee = false;

  int stages() const { return ranks * chunks; }
  int chunkOf(int stage) const { return stage / ranks; }
  int rankOf(int stage) const {
    int place = stage % ranks;
    return isVee && chunkOf(stage) % 2 != 0 ? ranks - 1 - place : place;
  }
};

/// Backward: the gradients of a stage's inputs and of its weights, or those of its inputs alone
/// where the schedule has a piece Weight for those of its weights.
enum class Pass : uint8_t { Forward, Backward, Weight };

/// One pass of one stage over one micro-batch: what a device runs without waiting in between.
struct Piece {
  Pass pass = Pass::Forward;
  int32_t stage = 0;
  int32_t microbatch = 0;
};

/// "stage 2, backward of micro-batch 5"
std::string describe(const Piece &piece);

struct Schedule {
  Shape shape;
  bool splitsBackward = false;
  std::vector<std::vector<Piece>> ranks; ///< in the order of execution
};

/// An ordering rule: which of two pieces of one rank runs first. It is a strict total order for
/// every rank of every shape that the rule takes, and keeps the micro-batches of a pass in order.
struct Rule {
  const char *name;
  bool splitsBackward;
  bool isVee;
  int leastChunks, mostChunks; ///< per rank; mostChunks 0: any number
  /// As many chunks as are wished for, if the rule takes them, or else the next number that it
  /// takes.
  int fitChunks(int wished) const {
    int most = mostChunks > 0 ? mostChunks : wished;
    return wished < leastChunks ? leastChunks : wished < most ? wished : most;
  }
  bool (*precedes)(const Piece &first, const Piece &second, const Shape &shape);
};

/// gpipe, 1f1b, interleaved-1f1b, zb-h1 and zb-v, in this order.
const std::vector<Rule> &getRules();

/// Null if there is none of that name.
const Rule *findRule(std::string_view name);
/// The error about a name that is neither a rule, nor one of `others`, nor that of a file.
std::string refuseUnknown(const std::string &name, const std::vector<std::string> &others = {});

/// Every piece once, in the order of the rule. O(n) of the pieces for ranks of few chunks. The rule
/// must take the shape.
Schedule makeSchedule(const Rule &rule, const Shape &shape);

} // namespace reprise::pipeline

#endif // REPRISE_PLANNING_PIPELINE_SCHEDULE_H
