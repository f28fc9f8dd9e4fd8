// reprise: a schedule under change, which knows its bytes at every place
#include "Sequence.h"

#include <algorithm>

namespace reprise::remat {

Sequence::Sequence(const Problem &given, int64_t budget, const Schedule &start)
    : problem(given), budget(budget), executions(given.operations.size()),
      unused(given.operations.size()) {
  for (const Operation &op : problem.operations) {
    made.push_back(0);
    for (int r = 0; r < op.numResults; ++r)
      made.back() += problem.values[op.firstResult + r].bytes;
  }
  for (const Execution &execution : start) {
    int run = make(execution.operation);
    const Operation &op = operation(run);
    for (size_t k = 0; k < op.operands.size(); ++k) {
      const Run &source = runs[execution.sources[k]];
      int result = op.operands[k] - problem.operations[source.operation].firstResult;
      reads[runs[run].firstRead + k] = source.firstItem + result;
    }
    order.push_back(run);
  }
  renumber(0, size());
  for (int run : order)
    link(run);
  count();
}

/// Bytes of every place, from the start.
void Sequence::count() {
  int64_t live = -budget;
  for (int place = 0; place < size(); ++place) {
    const Run &run = runs[order[place]];
    live += made[run.operation];
    profile.insert(place, live);
    for (int r = 0; r < operation(order[place]).numResults; ++r)
      if (items[run.firstItem + r].last < 0)
        live -= items[run.firstItem + r].bytes;
    for (size_t k = 0; k < operation(order[place]).operands.size(); ++k)
      if (const Item &item = items[reads[run.firstRead + k]]; item.last == order[place])
        live -= item.bytes;
  }
}

/// A new execution that is at no place yet and reads nothing.
int Sequence::make(int number) {
  const Operation &op = problem.operations[number];
  int run = static_cast<int>(runs.size());
  if (!unused[number].empty()) {
    run = unused[number].back();
    unused[number].pop_back();
  } else {
    runs.push_back({number, -1, static_cast<int>(items.size()), static_cast<int>(reads.size())});
    for (int r = 0; r < op.numResults; ++r)
      items.push_back({run, -1, problem.values[op.firstResult + r].bytes, {}});
    reads.resize(reads.size() + op.operands.size());
  }
  executions[number].push_back(run);
  totalCost += op.cost;
  return run;
}

Schedule Sequence::schedule() const {
  Schedule schedule;
  for (int run : order) {
    Execution made{runs[run].operation, {}};
    for (size_t k = 0; k < operation(run).operands.size(); ++k)
      made.sources.push_back(runs[items[reads[runs[run].firstRead + k]].run].place);
    schedule.push_back(std::move(made));
  }
  return schedule;
}

int Sequence::slackAhead(int execution) const {
  int last = size();
  for (int r = 0; r < operation(execution).numResults; ++r)
    for (int reader : items[runs[execution].firstItem + r].readers)
      last = std::min(last, runs[reader].place);
  return last - 1 - runs[execution].place;
}

int Sequence::slackBack(int execution) const {
  int first = -1;
  for (size_t k = 0; k < operation(execution).operands.size(); ++k)
    first = std::max(first, runs[items[reads[runs[execution].firstRead + k]].run].place);
  return runs[execution].place - 1 - first;
}

int Sequence::readerOf(int execution, uint64_t index) const {
  uint64_t count = 0;
  const Item *begin = &items[0] + runs[execution].firstItem;
  const Item *end = begin + operation(execution).numResults;
  for (const Item *item = begin; item != end; ++item)
    count += item->readers.size();
  if (count == 0)
    return -1;
  for (index %= count; index >= begin->readers.size(); ++begin)
    index -= begin->readers.size();
  return begin->readers[index];
}

int Sequence::findLatest(int operation, int before) const {
  int latest = -1;
  for (int run : executions[operation])
    if (runs[run].place < before && (latest < 0 || runs[run].place > runs[latest].place))
      latest = run;
  return latest;
}

int Sequence::heirOf(int execution) const {
  const std::vector<int> &all = executions[runs[execution].operation];
  if (all.size() < 2)
    return -1;
  int before = findLatest(runs[execution].operation, runs[execution].place);
  if (before >= 0 || endOf(execution) > runs[execution].place)
    return before;
  return all[0] == execution ? all[1] : all[0];
}

int Sequence::endOf(int execution) const {
  int end = runs[execution].place;
  for (int r = 0; r < operation(execution).numResults; ++r)
    end = std::max(end, endOf(items[runs[execution].firstItem + r]));
  return end;
}

int Sequence::endWithout(const Item &item, int reader) const {
  int end = runs[item.run].place;
  for (int other : item.readers)
    if (other != reader)
      end = std::max(end, runs[other].place);
  return end;
}

/// The last reader before a place, or the item's own place.
int Sequence::endBefore(const Item &item, int place) const {
  int end = runs[item.run].place;
  for (int reader : item.readers)
    if (runs[reader].place < place)
      end = std::max(end, runs[reader].place);
  return end;
}

void Sequence::findLast(Item &item) {
  item.last = -1;
  for (int reader : item.readers)
    if (item.last < 0 || runs[reader].place > runs[item.last].place)
      item.last = reader;
}

/// What lives from before a place to it, above the budget.
int64_t Sequence::bytesBefore(int place) const {
  return place < size() ? profile[place] - made[runs[order[place]].operation] : -budget;
}

void Sequence::link(int execution) {
  for (size_t k = 0; k < operation(execution).operands.size(); ++k) {
    Item &item = items[reads[runs[execution].firstRead + k]];
    item.readers.push_back(execution);
    if (item.last < 0 || runs[item.last].place < runs[execution].place)
      item.last = execution;
  }
}

void Sequence::unlink(int execution) {
  for (size_t k = 0; k < operation(execution).operands.size(); ++k) {
    Item &item = items[reads[runs[execution].firstRead + k]];
    item.readers.erase(std::find(item.readers.begin(), item.readers.end(), execution));
    if (item.last == execution)
      findLast(item);
  }
}

/// The readers of an item from a place on read another.
void Sequence::redirect(int from, int to, int firstPlace) {
  std::vector<int> &readers = items[from].readers;
  size_t kept = 0;
  for (int reader : readers) {
    if (runs[reader].place < firstPlace) {
      readers[kept++] = reader;
      continue;
    }
    items[to].readers.push_back(reader);
    auto first = reads.begin() + runs[reader].firstRead;
    *std::find(first, first + operation(reader).operands.size(), from) = to;
  }
  readers.resize(kept);
  findLast(items[from]);
  findLast(items[to]);
}

/// What holds a value at a place, if that is behind its operation.
int Sequence::itemBefore(int value, int place) const {
  int source = problem.values[value].operation;
  return runs[findLatest(source, place)].firstItem + value - problem.operations[source].firstResult;
}

void Sequence::renumber(int begin, int end) {
  for (int place = begin; place < end; ++place)
    runs[order[place]].place = place;
}

} // namespace reprise::remat
