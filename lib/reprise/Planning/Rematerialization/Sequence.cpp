// reprise: a schedule under change, which knows its bytes at every place
#include "Sequence.h"

#include <algorithm>
#include <climits>

namespace reprise::remat {

void dropRepeats(std::vector<int> &readers) {
  std::sort(readers.begin(), readers.end());
  readers.erase(std::unique(readers.begin(), readers.end()), readers.end());
}

Sequence::Sequence(const Problem &given, int64_t budget)
    : problem(given), budget(budget), runs(given.operations.size()) {
  for (const Execution &execution : inOrder(problem)) {
    int number = static_cast<int>(nodes.size());
    nodes.push_back({execution.operation, number, execution.sources, {}, {}});
    nodes.back().readers.resize(problem.operations[execution.operation].numResults);
    runs[execution.operation].push_back(number);
    order.push_back(number);
    totalCost += problem.operations[execution.operation].cost;
  }
  for (int execution : order)
    link(execution);
  for (int execution : order)
    findLast(execution);
  during.resize(order.size());
  afterwards.resize(order.size());
  count(0, order.size());
}

Schedule Sequence::schedule() const {
  Schedule schedule;
  for (int execution : order) {
    Execution made{nodes[execution].operation, {}};
    for (int source : nodes[execution].sources)
      made.sources.push_back(nodes[source].place);
    schedule.push_back(std::move(made));
  }
  return schedule;
}

std::pair<int, int> Sequence::slackOf(int execution) const {
  int first = 0, last = static_cast<int>(order.size()) - 1;
  for (int source : nodes[execution].sources)
    first = std::max(first, nodes[source].place + 1);
  for (const std::vector<int> &readers : nodes[execution].readers)
    for (int reader : readers)
      last = std::min(last, nodes[reader].place - 1);
  return {first, last};
}

std::vector<int> Sequence::readersOf(int execution) const {
  std::vector<int> all;
  for (const std::vector<int> &readers : nodes[execution].readers)
    all.insert(all.end(), readers.begin(), readers.end());
  return all;
}

int Sequence::findLatest(int operation, int before) const {
  int latest = -1;
  for (int execution : runs[operation])
    if (nodes[execution].place < before &&
        (latest < 0 || nodes[execution].place > nodes[latest].place))
      latest = execution;
  return latest;
}

/// Which result of its source an operand reads.
int Sequence::resultOf(int execution, size_t operand) const {
  return operation(execution).operands[operand] -
         operation(nodes[execution].sources[operand]).firstResult;
}

void Sequence::link(int execution) {
  const std::vector<int> &sources = nodes[execution].sources;
  for (size_t k = 0; k < sources.size(); ++k)
    nodes[sources[k]].readers[resultOf(execution, k)].push_back(execution);
}

void Sequence::unlink(int execution) {
  const std::vector<int> &sources = nodes[execution].sources;
  for (size_t k = 0; k < sources.size(); ++k) {
    std::vector<int> &readers = nodes[sources[k]].readers[resultOf(execution, k)];
    readers.erase(std::find(readers.begin(), readers.end(), execution));
  }
}

void Sequence::redirect(int from, int to, const std::vector<int> &readers) {
  for (int reader : readers) {
    unlink(reader);
    std::replace(nodes[reader].sources.begin(), nodes[reader].sources.end(), from, to);
    link(reader);
  }
}

void Sequence::findLast(int execution) {
  Node &node = nodes[execution];
  node.last.assign(node.readers.size(), -1);
  for (size_t r = 0; r < node.readers.size(); ++r)
    for (int reader : node.readers[r])
      if (node.last[r] < 0 || nodes[reader].place > nodes[node.last[r]].place)
        node.last[r] = reader;
}

void Sequence::findLastOfSources(int execution) {
  for (int source : nodes[execution].sources)
    findLast(source);
}

/// The first place behind which some result is dead.
int Sequence::findEnd(int execution) const {
  int end = INT_MAX;
  for (int reader : nodes[execution].last)
    end = std::min(end, reader < 0 ? nodes[execution].place : nodes[reader].place);
  return end;
}

/// Behind the last of these and of `place`: where bytes are what they were before a change there.
size_t Sequence::findEndOf(const std::vector<int> &readers, int place) const {
  for (int reader : readers)
    place = std::max(place, nodes[reader].place);
  return std::min<size_t>(place + 1, order.size());
}

void Sequence::renumber(size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i)
    nodes[order[i]].place = static_cast<int>(i);
}

