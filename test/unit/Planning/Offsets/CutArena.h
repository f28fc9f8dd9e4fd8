// reprise: an arena that is cut into buffers which are known to fit
#ifndef REPRISE_TEST_UNIT_PLANNING_OFFSETS_CUTARENA_H
#define REPRISE_TEST_UNIT_PLANNING_OFFSETS_CUTARENA_H

#include "../../../../lib/reprise/Planning/Offsets/Sections.h"

#include <random>

namespace reprise::offsets {

/// Cuts an arena through whole pieces, mostly large ones, until there are `count`, at times and
/// bytes of a grid. No byte is left over, and many pieces begin and end at the same time. `leftOut`
/// pieces are left out.
inline Problem cutArena(uint64_t seed, size_t count, int64_t times, int64_t capacity,
                        int64_t step = 1, size_t leftOut = 0) {
  struct Piece {
    // The ends last and high are exclusive.
    int64_t first, last, low, high;
    int64_t area() const { return (last - first) * (high - low); }
  };
  std::mt19937_64 random(seed);
  std::vector<Piece> pieces = {{0, times, 0, capacity}};
  while (pieces.size() < count) {
    size_t large = random() % pieces.size();
    for (int other = 0; other < 2; ++other) {
      size_t index = random() % pieces.size();
      large = pieces[index].area() > pieces[large].area() ? index : large;
    }
    Piece &piece = pieces[large], rest = piece;
    int64_t life = piece.last - piece.first, steps = (piece.high - piece.low) / step;
    if (random() % 2 && life > 1)
      piece.last = rest.first = piece.first + 1 + static_cast<int64_t>(random() % (life - 1));
    else if (steps > 1)
      piece.high = rest.low = piece.low + step * (1 + static_cast<int64_t>(random() % (steps - 1)));
    else
      continue;
    pieces.push_back(rest);
  }
  Problem problem;
  problem.alignment = 1;
  for (const Piece &piece : pieces)
    problem.buffers.push_back({piece.first, piece.last - 1, piece.high - piece.low});
  for (size_t i = 0; i < leftOut; ++i)
    problem.buffers.erase(problem.buffers.begin() + random() % problem.buffers.size());
  return problem;
}

/// Data that the searches for a problem share.
struct SearchTable {
  explicit SearchTable(Problem given)
      : problem(std::move(given)), units(unitsOf(problem)),
        conflicts(Conflicts::build(problem, units)), sections(problem, units, conflicts) {}

  Problem problem;
  std::vector<Unit> units;
  Conflicts conflicts;
  Sections sections;
};

} // namespace reprise::offsets

#endif // REPRISE_TEST_UNIT_PLANNING_OFFSETS_CUTARENA_H
