// reprise: changes of a schedule, weighed and made
#include "Sequence.h"

namespace reprise::remat {

/// What was between an execution and its new place gets one place less, and its sources live up to
/// there.
int64_t Sequence::weighAhead(int execution, int place) {
  const Run &run = graph.runs[execution];
  int64_t own = bytesBefore(place + 1), across = 0;
  for (int r = 0; r < graph.operation(execution).numResults; ++r) {
    const Item &item = graph.result(execution, r);
    (item.last < 0 ? own : across) += item.bytes;
  }
  steps.clear();
  steps.add(run.place + 1, -across);
  for (size_t k = 0; k < graph.operation(execution).operands.size(); ++k) {
    const Item &item = graph.source(execution, k);
    int end = graph.runs[item.last].place;
    if (end > place)
      continue;
    own += item.bytes;
    steps.add(std::max(end, run.place) + 1, item.bytes);
  }
  return own;
}

/// Its results live from there on, and its sources only as long as others read them.
int64_t Sequence::weighBack(int execution, int place) {
  const Run &run = graph.runs[execution];
  steps.clear();
  int64_t across = 0;
  for (int r = 0; r < graph.operation(execution).numResults; ++r)
    if (const Item &item = graph.result(execution, r); item.last >= 0)
      across += item.bytes;
  steps.add(place, across);
  for (size_t k = 0; k < graph.operation(execution).operands.size(); ++k)
    if (const Item &item = graph.source(execution, k); item.last == execution)
      steps.add(std::max(place, graph.endWithout(item, execution) + 1), -item.bytes);
  return bytesBefore(place) + made[run.operation];
}

int64_t Sequence::weighShift(int execution, int place) {
  int from = graph.runs[execution].place;
  own = from < place ? weighAhead(execution, place) : weighBack(execution, place);
  int begin = from < place ? from + 1 : place, end = from < place ? place + 1 : from;
  return profile.growth(begin, end, steps) + Profile::excessOf(own) -
         Profile::excessOf(profile[from]);
}

void Sequence::shift(int execution, int place) {
  weighShift(execution, place);
  int from = placeOf(execution), begin = std::min(from, place), end = std::max(from, place) + 1;
  bool isAhead = from < place;
  profile.add(begin + isAhead, end - !isAhead, steps);
  profile.move(from, place, own);
  auto at = [&](int i) { return graph.order.begin() + i; };
  std::rotate(at(begin), isAhead ? at(begin + 1) : at(end - 1), at(end));
  graph.renumber(begin, end);
  for (size_t k = 0; k < graph.operation(execution).operands.size(); ++k) {
    Item &item = graph.source(execution, k);
    if (isAhead && graph.runs[item.last].place < place)
      item.last = execution;
    else if (!isAhead && item.last == execution)
      graph.findLast(item);
  }
}

int64_t Sequence::weighReplay(int execution, int place) {
  const Run &run = graph.runs[execution];
  own = bytesBefore(place) + made[run.operation];
  steps.clear();
  for (int value : graph.operation(execution).operands) {
    const Item &item = graph.items[graph.itemBefore(value, place)];
    int end = graph.endOf(item);
    if (end >= place)
      continue;
    own += item.bytes;
    steps.add(end + 1, item.bytes);
  }
  for (int r = 0; r < graph.operation(execution).numResults; ++r) {
    const Item &item = graph.result(execution, r);
    if (graph.endOf(item) < place)
      continue;
    own -= item.bytes;
    steps.add(graph.endBefore(item, place) + 1, -item.bytes);
  }
  return profile.growth(0, place, steps) + Profile::excessOf(own);
}

int Sequence::replay(int execution, int place) {
  weighReplay(execution, place);
  profile.add(0, place, steps);
  profile.insert(place, own);
  int made = make(graph.runs[execution].operation);
  const std::vector<int> &operands = graph.operation(made).operands;
  for (size_t k = 0; k < operands.size(); ++k)
    graph.reads[graph.runs[made].firstRead + k] = graph.itemBefore(operands[k], place);
  graph.order.insert(graph.order.begin() + place, made);
  graph.renumber(place, size());
  graph.link(made);
  for (int r = 0; r < graph.operation(made).numResults; ++r)
    graph.redirect(graph.runs[execution].firstItem + r, graph.runs[made].firstItem + r, place);
  return made;
}

int64_t Sequence::weighMerge(int execution, int heir) {
  const Run &run = graph.runs[execution];
  steps.clear();
  behind.clear();
  for (int r = 0; r < graph.operation(execution).numResults; ++r) {
    const Item &item = graph.result(execution, r);
    if (item.last < 0)
      continue;
    int end = graph.endOf(graph.result(heir, r));
    if (end < run.place) {
      steps.add(end + 1, item.bytes);
    } else if (end > run.place) { // both lived for a while
      behind.add(run.place + 1, -item.bytes);
      behind.add(std::min(end, graph.endOf(item)) + 1, item.bytes);
    }
  }
  for (size_t k = 0; k < graph.operation(execution).operands.size(); ++k)
    if (const Item &item = graph.source(execution, k); item.last == execution)
      steps.add(graph.endWithout(item, execution) + 1, -item.bytes);
  return profile.growth(0, run.place, steps) + profile.growth(run.place + 1, size(), behind) -
         Profile::excessOf(profile[run.place]);
}

void Sequence::merge(int execution, int heir) {
  weighMerge(execution, heir);
  int place = graph.runs[execution].place;
  profile.add(0, place, steps);
  profile.add(place + 1, size(), behind);
  profile.erase(place);
  for (int r = 0; r < graph.operation(execution).numResults; ++r)
    graph.redirect(graph.runs[execution].firstItem + r, graph.runs[heir].firstItem + r, 0);
  graph.unlink(execution);
  graph.order.erase(graph.order.begin() + place);
  graph.renumber(place, size());
  graph.drop(execution);
  totalCost -= graph.operation(execution).cost;
}

} // namespace reprise::remat