/// Bytes of the places from `begin` to before `end`, from what lives before them.
void Sequence::count(size_t begin, size_t end) {
  int64_t live = begin > 0 ? afterwards[begin - 1] : 0;
  for (size_t i = begin; i < end; ++i) {
    const Node &node = nodes[order[i]];
    const Operation &op = problem.operations[node.operation];
    totalExcess -= std::max<int64_t>(0, during[i] - budget);
    int64_t freed = 0;
    for (int r = 0; r < op.numResults; ++r) {
      live += problem.values[op.firstResult + r].bytes;
      freed += node.last[r] < 0 ? problem.values[op.firstResult + r].bytes : 0;
    }
    for (size_t k = 0; k < node.sources.size(); ++k)
      if (nodes[node.sources[k]].last[resultOf(order[i], k)] == order[i])
        freed += problem.values[op.operands[k]].bytes;
    during[i] = live;
    totalExcess += std::max<int64_t>(0, live - budget);
    afterwards[i] = live -= freed;
  }
}

void Sequence::shift(int execution, int place) {
  auto at = [&](int i) { return order.begin() + i; };
  int from = nodes[execution].place, begin = std::min(from, place), end = std::max(from, place) + 1;
  if (from < place)
    std::rotate(at(begin), at(begin + 1), at(end));
  else
    std::rotate(at(begin), at(end - 1), at(end));
  renumber(begin, end);
  findLastOfSources(execution);
  count(begin, end);
}

int Sequence::insert(int original, int place, const std::vector<int> &sources,
                     const std::vector<int> &readers) {
  int made = static_cast<int>(nodes.size());
  if (unused.empty()) {
    nodes.emplace_back();
  } else {
    made = unused.back();
    unused.pop_back();
  }
  Node &node = nodes[made];
  node.operation = nodes[original].operation;
  node.sources = sources;
  node.readers.assign(operation(made).numResults, {});
  runs[node.operation].push_back(made);
  order.insert(order.begin() + place, made);
  during.insert(during.begin() + place, 0);
  afterwards.insert(afterwards.begin() + place, 0);
  totalCost += operation(made).cost;
  renumber(place, order.size());
  int begin = std::min(place, nodes[original].place);
  for (int source : sources)
    begin = std::min(begin, findEnd(source));
  link(made);
  redirect(original, made, readers);
  findLast(made);
  findLast(original);
  findLastOfSources(made);
  count(begin, findEndOf(readers, place));
  return made;
}

void Sequence::remove(int execution, int heir) {
  size_t place = nodes[execution].place;
  std::vector<int> readers = readersOf(execution);
  dropRepeats(readers);
  redirect(execution, heir, readers);
  unlink(execution);
  totalExcess -= std::max<int64_t>(0, during[place] - budget);
  order.erase(order.begin() + place);
  during.erase(during.begin() + place);
  afterwards.erase(afterwards.begin() + place);
  std::vector<int> &all = runs[nodes[execution].operation];
  all.erase(std::find(all.begin(), all.end(), execution));
  totalCost -= operation(execution).cost;
  renumber(place, order.size());
  findLast(heir);
  size_t begin = std::min<size_t>(place, nodes[heir].place);
  for (int source : nodes[execution].sources) {
    findLast(source);
    begin = std::min<size_t>(begin, nodes[source].place);
  }
  unused.push_back(execution);
  count(begin, findEndOf(readers, static_cast<int>(place) - 1));
}

} // namespace reprise::remat
