// reprise: live bytes of the arena during each command
#include "reprise/Runtime/LiveBytes.h"

#include <algorithm>
#include <map>

using namespace reprise::runtime;

namespace {
/// Disjoint intervals that do not touch, by their first bytes, and the sum of their lengths.
class Intervals {
public:
  void add(uint64_t begin, uint64_t end) {
    remove(begin, end);
    auto next = ends.lower_bound(begin);
    total += end - begin;
    if (next != ends.end() && next->first == end) {
      end = next->second;
      next = ends.erase(next);
    }
    if (next != ends.begin() && std::prev(next)->second == begin)
      std::prev(next)->second = end;
    else
      ends.emplace(begin, end);
  }
  void remove(uint64_t begin, uint64_t end) {
    auto at = ends.upper_bound(begin);
    if (at != ends.begin())
      --at;
    while (at != ends.end() && at->first < end) {
      auto [first, last] = *at;
      if (last <= begin) {
        ++at;
        continue;
      }
      at = ends.erase(at);
      total -= last - first;
      if (first < begin)
        put(first, begin);
      if (last > end)
        put(end, last);
    }
  }
  uint64_t bytes() const { return total; }

private:
  void put(uint64_t begin, uint64_t end) {
    ends.emplace(begin, end);
    total += end - begin;
  }
  std::map<uint64_t, uint64_t> ends;
  uint64_t total = 0;
};
} // namespace

namespace {
/// Command in one iteration of the repeats around it.
struct Execution {
  const Command *command;
  std::vector<int64_t> iterations;
};

/// Replaces each wait by its awaited command, whose buffer is in use until then.
void extendToWaits(std::vector<Execution> &executions) {
  std::map<uint32_t, Execution> givers;
  for (Execution &execution : executions) {
    CommandKind kind = execution.command->kind;
    if (runsBeside(kind) || kind == CommandKind::Record)
      givers[execution.command->event] = execution;
    else if (kind == CommandKind::Wait)
      execution = givers[execution.command->event];
  }
}
} // namespace

std::vector<uint64_t> reprise::runtime::countLiveBytes(const Bundle &bundle) {
  const Program &step = *bundle.program("step");
  std::vector<Execution> executions;
  forEachExecution(step, [&](uint32_t number, const std::vector<int64_t> &iterations) {
    executions.push_back({&step.commands[number], iterations});
  });
  std::vector<bool> isWait(executions.size());
  for (size_t i = 0; i < executions.size(); ++i)
    isWait[i] = executions[i].command->kind == CommandKind::Wait;
  extendToWaits(executions);
  std::vector<uint64_t> live(executions.size());
  Intervals intervals;
  auto visit = [&](const BufferRef &buffer, uint64_t offset,
                   void (Intervals::*change)(uint64_t, uint64_t)) {
    if (buffer.space == Space::Arena && buffer.bytes > 0)
      (intervals.*change)(offset, offset + buffer.bytes);
  };
  for (const Result &result : bundle.results)
    visit(result.buffer, result.buffer.offset, &Intervals::add);
  // We go backwards: a written range was not live before the command, a read range was.
  for (size_t i = executions.size(); i-- > 0;) {
    const Execution &execution = executions[i];
    auto visitAll = [&](bool isWrite, void (Intervals::*change)(uint64_t, uint64_t)) {
      for (const Operand &operand : execution.command->operands)
        if ((operand.access == Write && !isWait[i]) == isWrite)
          visit(operand.buffer, offsetIn(operand, execution.iterations), change);
    };
    visitAll(true, &Intervals::add);
    visitAll(false, &Intervals::add);
    live[i] = intervals.bytes();
    visitAll(true, &Intervals::remove);
    visitAll(false, &Intervals::add);
  }
  return live;
}
