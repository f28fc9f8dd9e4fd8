// reprise: executes a graph in its order, giving up values and making them again
#include "Sweep.h"

#include <algorithm>
#include <climits>
#include <queue>

using namespace reprise::checkpoint;
using Operation = Problem::Operation;

namespace {

/// Readers of each value, in order.
struct Readers {
  explicit Readers(const Problem &problem) : first(problem.values.size() + 1) {
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
  std::vector<int> first; // per value, and one more
  std::vector<int> operations;
};

/// Configuration of one pass from the first operation to the last.
struct Manner {
  std::vector<double> time;  ///< per operation: weight of all operations before it; and the total
  std::vector<bool> isGiven; ///< per operation: its results are given up first
  bool keepsOperands = false;
};

class Sweep {
public:
  Sweep(const Graph &graph, const Readers &readers, const Manner &manner, int64_t budget)
      : problem(graph.problem), seconds(graph.footprint.seconds), readers(readers), manner(manner),
        budget(budget), isThere(problem.values.size()), locks(problem.values.size()),
        next(readers.first.begin(), readers.first.end() - 1), stamps(problem.values.size()),
        wanted(problem.values.size(), -1), due(problem.values.size()) {}
  std::optional<Executions> run();

private:
  struct Candidate {
    double price; // cost of a byte given up for a time
    int value, stamp;
    bool isRough; // the price leaves out what a replay lacks
    bool operator>(const Candidate &other) const {
      return price != other.price ? price > other.price : value > other.value;
    }
  };
  struct Frame {
    int operation;
    size_t operand;
  };

  bool execute(int target);
  bool makeRoom(int64_t bytes);
  bool emit(int number);
  void release(int value);
  void drop(int value);
  void giveUp(int value);
  double priceOf(int value, int visits) const;
  double costOf(int value, int &visits) const;
  int findNextReader(int value);

  const Problem &problem;
  const std::vector<double> &seconds;
  const Readers &readers;
  const Manner &manner;
  int64_t budget, live = 0;
  int now = 0;
  Executions executions;
  std::vector<bool> isThere; // per value
  // Per value: replays to come that read it, its next reader in `readers`, the number of its entry
  // in `candidates`, the time until which a replay of another value may read it, its next reader.
  std::vector<int> locks, next, stamps, wanted, due;
  std::vector<Frame> stack;
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<Candidate>> candidates;
};

} // namespace

std::optional<Executions> Sweep::run() {
  for (; now < static_cast<int>(problem.operations.size()); ++now)
    if (!execute(now))
      return std::nullopt;
  return std::move(executions);
}

/// Returns the operation that reads a value next, also the one that runs now; INT_MAX for none.
int Sweep::findNextReader(int value) {
  int &at = next[value];
  while (at < readers.first[value + 1] && readers.operations[at] < now)
    ++at;
  bool isDone = stack.empty() && at < readers.first[value + 1] && readers.operations[at] == now;
  at += isDone;
  int reader = at < readers.first[value + 1] ? readers.operations[at] : INT_MAX;
  return std::min(reader, wanted[value] > now ? wanted[value] : INT_MAX);
}

/// Runs an operation, and before it the replays that make its missing operands.
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
    if (!isThere[value])
      stack.push_back({problem.values[value].operation, 0});
  }
  return true;
}

bool Sweep::emit(int number) {
  static constexpr size_t kMost = 4; // more replays than this are no plan
  const Operation &op = problem.operations[number];
  int64_t made = 0;
  for (int value = op.firstResult; value < op.firstResult + op.numResults; ++value)
    made += problem.values[value].bytes;
  if (executions.size() >= kMost * problem.operations.size() || !makeRoom(made))
    return false;
  executions.push_back(number);
  for (int value = op.firstResult; value < op.firstResult + op.numResults; ++value) {
    if (isThere[value] || (number != now && locks[value] == 0))
      continue;
    isThere[value] = true;
    live += problem.values[value].bytes;
    if (locks[value] == 0)
      release(value);
  }
  for (int value : op.operands)
    if (--locks[value] == 0)
      release(value);
  return true;
}

/// Drops a value without a later reader. Other values become candidates.
void Sweep::release(int value) {
  due[value] = findNextReader(value);
  if (due[value] == INT_MAX)
    drop(value);
  else if (problem.values[value].bytes > 0)
    candidates.push({priceOf(value, 0), value, ++stamps[value], true});
}

void Sweep::drop(int value) {
  live -= problem.values[value].bytes;
  isThere[value] = false;
  ++stamps[value];
}

/// Returns the cost of a value and of what its replay lacks, up to a number of values.
double Sweep::costOf(int value, int &visits) const {
  int operation = problem.values[value].operation;
  double cost = seconds[operation];
  for (int operand : problem.operations[operation].operands)
    if (--visits > 0 && !isThere[operand])
      cost += costOf(operand, visits);
  return cost;
}

double Sweep::priceOf(int value, int visits) const {
  static constexpr double kLeast = 1e-9; // of a time, and of the price of what is given
  double between = manner.time[std::max(due[value], now)] - manner.time[now];
  double cost = costOf(value, visits);
  if (manner.isGiven[problem.values[value].operation])
    cost *= kLeast;
  return cost / (static_cast<double>(problem.values[value].bytes) * std::max(between, kLeast));
}

void Sweep::giveUp(int value) {
  drop(value);
  if (manner.keepsOperands)
    for (int operand : problem.operations[problem.values[value].operation].operands)
      wanted[operand] = std::max(wanted[operand], due[value]);
}

bool Sweep::makeRoom(int64_t bytes) {
  // Prices rise as time passes. So many rises are looked at before the lowest known price counts.
  static constexpr int kRises = 64, kVisits = 256;
  std::vector<Candidate> locked;
  int rises = 0;
  while (live + bytes > budget && !candidates.empty()) {
    Candidate best = candidates.top();
    candidates.pop();
    if (best.stamp != stamps[best.value] || !isThere[best.value])
      continue;
    if (locks[best.value] > 0) {
      locked.push_back(best);
      continue;
    }
    double price = priceOf(best.value, kVisits);
    bool isBeaten = !candidates.empty() && price > candidates.top().price;
    if (isBeaten && (best.isRough || rises++ < kRises)) {
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

std::vector<Executions> reprise::checkpoint::sweep(const Graph &graph, int64_t budget,
                                                   const std::vector<int> &replays) {
  // Weights of an operation that fits, if one that does not fit weighs 1.
  static constexpr double kWeights[] = {1, 0.01, 0};
  Readers readers(graph.problem);
  std::vector<int64_t> bytes = findBytesInOrder(graph.problem);
  std::vector<Executions> found;
  Manner manner;
  manner.isGiven.resize(bytes.size());
  auto runEach = [&] {
    for (bool keepsOperands : {false, true})
      for (double weight : kWeights) {
        manner.keepsOperands = keepsOperands;
        manner.time.assign(1, 0);
        for (int64_t own : bytes)
          manner.time.push_back(manner.time.back() + (own > budget ? 1 : weight));
        if (auto executions = Sweep(graph, readers, manner, budget).run())
          found.push_back(std::move(*executions));
      }
  };
  runEach();
  for (int operation : replays)
    manner.isGiven[operation] = true;
  if (!replays.empty())
    runEach();
  return found;
}
