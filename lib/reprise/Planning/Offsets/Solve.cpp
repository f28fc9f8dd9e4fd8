// reprise: the portfolio of solvers for offsets in one arena
#include "Sections.h"

#include <algorithm>
#include <functional>
#include <numeric>

using namespace reprise::offsets;

/// Limit of the entries of the table of conflicts, 24 bytes each. Above it, scans improve the
/// sweeps.
static constexpr int64_t kMostConflicts = 16'000'000;

/// Number of packings from which hills are climbed.
static constexpr size_t kStarts = 4;

/// Sweeps that are improved where the table would be too large.
static constexpr size_t kScanStarts = 2;

/// Visits of a search that give one more visit to scans if no search runs; gaps of a sweep per
/// visit.
static constexpr int64_t kSearchVisitsPerVisit = 40, kGapsPerVisit = 10;

/// The search recurses once per unit.
static constexpr size_t kMostSearched = 4000;

/// Visits of a search that take as long as the lists for one conflict, or for one unit in a
/// section.
static constexpr int64_t kListVisits = 8;

/// Heights between the bound and the best height that the exact search tries.
static constexpr int kBisections = 8;

namespace {
class Portfolio {
public:
  Portfolio(const Problem &problem, const SolveOptions &options)
      : problem(problem), options(options), units(unitsOf(problem)),
        bound(std::max(lowerBound(problem), options.enough)) {}

  Solution run() {
    sweeps();
    if (height > bound && Conflicts::count(units) <= std::min(kMostConflicts, options.visits))
      packings();
    else if (height > bound)
      scans();
    return toSolution(problem, units, candidates[ranking().front()]);
  }

private:
  void offer(std::vector<int64_t> offsets) {
    height = std::min(height, heightOf(units, offsets));
    candidates.push_back(std::move(offsets));
  }

  void sweeps() {
    for (SweepOrder order : {SweepOrder::Size, SweepOrder::Life})
      for (bool backward : {false, true})
        if (height > bound || candidates.empty()) // any height may be enough
          offer(sweep(units, problem.alignment, order, backward));
    for (StackOrder order : {StackOrder::Life, StackOrder::Death, StackOrder::Birth})
      if (height > bound)
        offer(sweepFromPeak(units, problem.alignment, order));
  }

  /// Half of the work for sweeps, half for scans.
  void scans() {
    int64_t visits =
        options.visits + std::min(options.visits, options.searchVisits / kSearchVisitsPerVisit);
    for (std::vector<int64_t> &offsets :
         sweepGaps(units, problem.alignment, bound, kGapsPerVisit * visits / 2))
      offer(std::move(offsets));
    std::vector<int64_t> largestFirst = packLargestFirst(units, problem.alignment, visits / 2);
    if (!largestFirst.empty())
      offer(std::move(largestFirst));
    std::vector<size_t> ranks = ranking();
    size_t starts = std::min(kScanStarts, ranks.size());
    SolveOptions share = options;
    share.visits = visits / 2 / static_cast<int64_t>(starts);
    for (size_t i = 0; i < starts && height > bound; ++i) {
      std::vector<int64_t> packed = candidates[ranks[i]];
      if (improveByScans(units, problem.alignment, bound, share, packed))
        offer(std::move(packed));
    }
  }

