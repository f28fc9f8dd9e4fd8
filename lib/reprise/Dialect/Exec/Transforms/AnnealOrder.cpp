// reprise: orders of launches with few bytes, by annealing
#include "LaunchGraph.h"
#include "reprise/Support/SplitMix.h"

#include <cmath>

using namespace reprise;
using namespace reprise::exec;

namespace {

class OrderAnnealer {
public:
  OrderAnnealer(const LaunchGraph &graph, LaunchOrder start)
      : graph(graph), order(std::move(start)), place(order.size()), waitsFor(order.size()) {
    for (size_t number = 0; number < order.size(); ++number)
      for (size_t next : graph.getNext(number))
        waitsFor[next].push_back(number);
    for (size_t at = 0; at < order.size(); ++at)
      place[order[at]] = at;
    best = order;
    bestPeak = graph.measure(order, profile);
    lowerTarget();
  }

  void run(int64_t moves, int64_t enough);

  LaunchOrder best;
  int64_t bestPeak = 0;

private:
  double energyOf(const std::vector<int64_t> &bytes) const;
  void lowerTarget();
  bool pickMove(size_t &from, size_t &to);
  void shift(size_t from, size_t to);

  const LaunchGraph &graph;
  LaunchOrder order;
  std::vector<size_t> place; // per launch
  std::vector<std::vector<size_t>> waitsFor;
  std::vector<int64_t> profile;
  int64_t target = 0; // bytes
  double energy = 0;
  SplitMix random{1};
};

} // namespace

/// Returns the sum over all launches of their bytes above the target, in units of the target.
double OrderAnnealer::energyOf(const std::vector<int64_t> &bytes) const {
  double excess = 0;
  for (int64_t each : bytes)
    excess += static_cast<double>(std::max<int64_t>(0, each - target));
  return excess / static_cast<double>(std::max<int64_t>(1, target));
}

/// The target is one hundredth below the best peak, because a target that no order can reach does
/// not distinguish better orders.
void OrderAnnealer::lowerTarget() {
  target = bestPeak - std::max<int64_t>(1, bestPeak / 100);
  energy = energyOf(profile);
}

/// Picks a launch and another place for it, near or far. Returns false if the launch has no other
/// place.
bool OrderAnnealer::pickMove(size_t &from, size_t &to) {
  static constexpr int kNear = 8;
  auto count = static_cast<int>(order.size());
  from = random.below(count);
  int first = 0, last = count - 1, at = static_cast<int>(from);
  for (size_t before : waitsFor[order[from]])
    first = std::max(first, static_cast<int>(place[before]) + 1);
  for (size_t after : graph.getNext(order[from]))
    last = std::min(last, static_cast<int>(place[after]) - 1);
  if (random.below(2)) {
    first = std::max(first, at - kNear);
    last = std::min(last, at + kNear);
  }
  to = first + random.below(last - first + 1);
  return from != to;
}

void OrderAnnealer::shift(size_t from, size_t to) {
  auto begin = order.begin();
  if (from < to)
    std::rotate(begin + from, begin + from + 1, begin + to + 1);
  else
    std::rotate(begin + to, begin + from, begin + from + 1);
  for (size_t at = std::min(from, to); at <= std::max(from, to); ++at)
    place[order[at]] = at;
}

void OrderAnnealer::run(int64_t moves, int64_t enough) {
  static constexpr double kHot = 0.3, kCold = 0.001;
  std::vector<int64_t> bytes;
  for (int64_t move = 0; move < moves && bestPeak > enough; ++move) {
    double done = static_cast<double>(move) / static_cast<double>(moves);
    double temperature = kHot * std::pow(kCold / kHot, done);
    size_t from, to;
    if (!pickMove(from, to))
      continue;
    shift(from, to);
    int64_t peak = graph.measure(order, bytes);
    double next = energyOf(bytes);
    if (next > energy && random.unit() >= std::exp((energy - next) / temperature)) {
      shift(to, from);
      continue;
    }
    energy = next;
    profile.swap(bytes);
    if (peak < bestPeak) {
      best = order;
      bestPeak = peak;
      lowerTarget();
    }
  }
}

int64_t reprise::exec::annealOrder(const LaunchGraph &graph, int64_t enough, LaunchOrder &order) {
  // We limit moves × launches to 2,000,000, about 0.2 s for 1,000 launches.
  static constexpr int64_t kWork = 2'000'000, kMostMoves = 40'000;
  auto moves = std::min(kMostMoves, kWork / static_cast<int64_t>(graph.size() + 1));
  OrderAnnealer annealer(graph, order);
  annealer.run(moves, enough);
  order = std::move(annealer.best);
  return annealer.bestPeak;
}
