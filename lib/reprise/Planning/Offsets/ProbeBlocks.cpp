// reprise: what a probe concludes from blocks that it believes in
#include "Probe.h"

#include <algorithm>

using namespace reprise::offsets;

void Probe::chooseBlocks() {
  SplitMix random(static_cast<uint64_t>(turn.number));
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (random.unit() >= turn.blocks)
      continue;
    for (const std::vector<int32_t> *side : {&blocks[i].ends, &blocks[i].begins})
      for (int32_t unit : *side)
        blocksOf[unit].push_back(static_cast<int32_t>(i));
  }
}

/// Where the lowest byte of a block can lie, from what is known of those that end or begin in it.
Probe::Range Probe::findRange(const Block &block, const std::vector<int32_t> &side) const {
  Range range{0, limit - block.bytes};
  int64_t least = kNone;
  for (int32_t unit : side) {
    if (offsets[unit] < 0) {
      least = std::min(least, support[unit]);
      continue;
    }
    least = std::min(least, offsets[unit]);
    range.high = std::min(range.high, offsets[unit]);
    range.low = std::max(range.low, offsets[unit] + bytesOf(unit) - block.bytes);
  }
  range.low = std::max(range.low, least);
  // One alone is the block.
  if (side.size() == 1 && least > range.high)
    range.low = kNone;
  return range;
}

/// Narrows the range by what is placed right before and after the edge; false if nothing is left.
bool Probe::narrow(const Block &block, Range &range) const {
  for (int32_t unit : block.others) {
    if (offsets[unit] < 0 || range.low > range.high)
      continue;
    int64_t top = offsets[unit] + bytesOf(unit);
    if (top > range.high)
      range.high = std::min(range.high, offsets[unit] - block.bytes);
    else if (offsets[unit] < range.low + block.bytes)
      range.low = std::max(range.low, top);
  }
  return range.low <= range.high;
}

/// Raises what is in a block, and what can only lie above it; false if it cannot.
bool Probe::alignBlock(int32_t index, Times &reach) {
  const Block &block = blocks[index];
  Span span{block.edge - 1, block.edge};
  visitsLeft -=
      static_cast<int64_t>(3 * (block.ends.size() + block.begins.size()) + 2 * block.others.size());
  Range range = findRange(block, block.ends), other = findRange(block, block.begins);
  range = {std::max(range.low, other.low), std::min(range.high, other.high)};
  if (!narrow(block, range))
    return refuse(span);
  auto lift = [&](int32_t unit, int64_t low) {
    if (offsets[unit] >= 0 || support[unit] >= low)
      return true;
    reach.add(sections.spans[unit]);
    return raise(unit, low);
  };
  int64_t top = range.high + block.bytes;
  for (const std::vector<int32_t> *side : {&block.ends, &block.begins})
    for (int32_t unit : *side) {
      if (!lift(unit, range.low))
        return false;
      if (offsets[unit] < 0 && support[unit] + bytesOf(unit) > top)
        return refuse(span);
    }
  for (int32_t unit : block.others) {
    bool canLieBelow = support[unit] + bytesOf(unit) <= range.high;
    if (offsets[unit] < 0 && !canLieBelow && !lift(unit, range.low + block.bytes))
      return false;
  }
  return true;
}
