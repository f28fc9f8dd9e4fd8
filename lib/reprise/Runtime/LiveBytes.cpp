// reprise: how many bytes of the arena are live while a command runs
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

std::vector<uint64_t> reprise::runtime::countLiveBytes(const Bundle &bundle) {
  const std::vector<Command> &commands = bundle.program("step")->commands;
  std::vector<uint64_t> live(commands.size());
  Intervals intervals;
  auto visit = [&](const BufferRef &buffer, void (Intervals::*change)(uint64_t, uint64_t)) {
    if (buffer.space == Space::Arena && buffer.bytes > 0)
      (intervals.*change)(buffer.offset, buffer.offset + buffer.bytes);
  };
  for (const Result &result : bundle.results)
    visit(result.buffer, &Intervals::add);
  // Backwards: what a command writes was not live before it, what it reads was.
  for (size_t i = commands.size(); i-- > 0;) {
    const std::vector<Operand> &operands = commands[i].operands;
    for (const Operand &operand : operands)
      visit(operand.buffer, &Intervals::add);
    live[i] = intervals.bytes();
    for (const Operand &operand : operands)
      if (operand.access == Write)
        visit(operand.buffer, &Intervals::remove);
    for (const Operand &operand : operands)
      if (operand.access != Write)
        visit(operand.buffer, &Intervals::add);
  }
  return live;
}
