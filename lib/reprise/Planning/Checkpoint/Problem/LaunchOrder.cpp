// reprise: other orders of a step's launches, and the footprint that it has in them
#include "reprise/Planning/Checkpoint/Problem/LaunchOrder.h"
#include "reprise/Support/StableSort.h"

#include <algorithm>
#include <numeric>

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

template <typename T> static void permute(std::vector<T> &list, const std::vector<int> &order) {
  std::vector<T> permuted;
  for (size_t i = 0; i < order.size() && !list.empty(); ++i)
    permuted.push_back(list[order[i]]);
  list = std::move(permuted);
}

/// The operations of one launch stay together; those without a launch come before their first
/// reader.
static std::vector<int> sortOperations(const Footprint &arranged) {
  std::vector<int> operations(arranged.times.size());
  std::iota(operations.begin(), operations.end(), 0);
  reprise::sortStably(operations,
                      [&](int a, int b) { return arranged.times[a] < arranged.times[b]; });
  return operations;
}

ReorderedStep reprise::checkpoint::reorder(const Problem &problem, const Footprint &inOrder,
                                           const LaunchLinks &links, const LaunchOrder &order) {
  ReorderedStep step{problem, arrange(inOrder, links, order), {}, {}};
  step.operations = sortOperations(step.footprint);
  std::vector<int> numbers(problem.values.size()); // per value in program order: its number here
  for (int from : step.operations)
    for (int result = 0; result < problem.operations[from].numResults; ++result) {
      int value = problem.operations[from].firstResult + result;
      numbers[value] = static_cast<int>(step.values.size());
      step.values.push_back(value);
    }
  permute(step.problem.operations, step.operations);
  permute(step.problem.values, step.values);
  int next = 0;
  for (size_t i = 0; i < step.operations.size(); ++i) {
    Problem::Operation &op = step.problem.operations[i];
    op.firstResult = next;
    for (int &operand : op.operands)
      operand = operand == kAvailable ? kAvailable : numbers[operand];
    for (int result = 0; result < op.numResults; ++result)
      step.problem.values[next++].operation = static_cast<int>(i);
  }
  for (Problem::Value &value : step.problem.values)
    value.root = value.root == kAvailable ? kAvailable : numbers[value.root];
  permute(step.footprint.launches, step.operations);
  permute(step.footprint.times, step.operations);
  permute(step.footprint.seconds, step.operations);
  permute(step.footprint.scratch, step.operations);
  permute(step.footprint.inPlace, step.operations);
  permute(step.footprint.makesAll, step.operations);
  permute(step.footprint.lastOutside, step.values);
  permute(step.footprint.isStored, step.values);
  return step;
}
