// reprise: pages from the system, and how many there are
#ifndef REPRISE_RUNTIME_MEMORY_H
#define REPRISE_RUNTIME_MEMORY_H

#include "reprise/Runtime/Error.h"

#include <cstdint>

namespace reprise::runtime {

/// Zeroed private pages, page aligned; only those that are touched take memory.
class Pages {
public:
  Pages() = default;
  Pages(Pages &&other) noexcept;
  Pages &operator=(Pages &&other) noexcept;
  ~Pages();

  /// Readable and writable. `what` is for the message.
  static Expected<Pages> allocate(uint64_t bytes, const std::string &what);
  /// Readable and executable, holding a copy of `data`: never writable and executable at once.
  static Expected<Pages> executable(const void *data, uint64_t bytes);

  uint8_t *data() const { return begin; }
  /// At least what was asked for, rounded up to pages.
  uint64_t size() const { return length; }

private:
  uint8_t *begin = nullptr;
  uint64_t length = 0;
};

/// Bytes that this process can still take: the system's MemAvailable or, where smaller, what is
/// left below the limit of a control group it is in (the page cache counts as free). The largest
/// number if the system does not tell. `root` stands for "/" in tests.
uint64_t availableMemory(const std::string &root = "/");

/// The most bytes of memory that this process has held at once (VmHWM), 0 if the system does not
/// tell.
uint64_t peakResidentBytes();

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_MEMORY_H
