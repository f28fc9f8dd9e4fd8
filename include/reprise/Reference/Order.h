// reprise: the canonical orders of reductions and contractions, as loops.
//
// docs/explanation/Bits.md explains the choice of these orders. The code generator implements them
// separately and must give the same bits.
#ifndef REPRISE_REFERENCE_ORDER_H
#define REPRISE_REFERENCE_ORDER_H

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

namespace reprise::reference {

constexpr int64_t laneCount = 32;
constexpr int64_t laneBlock = 4096;
constexpr int64_t orderedBlock = 64;
constexpr int64_t chainBlock = 4096;

/// Combines neighbours (2i, 2i+1) level by level; an odd last part moves up. Without parts, returns
/// the identity.
template <typename T, typename Combine>
T foldTree(std::vector<T> parts, T identity, Combine combine) {
  if (parts.empty())
    return identity;
  while (parts.size() > 1) {
    std::vector<T> level;
    for (size_t i = 0; i + 1 < parts.size(); i += 2)
      level.push_back(combine(parts[i], parts[i + 1]));
    if (parts.size() % 2 == 1)
      level.push_back(parts.back());
    parts = std::move(level);
  }
  return parts.front();
}

/// Reduces in the order of the last dimension: `element(j)` for j in [0, n) goes to lane j mod 32
/// of its block of 4,096, in order; a butterfly folds the lanes; the blocks combine in the tree.
template <typename T, typename Combine, typename Element>
T reduceInLanes(int64_t n, T identity, Combine combine, Element element) {
  std::vector<T> parts;
  for (int64_t begin = 0; begin < n; begin += laneBlock) {
    std::array<T, laneCount> lanes;
    lanes.fill(identity);
    for (int64_t j = begin; j < std::min(n, begin + laneBlock); ++j)
      lanes[j % laneCount] = combine(lanes[j % laneCount], element(j));
    for (int64_t distance = laneCount / 2; distance >= 1; distance /= 2)
      for (int64_t lane = 0; lane < distance; ++lane)
        lanes[lane] = combine(lanes[lane], lanes[lane + distance]);
    parts.push_back(lanes[0]);
  }
  return foldTree(std::move(parts), identity, combine);
}

/// Reduces in the order of all other dimensions: blocks of 64, in order; the blocks combine in the
/// tree.
template <typename T, typename Combine, typename Element>
T reduceInOrder(int64_t n, T identity, Combine combine, Element element) {
  std::vector<T> parts;
  for (int64_t begin = 0; begin < n; begin += orderedBlock) {
    T part = identity;
    for (int64_t j = begin; j < std::min(n, begin + orderedBlock); ++j)
      part = combine(part, element(j));
    parts.push_back(part);
  }
  return foldTree(std::move(parts), identity, combine);
}

template <typename T> T add(T a, T b) { return a + b; }

/// Sums in the order of the last dimension.
template <typename T, typename Element> T sumInLanes(int64_t n, Element element) {
  return reduceInLanes(n, T(0), add<T>, element);
}

/// Computes a contraction of n terms: one chain of fma from +0 per block of 4,096; the blocks
/// combine in the tree. If `isTerm` returns false for a term, the chain skips it; a block without
/// terms is +0.
template <typename T, typename IsTerm, typename Left, typename Right>
T contract(int64_t n, IsTerm isTerm, Left left, Right right) {
  std::vector<T> parts;
  for (int64_t begin = 0; begin < n; begin += chainBlock) {
    T part = 0;
    for (int64_t k = begin; k < std::min(n, begin + chainBlock); ++k)
      if (isTerm(k))
        part = std::fma(left(k), right(k), part);
    parts.push_back(part);
  }
  return foldTree(std::move(parts), T(0), add<T>);
}

template <typename T, typename Left, typename Right> T contract(int64_t n, Left left, Right right) {
  return contract<T>(n, [](int64_t) { return true; }, left, right);
}

} // namespace reprise::reference

#endif
