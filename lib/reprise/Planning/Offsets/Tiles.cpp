// reprise: sweeps over an arena whose holes are tiles
#include "Tiles.h"

#include <algorithm>
#include <numeric>

using namespace reprise::offsets;

/// Probability that a hole is cut before a section: its range, the increment by a sweep that ends
/// nearby, and the factor after each other sweep.
static constexpr double kLeastChance = 0.02, kMostChance = 0.8, kLearned = 0.3, kKept = 0.9;

/// Sections on either side of the end of a sweep.
static constexpr int32_t kNear = 2;

Tiles::Tiles(const Sections &sections, int64_t limit)
    : count(static_cast<int32_t>(sections.members.size())), isFull(true),
      chances(count, kLeastChance) {
  int64_t arena = limit / sections.alignment * sections.alignment;
  for (size_t i = 0; i < sections.units.size(); ++i) {
    auto [first, last] = sections.spans[i];
    units.push_back({first, last, roundUp(sections.units[i].size, sections.alignment)});
  }
  for (int32_t s = 0; s < count; ++s) {
    int64_t sum = 0;
    for (int32_t unit : sections.members[s])
      sum += units[unit].size;
    int64_t load = std::accumulate(sections.loads[s].begin(), sections.loads[s].end(), int64_t{0});
    isFull = isFull && sum == load && sum <= arena;
  }
  auto find = [&](int64_t time) {
    auto at = std::lower_bound(sections.starts.begin(), sections.starts.end(), time);
    return static_cast<int32_t>(at - sections.starts.begin());
  };
  for (const Buffer &hole : findHoles(sections, limit))
    holes.push_back({find(hole.first), find(hole.last), hole.size});
}

std::vector<Tile> Tiles::cutHoles(SplitMix &random) const {
  std::vector<Tile> cut;
  for (Tile hole : holes) {
    for (int32_t s = hole.first + 1; s <= hole.last; ++s)
      if (static_cast<double>(random.next() >> 11) * 0x1p-53 < chances[s]) {
        cut.push_back({hole.first, s - 1, hole.size});
        hole.first = s;
      }
    cut.push_back(hole);
  }
  return cut;
}

void Tiles::learn(int32_t edge) {
  for (int32_t s = 0; s < count; ++s) {
    double chance = std::max(kLeastChance, kKept * chances[s]);
    chances[s] = std::abs(s - edge) <= kNear ? std::min(kMostChance, chance + kLearned) : chance;
  }
}

bool Tiles::find(size_t width, int64_t &visits, std::vector<int64_t> &offsets) {
  if (!isFull)
    return false;
  SplitMix random(number);
  bool isBackward = number % 2 == 1;
  std::vector<Tile> tiles = units, cut = number < 2 ? holes : cutHoles(random);
  tiles.insert(tiles.end(), cut.begin(), cut.end());
  if (isBackward)
    for (Tile &tile : tiles)
      tile = {count - 1 - tile.last, count - 1 - tile.first, tile.size};
  ++number;
  TileSweep sweep(tiles, count, width, random, visits);
  bool found = sweep.run();
  visits = sweep.visitsLeft;
  if (found) {
    offsets = sweep.recover();
    offsets.resize(units.size());
  } else {
    learn(isBackward ? count - sweep.reached() : sweep.reached());
  }
  return found;
}
