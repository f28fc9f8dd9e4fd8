// reprise: conclusions of a probe from assumed blocks
#include "Supports.h"

#include <algorithm>

using namespace reprise::offsets;

std::vector<std::vector<int32_t>> reprise::offsets::chooseBlocks(const std::vector<Block> &blocks,
                                                                 size_t units,
                                                                 const ProbeTurn &turn) {
  std::vector<std::vector<int32_t>> blocksOf(units);
  SplitMix random(static_cast<uint64_t>(turn.number));
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (random.unit() >= turn.blocks)
      continue;
    for (const std::vector<int32_t> *side : {&blocks[i].ends, &blocks[i].begins})
      for (int32_t unit : *side)
        blocksOf[unit].push_back(static_cast<int32_t>(i));
  }
  return blocksOf;
}

namespace {
struct Range {
  int64_t low, high;
};
} // namespace

static int64_t bytesOf(const Supports &now, int32_t unit) {
  return roundUp(now.sections.units[unit].size, now.sections.alignment);
}

/// Returns the possible offsets of the lowest byte of a block, from the units that end or begin in
/// it.
static Range findRange(const Supports &now, const Block &block, const std::vector<int32_t> &side) {
  Range range{0, now.limit - block.bytes};
  int64_t least = Supports::kNone;
  for (int32_t unit : side) {
    if (now.offsets[unit] < 0) {
      least = std::min(least, now.support[unit]);
      continue;
    }
    least = std::min(least, now.offsets[unit]);
    range.high = std::min(range.high, now.offsets[unit]);
    range.low = std::max(range.low, now.offsets[unit] + bytesOf(now, unit) - block.bytes);
  }
  range.low = std::max(range.low, least);
  // A single unit is the whole block.
  if (side.size() == 1 && least > range.high)
    range.low = Supports::kNone;
  return range;
}

/// Narrows the range by the units placed directly before and after the edge; returns false if the
/// range becomes empty.
static bool narrow(const Supports &now, const Block &block, Range &range) {
  for (int32_t unit : block.others) {
    if (now.offsets[unit] < 0 || range.low > range.high)
      continue;
    int64_t top = now.offsets[unit] + bytesOf(now, unit);
    if (top > range.high)
      range.high = std::min(range.high, now.offsets[unit] - block.bytes);
    else if (now.offsets[unit] < range.low + block.bytes)
      range.low = std::max(range.low, top);
  }
  return range.low <= range.high;
}

/// Raises units in a block, and units that can only lie above it; returns false at a dead end.
bool reprise::offsets::alignBlock(Supports &now, int32_t index, Times &reach) {
  const Block &block = now.blocks[index];
  Supports::Span span{block.edge - 1, block.edge};
  now.visitsLeft -=
      static_cast<int64_t>(3 * (block.ends.size() + block.begins.size()) + 2 * block.others.size());
  Range range = findRange(now, block, block.ends), other = findRange(now, block, block.begins);
  range = {std::max(range.low, other.low), std::min(range.high, other.high)};
  if (!narrow(now, block, range))
    return now.refuse(span);
  auto lift = [&](int32_t unit, int64_t low) {
    if (now.offsets[unit] >= 0 || now.support[unit] >= low)
      return true;
    reach.add(now.sections.spans[unit]);
    return now.raise(unit, low);
  };
  int64_t top = range.high + block.bytes;
  for (const std::vector<int32_t> *side : {&block.ends, &block.begins})
    for (int32_t unit : *side) {
      if (!lift(unit, range.low))
        return false;
      if (now.offsets[unit] < 0 && now.support[unit] + bytesOf(now, unit) > top)
        return now.refuse(span);
    }
  for (int32_t unit : block.others) {
    bool canLieBelow = now.support[unit] + bytesOf(now, unit) <= range.high;
    if (now.offsets[unit] < 0 && !canLieBelow && !lift(unit, range.low + block.bytes))
      return false;
  }
  return true;
}
