// reprise: a schedule under change, which knows its bytes at every place
#include "Sequence.h"

#include <algorithm>

namespace reprise::remat {

Sequence::Sequence(const Problem &given, int64_t budget, const Schedule &start)
    : graph(given), budget(budget) {
  for (const Operation &op : given.operations) {
    made.push_back(0);
    for (int r = 0; r < op.numResults; ++r)
      made.back() += given.values[op.firstResult + r].bytes;
  }
  for (const Execution &execution : start) {
    int run = make(execution.operation);
    const Operation &op = graph.operation(run);
    for (size_t k = 0; k < op.operands.size(); ++k) {
      const Run &source = graph.runs[execution.sources[k]];
      int result = op.operands[k] - given.operations[source.operation].firstResult;
      graph.reads[graph.runs[run].firstRead + k] = source.firstItem + result;
    }
    graph.order.push_back(run);
  }
  graph.renumber(0, size());
  for (int run : graph.order)
    graph.link(run);
  count();
}

/// Bytes of every place, from the start.
void Sequence::count() {
  int64_t live = -budget;
  for (int place = 0; place < size(); ++place) {
    int execution = graph.order[place];
    live += made[operationOf(execution)];
    profile.insert(place, live);
    for (int r = 0; r < graph.operation(execution).numResults; ++r)
      if (const Item &item = graph.result(execution, r); item.last < 0)
        live -= item.bytes;
    for (size_t k = 0; k < graph.operation(execution).operands.size(); ++k)
      if (const Item &item = graph.source(execution, k); item.last == execution)
        live -= item.bytes;
  }
}

int Sequence::make(int operation) {
  totalCost += graph.problem.operations[operation].cost;
  return graph.make(operation);
}

Schedule Sequence::schedule() const {
  Schedule schedule;
  for (int run : graph.order) {
    Execution made{graph.runs[run].operation, {}};
    for (size_t k = 0; k < graph.operation(run).operands.size(); ++k)
      made.sources.push_back(graph.runs[graph.source(run, k).run].place);
    schedule.push_back(std::move(made));
  }
  return schedule;
}

int Sequence::slackAhead(int execution) const {
  int last = size();
  for (int r = 0; r < graph.operation(execution).numResults; ++r)
    for (int reader : graph.result(execution, r).readers)
      last = std::min(last, graph.runs[reader].place);
  return last - 1 - graph.runs[execution].place;
}

int Sequence::slackBack(int execution) const {
  int first = -1;
  for (size_t k = 0; k < graph.operation(execution).operands.size(); ++k)
    first = std::max(first, graph.runs[graph.source(execution, k).run].place);
  return graph.runs[execution].place - 1 - first;
}

int Sequence::readerOf(int execution, uint64_t index) const {
  uint64_t count = 0;
  const Item *begin = &graph.items[0] + graph.runs[execution].firstItem;
  const Item *end = begin + graph.operation(execution).numResults;
  for (const Item *item = begin; item != end; ++item)
    count += item->readers.size();
  if (count == 0)
    return -1;
  for (index %= count; index >= begin->readers.size(); ++begin)
    index -= begin->readers.size();
  return begin->readers[index];
}

int Sequence::heirOf(int execution) const {
  const std::vector<int> &all = graph.byOperation[graph.runs[execution].operation];
  if (all.size() < 2)
    return -1;
  int before = graph.findLatest(graph.runs[execution].operation, graph.runs[execution].place);
  if (before >= 0 || endOf(execution) > graph.runs[execution].place)
    return before;
  return all[0] == execution ? all[1] : all[0];
}

int Sequence::endOf(int execution) const {
  int end = graph.runs[execution].place;
  for (int r = 0; r < graph.operation(execution).numResults; ++r)
    end = std::max(end, graph.endOf(graph.result(execution, r)));
  return end;
}

/// What lives from before a place to it, above the budget.
int64_t Sequence::bytesBefore(int place) const {
  return place < size() ? profile[place] - made[graph.runs[graph.order[place]].operation] : -budget;
}

} // namespace reprise::remat
