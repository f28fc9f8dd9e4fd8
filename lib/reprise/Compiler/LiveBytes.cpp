// reprise: how many bytes of the arena are live at each launch
#include "LiveBytes.h"

#include "Html.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using reprise::html::integer;

namespace reprise {

namespace {
/// The length of a union of intervals that come and go: a segment tree over all their ends.
class Cover {
public:
  explicit Cover(std::vector<int64_t> ends) : ends(std::move(ends)) {
    llvm::sort(this->ends);
    this->ends.erase(llvm::unique(this->ends), this->ends.end());
    counts.resize(4 * this->ends.size() + 4);
    lengths.resize(counts.size());
  }
  void add(int64_t from, int64_t to, int change) {
    if (from < to)
      add(1, 0, ends.size() - 1, find(from), find(to), change);
  }
  int64_t length() const { return lengths[1]; }

private:
  size_t find(int64_t end) const { return llvm::lower_bound(ends, end) - ends.begin(); }
  void add(size_t node, size_t begin, size_t end, size_t from, size_t to, int change) {
    if (from >= end || to <= begin)
      return;
    size_t middle = (begin + end) / 2;
    if (from <= begin && end <= to) {
      counts[node] += change;
    } else {
      add(2 * node, begin, middle, from, to, change);
      add(2 * node + 1, middle, end, from, to, change);
    }
    bool isLeaf = end - begin == 1;
    lengths[node] = counts[node] > 0 ? ends[end] - ends[begin]
                    : isLeaf         ? 0
                                     : lengths[2 * node] + lengths[2 * node + 1];
  }

  std::vector<int64_t> ends;
  std::vector<int> counts; ///< of intervals that cover the whole node
  std::vector<int64_t> lengths;
};
} // namespace

std::vector<int64_t> countLiveBytes(const json::Array &buffers) {
  std::vector<std::vector<std::pair<const json::Object *, int>>> changes;
  std::vector<int64_t> ends;
  auto change = [&](size_t launch, const json::Object *buffer, int by) {
    changes.resize(std::max(changes.size(), launch + 1));
    changes[launch].push_back({buffer, by});
  };
  auto endOf = [](const json::Object &buffer) {
    return integer(buffer, "offset") + integer(buffer, "bytes");
  };
  for (const json::Value &value : buffers) {
    const json::Object *buffer = value.getAsObject();
    ends.insert(ends.end(), {integer(*buffer, "offset"), endOf(*buffer)});
    change(integer(*buffer, "first"), buffer, 1);
    change(integer(*buffer, "last") + 1, buffer, -1);
  }
  if (ends.empty())
    return {};
  Cover cover(std::move(ends));
  std::vector<int64_t> live;
  for (const auto &now : changes) {
    for (auto [buffer, by] : now)
      cover.add(integer(*buffer, "offset"), endOf(*buffer), by);
    live.push_back(cover.length());
  }
  live.pop_back(); // behind the last launch nothing lives
  return live;
}

} // namespace reprise
