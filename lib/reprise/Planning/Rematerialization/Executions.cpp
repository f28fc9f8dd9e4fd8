// reprise: the executions of a schedule, and which of them read whose results
#include "Executions.h"

#include <algorithm>

namespace reprise::remat {

int Executions::endWithout(const Item &item, int reader) const {
  int end = runs[item.run].place;
  for (int other : item.readers)
    if (other != reader)
      end = std::max(end, runs[other].place);
  return end;
}

int Executions::endBefore(const Item &item, int place) const {
  int end = runs[item.run].place;
  for (int reader : item.readers)
    if (runs[reader].place < place)
      end = std::max(end, runs[reader].place);
  return end;
}

int Executions::findLatest(int operation, int before) const {
  int latest = -1;
  for (int run : byOperation[operation])
    if (runs[run].place < before && (latest < 0 || runs[run].place > runs[latest].place))
      latest = run;
  return latest;
}

int Executions::itemBefore(int value, int place) const {
  int source = problem.values[value].operation;
  return runs[findLatest(source, place)].firstItem + value - problem.operations[source].firstResult;
}

int Executions::make(int number) {
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
  byOperation[number].push_back(run);
  return run;
}

void Executions::drop(int execution) {
  int number = runs[execution].operation;
  std::vector<int> &all = byOperation[number];
  all.erase(std::find(all.begin(), all.end(), execution));
  unused[number].push_back(execution);
}

void Executions::findLast(Item &item) const {
  item.last = -1;
  for (int reader : item.readers)
    if (item.last < 0 || runs[reader].place > runs[item.last].place)
      item.last = reader;
}

void Executions::link(int execution) {
  for (size_t k = 0; k < operation(execution).operands.size(); ++k) {
    Item &item = source(execution, k);
    item.readers.push_back(execution);
    if (item.last < 0 || runs[item.last].place < runs[execution].place)
      item.last = execution;
  }
}

void Executions::unlink(int execution) {
  for (size_t k = 0; k < operation(execution).operands.size(); ++k) {
    Item &item = source(execution, k);
    item.readers.erase(std::find(item.readers.begin(), item.readers.end(), execution));
    if (item.last == execution)
      findLast(item);
  }
}

void Executions::redirect(int from, int to, int firstPlace) {
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

void Executions::renumber(int begin, int end) {
  for (int place = begin; place < end; ++place)
    runs[order[place]].place = place;
}

} // namespace reprise::remat
