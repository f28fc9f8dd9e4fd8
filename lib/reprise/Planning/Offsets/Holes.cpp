// reprise: the free space of a packing below a limit, as dummy buffers
#include "Sections.h"

#include <algorithm>
#include <numeric>

using namespace reprise::offsets;

namespace {
/// Goes through the sections. More free bytes open a hole, fewer close one.
class HoleFinder {
public:
  explicit HoleFinder(const Sections &sections) : sections(sections) {}

  std::vector<Buffer> run(int64_t limit) {
    int64_t arena = limit / sections.alignment * sections.alignment, before = 0;
    for (size_t s = 0; s <= sections.members.size(); ++s) {
      int64_t now = 0;
      if (s < sections.members.size())
        now = std::accumulate(sections.loads[s].begin(), sections.loads[s].end(), arena,
                              std::minus<>());
      now = std::max<int64_t>(now, 0);
      if (now > before)
        open.push_back({sections.starts[s], 0, now - before});
      if (now < before)
        close(before - now, s);
      before = now;
    }
    return std::move(holes);
  }

private:
  /// Closes one hole of that many bytes, or two, or the last ones; the rest of a hole stays open.
  void close(int64_t bytes, size_t section) {
    for (size_t i = open.size(); i-- > 0;)
      if (open[i].size == bytes)
        return closeOne(i, bytes, section);
    for (size_t i = open.size(); i-- > 0;)
      for (size_t j = i; j-- > 0;)
        if (open[i].size + open[j].size == bytes) {
          closeOne(i, open[i].size, section);
          return closeOne(j, open[j].size, section);
        }
    while (bytes > 0) {
      int64_t most = std::min(bytes, open.back().size);
      closeOne(open.size() - 1, most, section);
      bytes -= most;
    }
  }

  void closeOne(size_t index, int64_t bytes, size_t section) {
    holes.push_back({open[index].first, sections.starts[section - 1], bytes});
    open[index].size -= bytes;
    if (open[index].size == 0)
      open.erase(open.begin() + index);
  }

  const Sections &sections;
  std::vector<Buffer> open, holes;
};
} // namespace

std::vector<Buffer> reprise::offsets::findHoles(const Sections &sections, int64_t limit) {
  return HoleFinder(sections).run(limit);
}
