// reprise: live bytes of the arena at each launch
#include "LiveBytes.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

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
  std::vector<int> counts; ///< number of intervals that cover the whole node
  std::vector<int64_t> lengths;
};
} // namespace

std::vector<int64_t> countLiveBytes(const std::vector<ReportedBuffer> &buffers) {
  if (buffers.empty())
    return {};
  std::vector<std::vector<std::pair<const ReportedBuffer *, int>>> changes;
  std::vector<int64_t> ends;
  auto change = [&](size_t launch, const ReportedBuffer &buffer, int by) {
    changes.resize(std::max(changes.size(), launch + 1));
    changes[launch].push_back({&buffer, by});
  };
  for (const ReportedBuffer &buffer : buffers) {
    ends.insert(ends.end(), {buffer.offset, buffer.offset + buffer.bytes});
    change(buffer.first, buffer, 1);
    change(buffer.last + 1, buffer, -1);
  }
  Cover cover(std::move(ends));
  std::vector<int64_t> live;
  for (const auto &now : changes) {
    for (auto [buffer, by] : now)
      cover.add(buffer->offset, buffer->offset + buffer->bytes, by);
    live.push_back(cover.length());
  }
  live.pop_back(); // no buffer lives behind the last launch
  return live;
}

} // namespace reprise
