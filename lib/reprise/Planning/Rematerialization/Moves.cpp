// reprise: changes of a schedule, weighed and made
#include "Sequence.h"

namespace reprise::remat {

/// What was between an execution and its new place gets one place less, and its sources live up to
/// there.
int64_t Sequence::weighAhead(int execution, int place) {
  const Run &run = runs[execution];
  int64_t own = bytesBefore(place + 1), across = 0;
  for (int r = 0; r < operation(execution).numResults; ++r) {
    const Item &item = items[run.firstItem + r];
    (item.last < 0 ? own : across) += item.bytes;
  }
  steps.clear();
  steps.add(run.place + 1, -across);
  for (size_t k = 0; k < operation(execution).operands.size(); ++k) {
    const Item &item = items[reads[run.firstRead + k]];
    int end = runs[item.last].place;
    if (end > place)
      continue;
    own += item.bytes;
    steps.add(std::max(end, run.place) + 1, item.bytes);
  }
  return own;
}

/// Its results live from there on, and its sources only as long as others read them.
int64_t Sequence::weighBack(int execution, int place) {
  const Run &run = runs[execution];
  steps.clear();
  int64_t across = 0;
  for (int r = 0; r < operation(execution).numResults; ++r)
    if (const Item &item = items[run.firstItem + r]; item.last >= 0)
      across += item.bytes;
  steps.add(place, across);
  for (size_t k = 0; k < operation(execution).operands.size(); ++k)
    if (const Item &item = items[reads[run.firstRead + k]]; item.last == execution)
      steps.add(std::max(place, endWithout(item, execution) + 1), -item.bytes);
  return bytesBefore(place) + made[run.operation];
}

int64_t Sequence::weighShift(int execution, int place) {
  int from = runs[execution].place;
  own = from < place ? weighAhead(execution, place) : weighBack(execution, place);
  int begin = from < place ? from + 1 : place, end = from < place ? place + 1 : from;
  return profile.growth(begin, end, steps) + Profile::excessOf(own) -
         Profile::excessOf(profile[from]);
}

void Sequence::shift(int execution, int place) {
  weighShift(execution, place);
  int from = runs[execution].place, begin = std::min(from, place), end = std::max(from, place) + 1;
  bool isAhead = from < place;
  profile.add(begin + isAhead, end - !isAhead, steps);
  profile.move(from, place, own);
  auto at = [&](int i) { return order.begin() + i; };
  std::rotate(at(begin), isAhead ? at(begin + 1) : at(end - 1), at(end));
  renumber(begin, end);
  for (size_t k = 0; k < operation(execution).operands.size(); ++k) {
    Item &item = items[reads[runs[execution].firstRead + k]];
    if (isAhead && runs[item.last].place < place)
      item.last = execution;
    else if (!isAhead && item.last == execution)
      findLast(item);
  }
}

int64_t Sequence::weighReplay(int execution, int place) {
  const Run &run = runs[execution];
  own = bytesBefore(place) + made[run.operation];
  steps.clear();
  for (int value : operation(execution).operands) {
    const Item &item = items[itemBefore(value, place)];
    int end = endOf(item);
    if (end >= place)
      continue;
    own += item.bytes;
    steps.add(end + 1, item.bytes);
  }
  for (int r = 0; r < operation(execution).numResults; ++r) {
    const Item &item = items[run.firstItem + r];
    if (endOf(item) < place)
      continue;
    own -= item.bytes;
    steps.add(endBefore(item, place) + 1, -item.bytes);
  }
  return profile.growth(0, place, steps) + Profile::excessOf(own);
}

int Sequence::replay(int execution, int place) {
  weighReplay(execution, place);
  profile.add(0, place, steps);
  profile.insert(place, own);
  int made = make(runs[execution].operation);
  const std::vector<int> &operands = operation(made).operands;
  for (size_t k = 0; k < operands.size(); ++k)
    reads[runs[made].firstRead + k] = itemBefore(operands[k], place);
  order.insert(order.begin() + place, made);
  renumber(place, size());
  link(made);
  for (int r = 0; r < operation(made).numResults; ++r)
    redirect(runs[execution].firstItem + r, runs[made].firstItem + r, place);
  return made;
}

int64_t Sequence::weighMerge(int execution, int heir) {
  const Run &run = runs[execution];
  steps.clear();
  behind.clear();
  for (int r = 0; r < operation(execution).numResults; ++r) {
    const Item &item = items[run.firstItem + r];
    if (item.last < 0)
      continue;
    int end = endOf(items[runs[heir].firstItem + r]);
    if (end < run.place) {
      steps.add(end + 1, item.bytes);
    } else if (end > run.place) { // both lived for a while
      behind.add(run.place + 1, -item.bytes);
      behind.add(std::min(end, endOf(item)) + 1, item.bytes);
    }
  }
  for (size_t k = 0; k < operation(execution).operands.size(); ++k)
    if (const Item &item = items[reads[run.firstRead + k]]; item.last == execution)
      steps.add(endWithout(item, execution) + 1, -item.bytes);
  return profile.growth(0, run.place, steps) + profile.growth(run.place + 1, size(), behind) -
         Profile::excessOf(profile[run.place]);
}

void Sequence::merge(int execution, int heir) {
  weighMerge(execution, heir);
  int place = runs[execution].place, number = runs[execution].operation;
  profile.add(0, place, steps);
  profile.add(place + 1, size(), behind);
  profile.erase(place);
  for (int r = 0; r < operation(execution).numResults; ++r)
    redirect(runs[execution].firstItem + r, runs[heir].firstItem + r, 0);
  unlink(execution);
  order.erase(order.begin() + place);
  renumber(place, size());
  std::vector<int> &all = executions[number];
  all.erase(std::find(all.begin(), all.end(), execution));
  unused[number].push_back(execution);
  totalCost -= problem.operations[number].cost;
}

} // namespace reprise::remat
