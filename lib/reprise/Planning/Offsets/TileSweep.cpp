// reprise: a sweep over tiles that fill an arena
#include "Tiles.h"
#include "reprise/Support/StableSort.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

using namespace reprise::offsets;

/// Limit of the subsets of the tiles that end or begin at an edge, smallest first: all subsets of
/// 16 tiles.
static constexpr size_t kMostSubsets = 1 << 16;

/// Limit of stored changes for the same remaining tiles: few sizes have too many equal sums.
static constexpr size_t kMostChanges = 10'000;

/// States that one leads to, at most.
static constexpr size_t kMostNext = 50;

/// Bits of a subset. If more tiles end or begin, they do so together.
static constexpr size_t kMostTiles = 64;

/// Visits, of a few ns each, for each tile that is live, where a tree is copied and changed.
static constexpr int64_t kVisitsPerLeaf = 20;

TileSweep::TileSweep(const std::vector<Tile> &tiles, int32_t count, size_t width, SplitMix &random,
                     int64_t visits)
    : visitsLeft(visits), tiles(tiles), width(width), random(random), edges(count + 1),
      marks(tiles.size()) {
  for (size_t i = 0; i < tiles.size(); ++i) {
    edges[tiles[i].first].begins.push_back(static_cast<int32_t>(i));
    edges[tiles[i].last + 1].ends.push_back(static_cast<int32_t>(i));
  }
  auto isLarger = [&](int32_t a, int32_t b) {
    return std::make_pair(-tiles[a].size, a) < std::make_pair(-tiles[b].size, b);
  };
  for (Change &edge : edges) {
    std::sort(edge.ends.begin(), edge.ends.end(), isLarger);
    std::sort(edge.begins.begin(), edge.begins.end(), isLarger);
  }
}

void TileSweep::mark(const List &list, bool isMarked) {
  for (int32_t tile : list)
    marks[tile] = isMarked;
}

/// The subsets that have `start`, by rising count, then in the order of the list.
std::vector<TileSweep::Subset> TileSweep::listSubsets(const List &from, Subset start) {
  std::vector<Subset> found = {start};
  for (size_t done = 0; done < found.size(); ++done) {
    size_t next = 0;
    while (next < from.size() && found[done].bits >> next)
      ++next;
    for (; next < from.size() && found.size() < kMostSubsets; ++next)
      found.push_back(
          {found[done].bytes + tiles[from[next]].size, found[done].bits | uint64_t(1) << next});
  }
  visitsLeft -= 4 * static_cast<int64_t>(found.size());
  return found;
}

/// Returns changes that contain the first tile that ends, smallest first.
std::vector<TileSweep::Change> TileSweep::matchSubsets(const Change &left) {
  std::vector<Subset> ends = listSubsets(left.ends, {tiles[left.ends.front()].size, 1});
  std::vector<Subset> begins = listSubsets(left.begins, {0, 0});
  reprise::sortStably(begins, [](const Subset &a, const Subset &b) { return a.bytes < b.bytes; });
  auto pick = [](const List &from, uint64_t bits) {
    List picked;
    for (size_t i = 0; i < from.size(); ++i)
      if (bits >> i & 1)
        picked.push_back(from[i]);
    return picked;
  };
  std::vector<std::pair<std::pair<size_t, uint64_t>, Change>> keyed;
  for (const Subset &end : ends) {
    auto at = std::lower_bound(begins.begin(), begins.end(), end.bytes,
                               [](const Subset &a, int64_t bytes) { return a.bytes < bytes; });
    for (; at != begins.end() && at->bytes == end.bytes && keyed.size() < kMostChanges; ++at) {
      Change change{pick(left.ends, end.bits), pick(left.begins, at->bits)};
      size_t size = change.ends.size() + change.begins.size();
      keyed.emplace_back(std::make_pair(size, random.next()), std::move(change));
    }
  }
  visitsLeft -= 100 * static_cast<int64_t>(keyed.size());
  std::sort(keyed.begin(), keyed.end(),
            [](const auto &a, const auto &b) { return a.first < b.first; });
  std::vector<Change> found;
  for (auto &[key, change] : keyed)
    found.push_back(std::move(change));
  return found;
}

/// Returns the possible first changes of the remaining changes before a section; the last one is
/// all of them in one.
const std::vector<TileSweep::Change> &TileSweep::findChanges(const Change &left) {
  List key = left.ends;
  key.push_back(-1);
  key.insert(key.end(), left.begins.begin(), left.begins.end());
  auto [at, isNew] = changes.try_emplace(std::move(key));
  if (!isNew)
    return at->second;
  if (left.ends.size() > 1 && std::max(left.ends.size(), left.begins.size()) <= kMostTiles)
    at->second = matchSubsets(left);
  if (at->second.empty() || at->second.back().ends.size() < left.ends.size())
    at->second.push_back(left);
  return at->second;
}

