// reprise: takes back replays that a schedule fits without
#include "Ceiling.h"
#include "Sweep.h"

#include <numeric>

namespace reprise::remat {

namespace {

class Pruner {
public:
  Pruner(const Problem &problem, int64_t budget, Schedule &schedule);
  void run();

private:
  struct Item {
    std::vector<int> readers; // places, in order
  };
  /// Bytes from a place to before another.
  struct Change {
    int begin, end;
    int64_t bytes;
  };

  const Operation &operation(int place) const {
    return problem.operations[schedule[place].operation];
  }
  Item &item(int place, int value) {
    return items[firstItem[place] + value - operation(place).firstResult];
  }
  int endOf(const Item &item, int place) const {
    return item.readers.empty() ? place : item.readers.back();
  }
  std::vector<int64_t> countBytes();
  bool tryMerge(int place);
  void merge(int place, int heir);
  void compact();

  const Problem &problem;
  int64_t budget;
  Schedule &schedule;
  std::vector<int> firstItem, before, behind; // executions of the same operation; -1: none
  std::vector<Item> items;
  std::vector<bool> isGone;
  std::vector<Change> changes;
  std::optional<Ceiling> ceiling;
};

Pruner::Pruner(const Problem &problem, int64_t budget, Schedule &schedule)
    : problem(problem), budget(budget), schedule(schedule), before(schedule.size(), -1),
      behind(schedule.size(), -1), isGone(schedule.size()) {
  std::vector<int> last(problem.operations.size(), -1);
  int count = 0;
  for (size_t i = 0; i < schedule.size(); ++i) {
    firstItem.push_back(count);
    count += operation(static_cast<int>(i)).numResults;
    before[i] = last[schedule[i].operation];
    if (before[i] >= 0)
      behind[before[i]] = static_cast<int>(i);
    last[schedule[i].operation] = static_cast<int>(i);
  }
  items.resize(count);
  for (size_t i = 0; i < schedule.size(); ++i)
    for (size_t k = 0; k < schedule[i].sources.size(); ++k)
      item(schedule[i].sources[k], operation(static_cast<int>(i)).operands[k])
          .readers.push_back(static_cast<int>(i));
  ceiling.emplace(countBytes());
}

std::vector<int64_t> Pruner::countBytes() {
  std::vector<int64_t> bytes(schedule.size() + 1);
  for (int i = 0; i < static_cast<int>(schedule.size()); ++i)
    for (int r = 0; r < operation(i).numResults; ++r) {
      int value = operation(i).firstResult + r;
      bytes[i] += problem.values[value].bytes;
      bytes[endOf(item(i, value), i) + 1] -= problem.values[value].bytes;
    }
  bytes.pop_back();
  std::partial_sum(bytes.begin(), bytes.end(), bytes.begin());
  return bytes;
}

void Pruner::run() {
  std::vector<int> replays;
  for (int i = 0; i < static_cast<int>(schedule.size()); ++i)
    if (before[i] >= 0)
      replays.push_back(i);
  std::sort(replays.begin(), replays.end(), [&](int a, int b) {
    double costA = operation(a).cost, costB = operation(b).cost;
    return costA != costB ? costA > costB : a < b;
  });
  for (int round = 0; round < 4; ++round) {
    size_t kept = 0;
    for (int place : replays)
      if (!isGone[place] && !tryMerge(place))
        replays[kept++] = place;
    if (kept == replays.size())
      break;
    replays.resize(kept);
  }
  compact();
}

bool Pruner::tryMerge(int place) {
  int heir = before[place];
  if (heir < 0)
    return false;
  changes.clear();
  const Operation &op = operation(place);
  int first = place;
  for (size_t k = 0; k < op.operands.size(); ++k) {
    int source = schedule[place].sources[k];
    const std::vector<int> &readers = item(source, op.operands[k]).readers;
    if (readers.back() != place)
      continue;
    int end = readers.size() > 1 ? readers[readers.size() - 2] : source;
    changes.push_back({end + 1, place, -problem.values[op.operands[k]].bytes});
  }
  for (int value = op.firstResult; value < op.firstResult + op.numResults; ++value) {
    if (item(place, value).readers.empty())
      continue;
    int end = endOf(item(heir, value), heir);
    if (end > place)
      return false; // two live at once, which a sweep does not make
    first = std::min(first, end + 1);
    changes.push_back({end + 1, place, problem.values[value].bytes});
  }
  for (const Change &change : changes)
    ceiling->add(change.begin, change.end, change.bytes);
  if (ceiling->mostIn(first, place) <= budget) {
    merge(place, heir);
    return true;
  }
  for (const Change &change : changes)
    ceiling->add(change.begin, change.end, -change.bytes);
  return false;
}

void Pruner::merge(int place, int heir) {
  const Operation &op = operation(place);
  for (int value = op.firstResult; value < op.firstResult + op.numResults; ++value) {
    std::vector<int> &readers = item(place, value).readers;
    for (int reader : readers)
      std::replace(schedule[reader].sources.begin(), schedule[reader].sources.end(), place, heir);
    std::vector<int> &all = item(heir, value).readers;
    all.insert(all.end(), readers.begin(), readers.end());
    readers.clear();
  }
  for (size_t k = 0; k < op.operands.size(); ++k) {
    std::vector<int> &readers = item(schedule[place].sources[k], op.operands[k]).readers;
    readers.erase(std::lower_bound(readers.begin(), readers.end(), place));
  }
  ceiling->add(place, place + 1, -(int64_t{1} << 61)); // nothing runs there any more
  isGone[place] = true;
  if (behind[place] >= 0)
    before[behind[place]] = heir;
  behind[heir] = behind[place];
}

void Pruner::compact() {
  std::vector<int> places;
  int count = 0;
  for (size_t i = 0; i < schedule.size(); ++i) {
    places.push_back(count);
    if (isGone[i])
      continue;
    for (int &source : schedule[i].sources)
      source = places[source];
    if (static_cast<int>(i) != count)
      schedule[count] = std::move(schedule[i]);
    ++count;
  }
  schedule.resize(count);
}

} // namespace

void prune(const Problem &problem, int64_t budget, Schedule &schedule) {
  Pruner(problem, budget, schedule).run();
}

} // namespace reprise::remat
