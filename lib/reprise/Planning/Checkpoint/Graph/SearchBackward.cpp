// reprise: a schedule of a graph within a budget, found from its end
#include "SearchBackward.h"

#include "reprise/Support/SplitMix.h"

#include <algorithm>
#include <tuple>
#include <unordered_set>

using namespace reprise;
using namespace reprise::checkpoint;
using Operation = Problem::Operation;

namespace {

/// Set of operations.
class Bits {
public:
  explicit Bits(size_t count) : words((count + 63) / 64) {}
  bool has(int i) const { return words[i / 64] >> (i % 64) & 1; }
  void add(int i) { words[i / 64] |= uint64_t{1} << (i % 64); }
  void add(const Bits &other) {
    for (size_t k = 0; k < words.size(); ++k)
      words[k] |= other.words[k];
  }

private:
  std::vector<uint64_t> words;
};

class Search {
public:
  Search(const Problem &problem, int64_t budget, bool byBytes);
  bool run(size_t steps);
  Executions executions() const;

private:
  /// Execution that was taken from the end.
  struct Step {
    int operation;
    std::vector<int> made, read; // values that were needed behind it; that are from then on
    bool isEnd;                  // of operations that nobody reads from
  };
  /// Operations that were not tried yet at a place, the best last, and the steps that lead there.
  struct Frame {
    std::vector<int> operations;
    size_t depth;
  };

  const Operation &operation(int number) const { return problem.operations[number]; }
  bool isDone() const { return needed.empty() && end == ends.size(); }
  void need(int value);
  void release(int value);
  int64_t bytesRead(int number) const;
  int64_t bytesMade(int number, bool ofNeeded) const;
  bool fits(int number) const {
    return live + bytesRead(number) + bytesMade(number, false) <= budget;
  }
  void take(int number);
  void takeBack(size_t depth);
  void takeFree();
  bool isFree(int number) const;
  std::vector<int> findMoves() const;

  const Problem &problem;
  int64_t budget, live = 0;
  bool byBytes;
  std::vector<Bits> ancestors;
  std::vector<int> ends;    // operations that nobody reads from, the last first
  std::vector<Bits> atEnds; // ancestors of all ends from one on
  size_t end = 0;           // the next one
  std::vector<int> needed;  // values
  std::vector<int> places;  // in `needed`, by value; -1: it is not
  std::vector<uint64_t> keys;
  uint64_t hash = 0;
  std::vector<Step> path;
};

} // namespace

Search::Search(const Problem &problem, int64_t budget, bool byBytes)
    : problem(problem), budget(budget), byBytes(byBytes), places(problem.values.size(), -1) {
  size_t count = problem.operations.size();
  SplitMix random(count);
  for (size_t value = 0; value < problem.values.size(); ++value)
    keys.push_back(random.next());
  std::vector<bool> isRead(count);
  for (const Operation &op : problem.operations) {
    Bits all(count);
    for (int value : op.operands) {
      int source = problem.values[value].operation;
      isRead[source] = true;
      all.add(ancestors[source]);
      all.add(source);
    }
    ancestors.push_back(std::move(all));
  }
  for (int i = static_cast<int>(count) - 1; i >= 0; --i)
    if (!isRead[i])
      ends.push_back(i);
  atEnds.assign(ends.size() + 1, Bits(count));
  for (size_t i = ends.size(); i-- > 0;) {
    atEnds[i] = atEnds[i + 1];
    atEnds[i].add(ancestors[ends[i]]);
  }
}

void Search::need(int value) {
  places[value] = static_cast<int>(needed.size());
  needed.push_back(value);
  live += problem.values[value].bytes;
  hash ^= keys[value];
}

void Search::release(int value) {
  int place = places[value];
  needed[place] = needed.back();
  places[needed[place]] = place;
  needed.pop_back();
  places[value] = -1;
  live -= problem.values[value].bytes;
  hash ^= keys[value];
}

/// Returns the bytes of operands that are not needed yet.
int64_t Search::bytesRead(int number) const {
  int64_t bytes = 0;
  for (int value : operation(number).operands)
    bytes += places[value] < 0 ? problem.values[value].bytes : 0;
  return bytes;
}

