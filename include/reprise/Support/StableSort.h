// reprise: a sort that keeps the order of equal elements
#ifndef REPRISE_SUPPORT_STABLESORT_H
#define REPRISE_SUPPORT_STABLESORT_H

#include <algorithm>
#include <iterator>
#include <vector>

namespace reprise {

/// Sorts `range`. Equal elements keep their order.
///
/// We do not call std::stable_sort, because the one of libstdc++ 12 calls a deprecated function of
/// its own and each use of it warns.
template <typename Range, typename IsLess> void sortStably(Range &range, IsLess isLess) {
  using Element = typename std::iterator_traits<decltype(std::begin(range))>::value_type;
  std::vector<Element> from(std::make_move_iterator(std::begin(range)),
                            std::make_move_iterator(std::end(range)));
  size_t size = from.size();
  for (size_t width = 1; width < size; width *= 2) {
    std::vector<Element> merged;
    merged.reserve(size);
    for (size_t begin = 0; begin < size; begin += 2 * width) {
      auto at = [&](size_t place) {
        return std::make_move_iterator(from.begin() + std::min(begin + place, size));
      };
      std::merge(at(0), at(width), at(width), at(2 * width), std::back_inserter(merged), isLess);
    }
    from = std::move(merged);
  }
  std::move(from.begin(), from.end(), std::begin(range));
}

} // namespace reprise

#endif // REPRISE_SUPPORT_STABLESORT_H
