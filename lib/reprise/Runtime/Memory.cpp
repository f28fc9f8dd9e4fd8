// reprise: pages of memory from the system, and how many are available
#include "reprise/Runtime/Memory.h"
#include "reprise/Runtime/File.h"
#include "reprise/Support/Wording.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using namespace reprise::runtime;

namespace {

constexpr uint64_t hugePage = 2 << 20;
/// MREMAP_DONTUNMAP, which older headers lack: the pages that are moved are zero pages afterwards.
constexpr int keepMapped = 4;

uint64_t roundUp(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

/// Returns the text of a small file; empty if it cannot be read.
std::string textOf(const std::string &path) {
  Expected<std::vector<uint8_t>> bytes = readFile(path);
  return bytes ? std::string(bytes->begin(), bytes->end()) : "";
}

/// Returns the number behind `key` at the start of a line of `text`.
std::optional<uint64_t> numberAfter(const std::string &text, const std::string &key) {
  for (size_t at = 0; at < text.size();) {
    if (text.compare(at, key.size(), key) == 0)
      return std::strtoull(text.c_str() + at + key.size(), nullptr, 10);
    at = text.find('\n', at);
    at = at == std::string::npos ? text.size() : at + 1;
  }
  return std::nullopt;
}

/// Returns the rest below the limit of one control group; none if it sets no limit.
std::optional<uint64_t> leftInGroup(const std::string &folder, const char *limitFile,
                                    const char *usageFile, const char *cacheKey) {
  std::string limit = textOf(folder + limitFile), usage = textOf(folder + usageFile);
  if (limit.empty() || usage.empty() || limit.compare(0, 3, "max") == 0)
    return std::nullopt;
  uint64_t most = std::strtoull(limit.c_str(), nullptr, 10);
  uint64_t used = std::strtoull(usage.c_str(), nullptr, 10);
  uint64_t cache = numberAfter(textOf(folder + "memory.stat"), cacheKey).value_or(0);
  used -= std::min(used, cache);
  return most - std::min(most, used);
}

/// Returns the path behind the first line of /proc/self/cgroup that starts with "N:`controller`:".
std::optional<std::string> groupPath(const std::string &groups, const std::string &controller) {
  for (size_t at = 0; at < groups.size();) {
    size_t end = std::min(groups.find('\n', at), groups.size());
    std::string line = groups.substr(at, end - at);
    size_t first = line.find(':');
    size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second != std::string::npos && line.substr(first + 1, second - first - 1) == controller)
      return line.substr(second + 1);
    at = end + 1;
  }
  return std::nullopt;
}

/// Returns the minimum over the group and all groups around it.
uint64_t leftInGroups(std::string path, const std::string &mount, const char *limitFile,
                      const char *usageFile, const char *cacheKey) {
  uint64_t least = UINT64_MAX;
  for (;;) {
    if (path.empty() || path.back() != '/')
      path += '/';
    if (std::optional<uint64_t> left = leftInGroup(mount + path, limitFile, usageFile, cacheKey))
      least = std::min(least, *left);
    if (path == "/")
      return least;
    path.pop_back();
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
}

} // namespace

Pages::Pages(Pages &&other) noexcept { *this = std::move(other); }

Pages &Pages::operator=(Pages &&other) noexcept {
  std::swap(begin, other.begin);
  std::swap(length, other.length);
  return *this;
}

Pages::~Pages() {
  if (begin)
    munmap(begin, length);
}

static uint64_t pageBytes() {
  return static_cast<uint64_t>(std::max<long>(sysconf(_SC_PAGESIZE), 4096));
}

Expected<Pages> Pages::allocate(uint64_t bytes, const std::string &what) {
  uint64_t unit = pageBytes();
  Pages pages;
  uint64_t length = roundUp(std::max<uint64_t>(bytes, 1), unit);
  void *begin = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (begin == MAP_FAILED)
    return Error::make("cannot allocate " + groupDigits(int64_t(bytes)) + " bytes for " + what +
                       ": " + std::strerror(errno));
  pages.begin = static_cast<uint8_t *>(begin);
  pages.length = length;
  // Fewer TLB misses; a hint, so failure does not matter.
  if (length >= 4 * hugePage)
    madvise(begin, length, MADV_HUGEPAGE);
  return pages;
}

uint64_t Pages::placeInPage(uint64_t offset) { return offset % pageBytes(); }

Expected<Pages> Pages::take(uint64_t offset, uint64_t bytes) {
  uint64_t unit = pageBytes(), place = placeInPage(offset), end = offset + bytes;
  uint64_t first = roundUp(offset, unit), last = std::max(first, end / unit * unit);
  Expected<Pages> taken = allocate(place + bytes, "a result");
  if (!taken)
    return taken;
  uint8_t *to = taken->begin + (first - (offset - place));
  if (first < last && mremap(begin + first, last - first, last - first,
                             MREMAP_MAYMOVE | MREMAP_FIXED | keepMapped, to) == MAP_FAILED)
    return Error::make(std::string("cannot move pages: ") + std::strerror(errno));
  // The ends share their pages with other bytes of this memory.
  std::memcpy(taken->begin + place, begin + offset, std::min(first, end) - offset);
  if (first < end)
    std::memcpy(to + (last - first), begin + last, end - last);
  return taken;
}

Expected<Pages> Pages::executable(const void *data, uint64_t bytes) {
  Expected<Pages> pages = allocate(bytes, "the kernels");
  if (!pages)
    return pages;
  if (bytes != 0)
    std::memcpy(pages->data(), data, bytes);
  if (mprotect(pages->data(), pages->size(), PROT_READ | PROT_EXEC) != 0)
    return Error::make(std::string("cannot make the kernels executable: ") + std::strerror(errno));
  return pages;
}

uint64_t reprise::runtime::availableMemory(const std::string &root) {
  uint64_t available = UINT64_MAX;
  if (auto kilobytes = numberAfter(textOf(root + "proc/meminfo"), "MemAvailable:"))
    available = *kilobytes * 1024;
  std::string groups = textOf(root + "proc/self/cgroup");
  if (auto path = groupPath(groups, ""))
    available = std::min(available, leftInGroups(*path, root + "sys/fs/cgroup", "memory.max",
                                                 "memory.current", "file "));
  if (auto path = groupPath(groups, "memory"))
    available = std::min(available,
                         leftInGroups(*path, root + "sys/fs/cgroup/memory", "memory.limit_in_bytes",
                                      "memory.usage_in_bytes", "total_cache "));
  return available;
}

uint64_t reprise::runtime::peakResidentBytes() {
  return numberAfter(textOf("/proc/self/status"), "VmHWM:").value_or(0) * 1024;
}
