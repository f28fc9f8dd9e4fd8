// reprise: executes a graph in its order, giving up values and making them again
#include "Sweep.h"

#include <algorithm>
#include <climits>

namespace reprise::remat {

Readers::Readers(const Problem &problem) : first(problem.values.size() + 1) {
  for (const Operation &op : problem.operations)
    for (int value : op.operands)
      ++first[value + 1];
  for (size_t value = 0; value < problem.values.size(); ++value)
    first[value + 1] += first[value];
  operations.resize(first.back());
  std::vector<int> at(first.begin(), first.end() - 1);
  for (size_t i = 0; i < problem.operations.size(); ++i)
    for (int value : problem.operations[i].operands)
      operations[at[value]++] = static_cast<int>(i);
}

Sweep::Sweep(const Problem &problem, const Readers &readers, const std::vector<double> &time,
             const std::vector<bool> &isGiven, int64_t budget, bool keepsOperands)
    : problem(problem), readers(readers), time(time), isGiven(isGiven), budget(budget),
      keepsOperands(keepsOperands), holder(problem.values.size(), -1), locks(problem.values.size()),
      next(readers.first.begin(), readers.first.end() - 1), stamps(problem.values.size()),
      wanted(problem.values.size(), -1), due(problem.values.size()) {}

std::optional<Schedule> Sweep::run() {
  for (; now < static_cast<int>(problem.operations.size()); ++now)
    if (!execute(now))
      return std::nullopt;
  return std::move(schedule);
}

int Sweep::nextReader(int value) {
  int &at = next[value];
  while (at < readers.first[value + 1] && readers.operations[at] < now)
    ++at;
  bool isDone = stack.empty() && at < readers.first[value + 1] && readers.operations[at] == now;
  at += isDone;
  int reader = at < readers.first[value + 1] ? readers.operations[at] : INT_MAX;
  return std::min(reader, wanted[value] > now ? wanted[value] : INT_MAX);
}

/// Runs an operation, and before it what makes operands again that are not there.
bool Sweep::execute(int target) {
  stack.assign(1, {target, 0});
  while (!stack.empty()) {
    Frame &frame = stack.back();
    const Operation &op = problem.operations[frame.operation];
    if (frame.operand == op.operands.size()) {
      int number = frame.operation;
      stack.pop_back();
      if (!emit(number))
        return false;
      continue;
    }
    int value = op.operands[frame.operand++];
    ++locks[value];
    if (holder[value] < 0)
      stack.push_back({problem.values[value].operation, 0});
  }
  return true;
}

bool Sweep::emit(int number) {
  // More replays than this are no plan.
  static constexpr size_t most = 4;
  const Operation &op = problem.operations[number];
  int64_t made = 0;
  for (int r = 0; r < op.numResults; ++r)
    made += problem.values[op.firstResult + r].bytes;
  if (schedule.size() >= most * problem.operations.size() || !makeRoom(made))
    return false;
  int execution = static_cast<int>(schedule.size());
  schedule.push_back({number, {}});
  for (int value : op.operands)
    schedule.back().sources.push_back(holder[value]);
  for (int value = op.firstResult; value < op.firstResult + op.numResults; ++value) {
    if (holder[value] >= 0 || (number != now && locks[value] == 0))
      continue;
    holder[value] = execution;
    live += problem.values[value].bytes;
    if (locks[value] == 0)
      release(value);
  }
  for (int value : op.operands)
    if (--locks[value] == 0)
      release(value);
  return true;
}

/// A value that is no longer held is dropped if it has no later reader; otherwise it may be given
/// up.
void Sweep::release(int value) {
  due[value] = nextReader(value);
  if (due[value] == INT_MAX)
    drop(value);
  else
    offer(value);
}

void Sweep::drop(int value) {
  live -= problem.values[value].bytes;
  holder[value] = -1;
  ++stamps[value];
}

void Sweep::offer(int value) {
  if (problem.values[value].bytes > 0)
    candidates.push({priceOf(value, 0), value, ++stamps[value], true});
}

/// Of the value and what it needs, as far as that is not there; large ones are cut short.
double Sweep::costOf(int value, int &visits) const {
  const Operation &op = problem.operations[problem.values[value].operation];
  double cost = op.cost;
  for (int operand : op.operands)
    if (--visits > 0 && holder[operand] < 0)
      cost += costOf(operand, visits);
  return cost;
}

/// Of what it needs as many are looked at.
double Sweep::priceOf(int value, int visits) const {
  double between = time[std::max(due[value], now)] - time[now], cost = costOf(value, visits);
  if (isGiven[problem.values[value].operation])
    cost *= 1e-9;
  return cost / (static_cast<double>(problem.values[value].bytes) * std::max(between, 1e-9));
}

/// Its operands, as far as they are there, are of use until it is made again.
void Sweep::giveUp(int value) {
  drop(value);
  if (keepsOperands)
    for (int operand : problem.operations[problem.values[value].operation].operands)
      wanted[operand] = std::max(wanted[operand], due[value]);
}

bool Sweep::makeRoom(int64_t bytes) {
  // Prices rise as time passes; how often that is looked at before the lowest known one counts.
  static constexpr int mostRises = 64, mostVisits = 256;
  std::vector<Candidate> locked;
  int rises = 0;
  while (live + bytes > budget && !candidates.empty()) {
    Candidate best = candidates.top();
    candidates.pop();
    if (best.stamp != stamps[best.value] || holder[best.value] < 0)
      continue;
    if (locks[best.value] > 0) {
      locked.push_back(best);
      continue;
    }
    double price = priceOf(best.value, mostVisits);
    bool isBeaten = !candidates.empty() && price > candidates.top().price;
    if (isBeaten && (best.isRough || rises++ < mostRises)) {
      candidates.push({price, best.value, best.stamp, false});
      continue;
    }
    giveUp(best.value);
    rises = 0;
  }
  for (const Candidate &candidate : locked)
    candidates.push(candidate);
  return live + bytes <= budget;
}

} // namespace reprise::remat