  /// Units by a weight, the heaviest first.
  std::vector<int32_t> heaviestFirst(const std::function<double(size_t)> &weight) const {
    std::vector<int32_t> order(units.size());
    std::iota(order.begin(), order.end(), 0);
    std::vector<double> weights;
    for (size_t i = 0; i < units.size(); ++i)
      weights.push_back(weight(i));
    std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
      return std::make_pair(-weights[a], a) < std::make_pair(-weights[b], b);
    });
    return order;
  }

  void packings() {
    Conflicts conflicts = Conflicts::build(problem, units);
    Packer packer(units, conflicts, problem.alignment);
    auto life = [&](size_t i) { return double(units[i].last - units[i].first + 1); };
    auto size = [&](size_t i) { return double(units[i].size); };
    auto load = [&](size_t i) {
      double sum = size(i);
      for (const Conflict *entry = conflicts.begin(i); entry != conflicts.end(i); ++entry)
        sum += double(entry->theirs);
      return sum;
    };
    std::vector<std::function<double(size_t)>> weights = {
        size, [&](size_t i) { return life(i) * size(i); }, life, load,
        [&](size_t i) { return load(i) * size(i); }};
    for (const auto &weight : weights)
      for (Packer::Fit fit : {Packer::Fit::Lowest, Packer::Fit::Tightest})
        if (height > bound && packer.visits < options.visits) {
          offer(packer.pack(heaviestFirst(weight), fit, INT64_MAX));
        }
    // Most practical problems have a packing at the bound.
    if (options.searchVisits > 0)
      lookFor(conflicts, bound, 2);
    climbs(conflicts, packer);
    bisect(conflicts);
  }

  /// Searches for a packing of this height, with a share of the search's visits. A search does not
  /// begin if building its lists, which hold the conflicts again, with holes, would need more than
  /// these visits.
  bool lookFor(const Conflicts &conflicts, int64_t limit, int64_t share) {
    std::vector<int64_t> found;
    int64_t visits = options.searchVisits / share;
    if (units.size() > kMostSearched || height <= limit || kListVisits * conflicts.size() > visits)
      return false;
    if (!sections)
      sections.emplace(problem, units, conflicts);
    if (kListVisits * sections->countMembers() > visits ||
        search(problem, *sections, limit, visits, found) != Found::Yes)
      return false;
    offer(std::move(found));
    return true;
  }

  /// Searches heights between the bound and the best height.
  void bisect(const Conflicts &conflicts) {
    int64_t low = bound;
    for (int i = 0; i < kBisections && height > bound && options.searchVisits > 0; ++i) {
      int64_t limit = i == 0 ? bound : low + (height - low) / 2;
      if (!lookFor(conflicts, limit, 2 * kBisections))
        low = limit + 1;
    }
  }

  /// Several shorter climbs from different starts find more than a long one.
  void climbs(const Conflicts &conflicts, Packer &packer) {
    std::vector<size_t> ranks = ranking();
    size_t starts = std::min<size_t>(kStarts, ranks.size());
    SolveOptions share = options;
    share.moves /= static_cast<int64_t>(starts);
    int64_t visits = std::max<int64_t>(0, options.visits - packer.visits);
    for (size_t i = 0; i < starts && height > bound; ++i) {
      share.visits = packer.visits + visits / static_cast<int64_t>(starts);
      std::vector<int64_t> climbed = candidates[ranks[i]];
      climb(units, conflicts, packer, bound, share, climbed);
      offer(std::move(climbed));
    }
  }

  /// The indices of the candidates, the lowest first.
  std::vector<size_t> ranking() const {
    std::vector<std::pair<int64_t, size_t>> heights;
    for (size_t i = 0; i < candidates.size(); ++i)
      heights.push_back({heightOf(units, candidates[i]), i});
    std::sort(heights.begin(), heights.end());
    std::vector<size_t> result;
    for (auto [height, index] : heights)
      result.push_back(index);
    return result;
  }

  const Problem &problem;
  const SolveOptions &options;
  std::vector<Unit> units;
  std::optional<Sections> sections; // for all searches
  int64_t bound;
  std::vector<std::vector<int64_t>> candidates;
  int64_t height = INT64_MAX;
};
} // namespace

SolveOptions reprise::offsets::limitWork(const Problem &problem, int64_t problems) {
  SolveOptions options;
  options.visits =
      std::min(options.visits / problems, 5000 * static_cast<int64_t>(problem.buffers.size()));
  options.searchVisits = 100'000'000 / problems;
  return options;
}

Solution reprise::offsets::solve(const Problem &problem, const SolveOptions &options) {
  return Portfolio(problem, options).run();
}
