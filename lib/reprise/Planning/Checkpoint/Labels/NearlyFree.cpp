// reprise: values that cost next to nothing to compute again: inside their consumer's kernel, or in
// one pass just before a contraction, which reads its operand many times
#include "reprise/Planning/Checkpoint/Labels/NearlyFree.h"

#include <algorithm>

using namespace reprise::checkpoint;
using Label = Problem::Label;
using Operation = Problem::Operation;
using Value = Problem::Value;

// A store and a load of a byte take about as long as this many operations of a vector unit on the
// machines that we measured: a gelu (26 per f32) is cheaper than its bytes, two of them are not.
static constexpr int64_t kFlopsPerByte = 12;
// Elementwise operations on values about as large as the target, but for conversions: longer chains
// crowd the registers of the consumer's kernel. A normalization of a sum by statistics that are
// kept, and an activation, are no more.
static constexpr int64_t kLongestChain = 6;
// With what is small, and views, which take no time.
static constexpr size_t kMostOperations = 32;
// Values this much smaller than the target do not count in a chain's length.
static constexpr int64_t kSmaller = 8;
// A leaf that is not saved for its own sake may be saved for this if it is this much smaller: the
// 16-bit result of a contraction in the stead of what f32 arithmetic makes of it.
static constexpr int64_t kSmallerLeaf = 2;

namespace {
class Search {
public:
  explicit Search(const Problem &problem)
      : problem(problem), needed(problem.values.size()), readFromMemory(problem.values.size()),
        free(problem.values.size()) {}

  std::vector<bool> run() {
    findNeeds();
    for (size_t value = 0; value < problem.values.size(); ++value)
      if (isCandidate(value))
        tryChain(value);
    return std::move(free);
  }

private:
  const Operation &definition(int value) const {
    return problem.operations[problem.values[value].operation];
  }
  static bool asksToRecompute(const Value &value) {
    return value.label == Label::PreferRecompute || value.label == Label::MustRecompute;
  }
  /// A kernel converts what it loads, and holds nothing for it.
  bool isConversion(const Operation &op) const {
    return op.operands.size() == 1 && op.operands[0] != kAvailable &&
           problem.values[op.operands[0]].bytes != problem.values[op.firstResult].bytes;
  }
  bool mayReplay(int value) const {
    const Operation &op = definition(value);
    return op.primal && (op.kind == Kind::Elementwise || op.kind == Kind::View) &&
           problem.values[value].label == Label::None && !problem.values[value].outlives;
  }
  /// A view takes no bytes of its own, so there is nothing to gain by making it again.
  bool isCandidate(int value) const {
    return needed[value] > 0 && !readFromMemory[value] && mayReplay(value) &&
           definition(value).kind == Kind::Elementwise;
  }
  /// Saved for at least as late a backward pass, whatever happens to the values after it.
  bool isSavedFor(int value, int level) const {
    return needed[value] >= level && !free[value] && !asksToRecompute(problem.values[value]);
  }

  void findNeeds();
  void tryChain(int value);

  const Problem &problem;
  // The last expansion whose backward pass reads the value, or the replay of one that it reads; 0
  // for none.
  std::vector<int> needed;
  std::vector<bool> readFromMemory; // by one of those readers
  std::vector<bool> free;
};
} // namespace

/// Readers come after what they read, so one sweep from the end sees every need.
void Search::findNeeds() {
  // True per value if a reader in the backward pass needs it in memory; a view hands that on.
  std::vector<bool> viewedInMemory(problem.values.size());
  for (size_t i = problem.operations.size(); i-- > 0;) {
    const Operation &op = problem.operations[i];
    int replayed = 0;
    bool viewed = false;
    for (int r = op.firstResult; r < op.firstResult + op.numResults; ++r) {
      if (asksToRecompute(problem.values[r]))
        replayed = std::max(replayed, needed[r]);
      viewed |= viewedInMemory[r];
    }
    bool isContraction = op.kind == Kind::Contraction;
    bool fromMemory = op.kind == Kind::Other || isContraction || (op.kind == Kind::View && viewed);
    for (int operand : op.operands) {
      if (operand == kAvailable)
        continue;
      if (fromMemory)
        viewedInMemory[operand] = true;
      int back = readsBack(op, definition(operand)) ? getLevel(op.order) : 0;
      int level = std::max(back, replayed);
      if (level == 0)
        continue;
      needed[operand] = std::max(needed[operand], level);
      if (fromMemory && !isContraction)
        readFromMemory[operand] = true;
    }
  }
}

/// Marks the operations from saved values and arguments to `value` if they are few and cheap.
void Search::tryChain(int value) {
  const Value &target = problem.values[value];
  int level = needed[value];
  std::vector<int> chain = {value}, leaves;
  int64_t flops = 0, leafBytes = 0, length = 0;
  for (size_t next = 0; next < chain.size(); ++next) {
    const Operation &op = definition(chain[next]);
    bool isSmall = problem.values[chain[next]].bytes * kSmaller <= target.bytes;
    flops += op.flops;
    length += op.kind == Kind::Elementwise && !isSmall && !isConversion(op);
    if (length > kLongestChain || chain.size() > kMostOperations || op.numResults != 1)
      return;
    for (int operand : op.operands) {
      if (operand == kAvailable || isSavedFor(operand, level) || problem.values[operand].outlives)
        continue;
      // A value that an earlier backward pass needs in memory is not made again for this one.
      bool isDecided = needed[operand] > 0 && !free[operand];
      if (mayReplay(operand) && !isDecided) {
        if (std::find(chain.begin(), chain.end(), operand) == chain.end())
          chain.push_back(operand);
        continue;
      }
      if (asksToRecompute(problem.values[operand]))
        return;
      int root = problem.values[operand].root;
      if (root != kAvailable && std::find(leaves.begin(), leaves.end(), root) == leaves.end()) {
        leaves.push_back(root);
        leafBytes += problem.values[root].bytes;
      }
    }
  }
  if (flops > kFlopsPerByte * target.bytes || leafBytes * kSmallerLeaf > target.bytes)
    return;
  for (int member : chain)
    free[member] = true;
}

std::vector<bool> reprise::checkpoint::findNearlyFree(const Problem &problem) {
  return Search(problem).run();
}