/// Returns the bytes of results that are needed, or of the others.
int64_t Search::bytesMade(int number, bool ofNeeded) const {
  const Operation &op = operation(number);
  int64_t bytes = 0;
  for (int value = op.firstResult; value < op.firstResult + op.numResults; ++value)
    bytes += (places[value] >= 0) == ofNeeded ? problem.values[value].bytes : 0;
  return bytes;
}

void Search::take(int number) {
  const Operation &op = operation(number);
  Step step{number, {}, {}, end < ends.size() && ends[end] == number};
  for (int value = op.firstResult; value < op.firstResult + op.numResults; ++value)
    if (places[value] >= 0)
      step.made.push_back(value);
  for (int value : op.operands)
    if (places[value] < 0)
      step.read.push_back(value);
  for (int value : step.made)
    release(value);
  for (int value : step.read)
    need(value);
  end += step.isEnd;
  path.push_back(std::move(step));
}

void Search::takeBack(size_t depth) {
  for (; path.size() > depth; path.pop_back()) {
    for (int value : path.back().read)
      release(value);
    for (int value : path.back().made)
      need(value);
    end -= path.back().isEnd;
  }
}

/// Tells whether an operation fits and needs nothing that is not needed anyway.
bool Search::isFree(int number) const {
  const std::vector<int> &operands = operation(number).operands;
  return std::all_of(operands.begin(), operands.end(), [&](int v) { return places[v] >= 0; }) &&
         fits(number);
}

void Search::takeFree() {
  for (size_t i = 0; i < needed.size();) {
    int number = problem.values[needed[i]].operation;
    if (isFree(number)) {
      take(number);
      i = 0;
    } else {
      ++i;
    }
  }
}

std::vector<int> Search::findMoves() const {
  struct Move {
    bool isReplay;
    int64_t weight;
    int operation;
    bool operator<(const Move &other) const {
      return std::tie(isReplay, weight, operation) <
             std::tie(other.isReplay, other.weight, other.operation);
    }
  };
  Bits before = atEnds[end];
  for (int value : needed)
    before.add(ancestors[problem.values[value].operation]);
  std::vector<Move> moves;
  auto offer = [&](int number) {
    int64_t growth = bytesRead(number) - bytesMade(number, true);
    if (fits(number))
      moves.push_back({before.has(number), byBytes ? growth : -number, number});
  };
  for (int value : needed)
    offer(problem.values[value].operation);
  if (end < ends.size())
    offer(ends[end]);
  std::sort(moves.rbegin(), moves.rend());
  std::vector<int> operations;
  for (const Move &move : moves)
    if (operations.empty() || operations.back() != move.operation)
      operations.push_back(move.operation);
  return operations;
}

Executions Search::executions() const {
  Executions executions;
  for (size_t i = path.size(); i-- > 0;)
    executions.push_back(path[i].operation);
  return executions;
}

bool Search::run(size_t steps) {
  static constexpr size_t kMost = 8; // more replays than this are no plan
  std::unordered_set<uint64_t> seen;
  std::vector<Frame> frames;
  auto open = [&](size_t depth) {
    if (path.size() < kMost * problem.operations.size() && seen.insert(hash + end).second)
      frames.push_back({findMoves(), depth});
    else
      takeBack(depth);
  };
  open(0);
  for (size_t step = 0; step < steps && !frames.empty() && !isDone(); ++step) {
    Frame &frame = frames.back();
    if (frame.operations.empty()) {
      takeBack(frame.depth);
      frames.pop_back();
      continue;
    }
    size_t depth = path.size();
    int number = frame.operations.back();
    frame.operations.pop_back();
    take(number);
    takeFree();
    open(depth);
  }
  return isDone();
}

std::optional<Executions> reprise::checkpoint::searchBackward(const Problem &problem,
                                                              int64_t budget, bool byBytes,
                                                              size_t steps) {
  Search search(problem, budget, byBytes);
  if (!search.run(steps))
    return std::nullopt;
  return search.executions();
}
