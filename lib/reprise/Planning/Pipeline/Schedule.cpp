// reprise: schedules made by a rule
#include "reprise/Planning/Pipeline/Schedule.h"

#include <algorithm>

namespace reprise::pipeline {

std::string describe(const Piece &piece) {
  const char *const names[] = {"forward", "backward", "weight"};
  return "stage " + std::to_string(piece.stage) + ", " + names[static_cast<int>(piece.pass)] +
         " of micro-batch " + std::to_string(piece.microbatch);
}

namespace {

/// The micro-batches of one pass of one stage that are left.
struct Line {
  Piece next;
  int64_t end;
};

} // namespace

/// Merges the lines of a rank. Micro-batches of a line are in order, so the next piece is the first
/// of a line. Ranks have few lines, and a merge is faster than a sort.
static void merge(std::vector<Line> lines, const Rule &rule, const Shape &shape,
                  std::vector<Piece> &pieces) {
  while (!lines.empty()) {
    auto least = std::min_element(lines.begin(), lines.end(), [&](const Line &a, const Line &b) {
      return rule.precedes(a.next, b.next, shape);
    });
    pieces.push_back(least->next);
    if (++least->next.microbatch == least->end)
      lines.erase(least);
  }
}

Schedule makeSchedule(const Rule &rule, const Shape &shape) {
  Schedule schedule{shape, rule.splitsBackward, {}};
  schedule.shape.isVee = rule.isVee;
  const Shape &made = schedule.shape;
  int passes = rule.splitsBackward ? 3 : 2;
  std::vector<std::vector<Line>> lines(made.ranks);
  for (int stage = 0; stage < made.stages(); ++stage)
    for (int pass = 0; pass < passes; ++pass)
      lines[made.rankOf(stage)].push_back({{static_cast<Pass>(pass), stage, 0}, made.microbatches});
  for (std::vector<Line> &own : lines) {
    std::vector<Piece> &pieces = schedule.ranks.emplace_back();
    pieces.reserve(passes * made.chunks * made.microbatches);
    merge(std::move(own), rule, made, pieces);
  }
  return schedule;
}

} // namespace reprise::pipeline
