// reprise: buffers that probably take the place of other buffers
#include "Sections.h"
#include "reprise/Support/StableSort.h"

#include <algorithm>
#include <numeric>

using namespace reprise::offsets;

/// Limit of the units that end or begin at an edge; more units have too many subsets.
static constexpr size_t kMostParts = 10;

/// Limit of the pairs of subsets with equal bytes; more pairs mean that few sizes add up in many
/// ways.
static constexpr size_t kMostPairs = 4096;

namespace {
struct Subset {
  int64_t sum;
  uint32_t bits;
};

/// Units that end, and others that begin, by their places in the lists of an edge.
struct Pair {
  uint32_t ends, begins;

  int count() const { return __builtin_popcount(ends) + __builtin_popcount(begins); }
  bool isIn(const Pair &other) const {
    return (ends & ~other.ends) == 0 && (begins & ~other.begins) == 0;
  }
  bool meets(const Pair &other) const {
    return (ends & other.ends) != 0 || (begins & other.begins) != 0;
  }
};
} // namespace

static std::vector<Subset> listSubsets(const std::vector<Edge::Part> &parts) {
  std::vector<Subset> found = {{0, 0}};
  for (size_t i = 0; i < parts.size(); ++i)
    for (size_t k = 0, count = found.size(); k < count; ++k)
      found.push_back({found[k].sum + parts[i].second, found[k].bits | uint32_t(1) << i});
  std::sort(found.begin(), found.end(), [](const Subset &a, const Subset &b) {
    return std::make_pair(a.sum, a.bits) < std::make_pair(b.sum, b.bits);
  });
  return found;
}

/// Lists the pairs of subsets with equal bytes, smallest pairs first.
static std::vector<Pair> listPairs(const Edge &edge) {
  std::vector<Subset> ends = listSubsets(edge.ends), begins = listSubsets(edge.begins);
  std::vector<Pair> pairs;
  auto from = begins.begin() + 1; // after the empty subset
  for (auto end = ends.begin() + 1; end != ends.end(); ++end) {
    while (from != begins.end() && from->sum < end->sum)
      ++from;
    for (auto at = from; at != begins.end() && at->sum == end->sum; ++at)
      if (pairs.size() < kMostPairs)
        pairs.push_back({end->bits, at->bits});
  }
  reprise::sortStably(pairs, [](const Pair &a, const Pair &b) { return a.count() < b.count(); });
  return pairs;
}

/// Returns pairs that contain no smaller pair, and share no unit with another such pair.
static std::vector<Pair> findApart(const std::vector<Pair> &pairs) {
  std::vector<Pair> least, apart;
  for (const Pair &pair : pairs)
    if (std::none_of(least.begin(), least.end(), [&](const Pair &one) { return one.isIn(pair); }))
      least.push_back(pair);
  for (const Pair &pair : least)
    if (std::count_if(least.begin(), least.end(),
                      [&](const Pair &one) { return one.meets(pair); }) == 1)
      apart.push_back(pair);
  return apart;
}

static Block toBlock(const Sections &sections, int32_t edge, const Pair &pair) {
  Block block{edge, {}, {}, {}, 0};
  const Edge &parts = sections.edges[edge];
  for (size_t i = 0; i < parts.ends.size(); ++i)
    if (pair.ends >> i & 1) {
      block.ends.push_back(parts.ends[i].first);
      block.bytes += parts.ends[i].second;
    }
  for (size_t i = 0; i < parts.begins.size(); ++i)
    if (pair.begins >> i & 1)
      block.begins.push_back(parts.begins[i].first);
  auto add = [&](int32_t unit, const std::vector<int32_t> &mine) {
    if (std::find(mine.begin(), mine.end(), unit) == mine.end())
      block.others.push_back(unit);
  };
  for (int32_t unit : parts.crossing)
    block.others.push_back(unit);
  for (auto [unit, bytes] : parts.ends)
    add(unit, block.ends);
  for (auto [unit, bytes] : parts.begins)
    add(unit, block.begins);
  return block;
}

std::vector<Block> reprise::offsets::findBlocks(const Sections &sections, int64_t limit) {
  std::vector<Block> blocks;
  auto isFull = [&](int32_t s) {
    return std::accumulate(sections.loads[s].begin(), sections.loads[s].end(), int64_t{0}) == limit;
  };
  for (int32_t s = 1; s < static_cast<int32_t>(sections.members.size()); ++s) {
    const Edge &edge = sections.edges[s];
    bool isSmall = std::max(edge.ends.size(), edge.begins.size()) <= kMostParts;
    if (!sections.isEven || !isSmall || !isFull(s - 1) || !isFull(s))
      continue;
    std::vector<Pair> pairs = listPairs(edge);
    if (pairs.size() == kMostPairs)
      continue;
    for (const Pair &pair : findApart(pairs))
      blocks.push_back(toBlock(sections, s, pair));
  }
  return blocks;
}
