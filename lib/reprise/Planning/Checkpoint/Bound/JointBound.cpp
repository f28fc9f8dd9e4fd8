// reprise: what any plan within a budget costs at least, by all launches together
#include "Pricer.h"
#include "reprise/Planning/Checkpoint/Bound/Bound.h"

#include <algorithm>

using namespace reprise;
using namespace reprise::checkpoint;

double reprise::checkpoint::findJointBound(const Problem &problem, const Footprint &footprint,
                                           int64_t budget, double known, int steps,
                                           const IsOver &isOver) {
  static constexpr int kPatience = 5; // steps without a better bound, before shorter ones
  static constexpr double kShorter = 0.6;
  Pricer pricer(problem, footprint, isOver);
  std::vector<int64_t> fixed = findFixedBytes(problem, footprint);
  std::vector<double> prices(footprint.numLaunches), excess(footprint.numLaunches);
  double best = 0, share = 1;
  for (int step = 0, last = 0; step < steps && best < known; ++step) {
    Pricer::Priced priced = pricer.price(prices);
    if (pricer.isEnded())
      break;
    double value = priced.seconds, norm = 0;
    for (size_t launch = 0; launch < prices.size(); ++launch) {
      excess[launch] = priced.bytes[launch] - static_cast<double>(budget - fixed[launch]);
      value += prices[launch] * excess[launch];
      if (excess[launch] > 0 || prices[launch] > 0)
        norm += excess[launch] * excess[launch];
    }
    if (norm == 0)
      return std::max(best, value);
    if (value > best || step == 0)
      last = step;
    best = std::max(best, value);
    if (step - last == kPatience) {
      share *= kShorter;
      last = step;
    }
    double length = share * (known - value) / norm;
    for (size_t launch = 0; launch < prices.size(); ++launch)
      prices[launch] = std::max(0.0, prices[launch] + length * excess[launch]);
  }
  return std::min(best, known);
}