/// Applies a change. Returns false, with an unusable state, if the tiles that end cannot be
/// contiguous.
bool TileSweep::apply(const Change &change, State &state) {
  mark(change.ends, true);
  bool canLie = state.tree.gather(marks);
  if (canLie)
    state.tree.replace(marks, change.begins);
  mark(change.ends, false);
  state.changes.push_back(change);
  return canLie;
}

/// Adds the states after all changes of an edge; gives their number.
size_t TileSweep::expand(const Rest &rest, const State &state, std::vector<State> &next) {
  if (rest.change.ends.empty()) {
    next.push_back(state);
    return 1;
  }
  auto without = [&](const List &all, const List &gone) {
    List left;
    for (int32_t tile : all)
      if (std::find(gone.begin(), gone.end(), tile) == gone.end())
        left.push_back(tile);
    return left;
  };
  size_t made = 0;
  for (const Change &change : findChanges(rest.change)) {
    if (made >= rest.most || visitsLeft < 0)
      break;
    State one = state;
    visitsLeft -= kVisitsPerLeaf * live;
    if (!apply(change, one))
      continue;
    // Each first change gets half of the remaining states, so that not all begin alike.
    Rest after{{without(rest.change.ends, change.ends), without(rest.change.begins, change.begins)},
               std::max<size_t>(1, (rest.most - made) / 2)};
    made += expand(after, one, next);
  }
  return made;
}

/// Returns the states with the most orders, with some randomness; no state twice.
std::vector<TileSweep::State> TileSweep::keepBest(std::vector<State> states) {
  std::vector<std::tuple<double, uint64_t, size_t>> keys;
  for (size_t i = 0; i < states.size(); ++i) {
    double luck = static_cast<double>(random.next() >> 11) * 0x1p-53;
    keys.push_back({-states[i].tree.freedom() - luck, states[i].tree.digest(), i});
  }
  std::sort(keys.begin(), keys.end());
  std::set<uint64_t> seen;
  std::vector<State> kept;
  for (auto [key, digest, index] : keys)
    if (kept.size() < width && seen.insert(digest).second)
      kept.push_back(std::move(states[index]));
  return kept;
}

std::vector<TileSweep::State> TileSweep::step(const std::vector<State> &states) {
  changes.clear();
  std::vector<State> next;
  for (size_t i = 0; i < states.size(); ++i)
    expand({edges[section], kMostNext}, {states[i].tree, static_cast<int32_t>(i), {}}, next);
  return keepBest(std::move(next));
}

bool TileSweep::run() {
  std::vector<State> states = {{OrderTree(edges[0].begins), -1, {}}};
  live = static_cast<int64_t>(edges[0].begins.size());
  for (section = 1; section + 1 < static_cast<int32_t>(edges.size()); ++section) {
    states = step(states);
    live += static_cast<int64_t>(edges[section].begins.size());
    live -= static_cast<int64_t>(edges[section].ends.size());
    if (states.empty() || visitsLeft < 0)
      return false;
    history.emplace_back();
    for (State &state : states)
      history.back().push_back({state.parent, std::move(state.changes)});
  }
  return true;
}

/// Returns the changes that led to the first of the last states.
std::vector<TileSweep::Change> TileSweep::retrace() const {
  std::vector<const std::vector<Change> *> steps;
  int32_t at = 0;
  for (size_t s = history.size(); s-- > 0;) {
    steps.push_back(&history[s][at].second);
    at = history[s][at].first;
  }
  std::vector<Change> all;
  for (auto changes = steps.rbegin(); changes != steps.rend(); ++changes)
    all.insert(all.end(), (*changes)->begin(), (*changes)->end());
  return all;
}

/// Goes back through the changes with an order of the tiles after each of them: tiles that ended
/// replace those that began.
std::vector<int64_t> TileSweep::recover() {
  std::vector<Change> all = retrace();
  std::vector<OrderTree> trees;
  OrderTree tree(edges[0].begins);
  for (const Change &change : all) {
    mark(change.ends, true);
    tree.gather(marks);
    trees.push_back(tree);
    tree.replace(marks, change.begins);
    mark(change.ends, false);
  }
  std::vector<int64_t> offsets(tiles.size(), -1);
  std::vector<int32_t> rank(tiles.size());
  for (size_t i = all.size(); true; --i) {
    List order = tree.leaves();
    int64_t top = 0;
    for (size_t k = 0; k < order.size(); ++k) {
      rank[order[k]] = static_cast<int32_t>(k);
      offsets[order[k]] = top;
      top += tiles[order[k]].size;
    }
    if (i == 0)
      return offsets;
    int32_t place = INT32_MAX;
    for (int32_t tile : all[i - 1].begins)
      place = std::min(place, rank[tile]);
    for (int32_t tile : all[i - 1].ends)
      rank[tile] = place;
    tree = trees[i - 1];
    tree.turn(rank);
  }
}
