// reprise: the links between the launches of a random problem, and random orders of them
#ifndef REPRISE_TEST_PLANNING_CHECKPOINT_LAUNCHLINKSOF_H
#define REPRISE_TEST_PLANNING_CHECKPOINT_LAUNCHLINKSOF_H

#include "RandomCheckpoint.h"
#include "reprise/Planning/Checkpoint/Problem/LaunchOrder.h"

namespace reprise::checkpoint::test {

/// Returns the links of a step. The last launch of the footprint is the only reader outside of the
/// problem.
inline LaunchLinks linksOf(const Case &given) {
  const auto &[problem, footprint] = given;
  LaunchLinks links;
  links.next.resize(footprint.numLaunches);
  links.outside.resize(problem.values.size());
  links.readers.resize(problem.operations.size());
  for (size_t value = 0; value < problem.values.size(); ++value)
    if (int last = footprint.lastOutside[value]; last >= 0)
      links.outside[value].push_back(last);
  for (size_t i = problem.operations.size(); i-- > 0;) {
    int own = footprint.launches[i];
    for (int operand : problem.operations[i].operands) {
      if (operand == kAvailable)
        continue;
      int maker = problem.values[operand].operation, made = footprint.launches[maker];
      std::vector<int> readers = own == kNoLaunch ? links.readers[i] : std::vector<int>{own};
      std::vector<int> &known = made == kNoLaunch ? links.readers[maker] : links.next[made];
      for (int reader : readers)
        if (reader != made)
          known.push_back(reader);
    }
  }
  for (const Neighbour &neighbour : footprint.neighbours) {
    links.neighbourReaders.push_back({neighbour.last});
    if (neighbour.last < footprint.numLaunches && neighbour.last > neighbour.first)
      links.next[neighbour.first].push_back(neighbour.last);
  }
  for (size_t value = 0; value < problem.values.size(); ++value) {
    int made = footprint.launches[problem.values[value].operation];
    for (int reader : links.outside[value])
      if (made != kNoLaunch && reader < footprint.numLaunches && reader > made)
        links.next[made].push_back(reader);
  }
  return links;
}

/// Picks a random order; each ready launch is equally likely to be next.
inline LaunchOrder pickOrder(Random &random, const LaunchLinks &links) {
  std::vector<int> waits(links.next.size()), ready;
  for (const std::vector<int> &next : links.next)
    for (int launch : next)
      ++waits[launch];
  for (size_t launch = 0; launch < waits.size(); ++launch)
    if (waits[launch] == 0)
      ready.push_back(static_cast<int>(launch));
  LaunchOrder order;
  while (!ready.empty()) {
    std::swap(ready[pick(random, static_cast<int>(ready.size()))], ready.back());
    order.push_back(ready.back());
    ready.pop_back();
    for (int next : links.next[order.back()])
      if (--waits[next] == 0)
        ready.push_back(next);
  }
  return order;
}

} // namespace reprise::checkpoint::test

#endif // REPRISE_TEST_PLANNING_CHECKPOINT_LAUNCHLINKSOF_H
