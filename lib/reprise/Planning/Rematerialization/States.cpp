// reprise: what remains to be done in a state of a small graph's execution, and what it costs
#include "States.h"

#include <algorithm>
#include <cmath>

namespace reprise::remat {

Remainder::Remainder(const Problem &problem, int64_t budget, Orders orders)
    : sets(problem.operations.size()), readers(problem.values.size()), problem(problem) {
  int count = static_cast<int>(problem.operations.size());
  std::vector<Set> ancestors(count), descendants(count);
  for (int i = 0; i < count; ++i) {
    const Operation &op = problem.operations[i];
    isIntegral &= op.cost == std::floor(op.cost) && op.cost < 1e9;
    for (int r = 0; r < op.numResults; ++r)
      sets[i].results |= bit(op.firstResult + r);
    for (int value : op.operands) {
      int source = problem.values[value].operation;
      sets[i].operands |= bit(value);
      readers[value] |= bit(i);
      ancestors[i] |= ancestors[source] | bit(source);
    }
    if (orders != Orders::Any)
      ancestors[i] = bit(i) - 1;
    forEach(ancestors[i], [&](int before) { descendants[before] |= bit(i); });
  }
  for (int t = 0; t < count; ++t)
    if (Cut cut = cutAt(t, budget, ancestors[t], descendants[t]); cut.excess > 0)
      cuts.push_back(std::move(cut));
}

Remainder::Cut Remainder::cutAt(int t, int64_t budget, Set before, Set behind) const {
  Cut cut{t, bytes(sets[t].operands | sets[t].results) - budget, {}};
  forEach(before, [&](int i) {
    Item item{i, problem.operations[i].cost, 0};
    forEach(sets[i].results & ~sets[t].operands, [&](int value) {
      if ((readers[value] & behind) != 0)
        item.bytes += problem.values[value].bytes;
    });
    cut.excess += item.bytes;
    if (item.bytes > 0)
      cut.items.push_back(item);
  });
  std::sort(cut.items.begin(), cut.items.end(), [](const Item &a, const Item &b) {
    return a.cost * static_cast<double>(b.bytes) < b.cost * static_cast<double>(a.bytes);
  });
  return cut;
}

int64_t Remainder::bytes(Set values) const {
  int64_t sum = 0;
  forEach(values, [&](int value) { sum += problem.values[value].bytes; });
  return sum;
}

Remainder::Least Remainder::least(State state) const {
  Least result;
  Set wanted = 0; // and not there, although their operation has run
  for (int i = static_cast<int>(sets.size()); i-- > 0;) {
    bool runs = !has(state.executed, i);
    if (!runs && (sets[i].results & wanted) != 0) {
      result.replays |= bit(i);
      runs = true;
    }
    if (!runs)
      continue;
    result.cost += problem.operations[i].cost;
    wanted |= sets[i].operands & ~state.resident;
  }
  return result;
}

double Remainder::others(State state, Set replays) const {
  double most = 0;
  for (const Cut &cut : cuts) {
    if (has(state.executed, cut.operation))
      continue;
    int64_t excess = cut.excess;
    for (const Item &item : cut.items)
      if (has(replays, item.operation))
        excess -= item.bytes;
    double cost = 0;
    for (const Item &item : cut.items) {
      if (excess <= 0)
        break;
      if (has(replays, item.operation))
        continue;
      double share = static_cast<double>(excess) / static_cast<double>(item.bytes);
      cost += std::min(1.0, share) * item.cost;
      excess -= item.bytes;
    }
    most = std::max(most, cost);
  }
  return isIntegral ? std::ceil(most - 1e-6) : most;
}

Set Remainder::useful(State state, Set replays, double slack) const {
  Set read = 0;
  for (int i = static_cast<int>(sets.size()); i-- > 0;) {
    bool mayReplay = has(replays, i) || problem.operations[i].cost < slack;
    bool runs = !has(state.executed, i) || (mayReplay && (sets[i].results & read) != 0);
    if (runs)
      read |= sets[i].operands;
  }
  return read;
}

} // namespace reprise::remat
