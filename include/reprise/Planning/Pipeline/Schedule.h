// reprise: the order of the pieces of every device of a pipeline
#ifndef REPRISE_PLANNING_PIPELINE_SCHEDULE_H
#define REPRISE_PLANNING_PIPELINE_SCHEDULE_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::pipeline {

/// Shape of a pipeline: a step is cut into stages, stages are assigned to ranks, and the batch is
/// cut into micro-batches.
///
/// - A rank is a device. All ranks hold the same number of chunks, which are stages.
/// - Stage s lies on rank s mod ranks: after the last rank the next chunk begins at the first rank.
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

/// Pass of a stage. Backward computes the gradients of a stage's inputs and of its weights; if the
/// schedule has Weight pieces, these compute the gradients of the weights instead.
enum class Pass : uint8_t { Forward, Backward, Weight };

/// Pass of one stage over one micro-batch, which a device runs without waiting.
struct Piece {
  Pass pass = Pass::Forward;
  int32_t stage = 0;
  int32_t microbatch = 0;
};

/// Returns "stage 2, backward of micro-batch 5".
std::string describe(const Piece &piece);

struct Schedule {
  Shape shape;
  bool splitsBackward = false;
  std::vector<std::vector<Piece>> ranks; ///< pieces per rank, in the order of execution
};

/// Ordering rule: which of two pieces of one rank runs first. The order is strict and total for
/// every rank of every shape that the rule allows, and keeps the micro-batches of a pass in order.
struct Rule {
  const char *name;
  bool splitsBackward;
  bool isVee;
  int leastChunks, mostChunks; ///< per rank; mostChunks 0: any number
  /// Returns the wished number of chunks if the rule allows it, otherwise the nearest allowed
  /// number.
  int fitChunks(int wished) const {
    int most = mostChunks > 0 ? mostChunks : wished;
    return wished < leastChunks ? leastChunks : wished < most ? wished : most;
  }
  bool (*precedes)(const Piece &first, const Piece &second, const Shape &shape);
};

/// Returns all rules: the only list of their names.
const std::vector<Rule> &getRules();
std::vector<std::string> getRuleNames();

/// Name of the rule that is used if the user names none, and of the only rule that orders steps of
/// more than two sweeps, such as those of gradients of gradients.
inline constexpr const char *kUsualRule = "1f1b", *kRuleOfAnySweeps = "gpipe";
/// Returns the name of the rule for a step of so many sweeps if the user names none.
inline const char *usualRule(int64_t sweeps) { return sweeps <= 2 ? kUsualRule : kRuleOfAnySweeps; }

/// Returns the rule; null if there is none of that name.
const Rule *findRule(std::string_view name);
/// Returns the error about a name that is neither a rule, nor one of `others`, nor a file name.
std::string refuseUnknown(const std::string &name, const std::vector<std::string> &others = {});

/// Makes the schedule with every piece once, in the order of the rule. O(n) in the pieces for ranks
/// of few chunks. The rule must allow the shape.
Schedule makeSchedule(const Rule &rule, const Shape &shape);

} // namespace reprise::pipeline

#endif // REPRISE_PLANNING_PIPELINE_SCHEDULE_H
