// reprise: other orders of a step's launches, and the footprint that it has in them
#include "reprise/Planning/Checkpoint/Problem/LaunchOrder.h"

#include <algorithm>

using namespace reprise::checkpoint;

/// Per launch: its place; -1 for none. The end of the step comes last.
static std::vector<int> findPlaces(size_t count, const LaunchOrder &order) {
  std::vector<int> places(count + 1, -1);
  for (size_t at = 0; at < order.size(); ++at)
    places[order[at]] = static_cast<int>(at);
  places[count] = static_cast<int>(count);
  return places;
}

bool reprise::checkpoint::isPossible(const LaunchLinks &links, const LaunchOrder &order) {
  auto count = static_cast<int>(links.next.size());
  bool isKnown = std::all_of(order.begin(), order.end(),
                             [&](int launch) { return launch >= 0 && launch < count; });
  if (!isKnown || order.size() != links.next.size())
    return false;
  std::vector<int> places = findPlaces(order.size(), order);
  for (int launch = 0; launch < count; ++launch) {
    if (places[launch] < 0)
      return false;
    for (int next : links.next[launch])
      if (places[next] <= places[launch])
        return false;
  }
  return true;
}

Footprint reprise::checkpoint::arrange(const Footprint &inOrder, const LaunchLinks &links,
                                       const LaunchOrder &order) {
  Footprint arranged = inOrder;
  std::vector<int> places = findPlaces(order.size(), order);
  for (size_t i = 0; i < arranged.launches.size(); ++i) {
    int &launch = arranged.launches[i], &time = arranged.times[i];
    if (launch != kNoLaunch) {
      time = launch = places[launch];
      continue;
    }
    time = arranged.numLaunches - 1;
    for (int reader : links.readers[i])
      time = std::min(time, places[reader]);
  }
  for (size_t value = 0; value < arranged.lastOutside.size(); ++value) {
    int &last = arranged.lastOutside[value];
    last = -1;
    for (int reader : links.outside[value])
      last = std::max(last, places[reader]);
  }
  for (size_t i = 0; i < arranged.neighbours.size(); ++i) {
    Neighbour &neighbour = arranged.neighbours[i];
    neighbour.last = neighbour.first = places[neighbour.first];
    for (int reader : links.neighbourReaders[i])
      neighbour.last = std::max(neighbour.last, places[reader]);
  }
  return arranged;
}
