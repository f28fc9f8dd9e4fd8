// reprise: pages of memory from the system, and how many are available
#ifndef REPRISE_RUNTIME_MEMORY_H
#define REPRISE_RUNTIME_MEMORY_H

#include "reprise/Runtime/Error.h"

#include <cstdint>

namespace reprise::runtime {

/// Zeroed private pages, page aligned. Only touched pages occupy memory.
class Pages {
public:
  Pages() = default;
  Pages(Pages &&other) noexcept;
  Pages &operator=(Pages &&other) noexcept;
  ~Pages();

  /// Allocates readable and writable pages. `what` names the memory in messages.
  static Expected<Pages> allocate(uint64_t bytes, const std::string &what);
  /// Makes readable and executable pages with a copy of `data`. Pages are never writable and
  /// executable at once.
  static Expected<Pages> executable(const void *data, uint64_t bytes);

  /// Moves the bytes [offset, offset + bytes) to pages of their own, in which they begin at
  /// `placeInPage(offset)`. Whole pages change their owner without a copy, and are zero here
  /// afterwards. Fails, without a change, if the system does not move pages.
  Expected<Pages> take(uint64_t offset, uint64_t bytes);
  /// Returns the place of an offset in its page.
  static uint64_t placeInPage(uint64_t offset);

  uint8_t *data() const { return begin; }
  /// Returns the bytes: the requested number, rounded up to pages.
  uint64_t size() const { return length; }

private:
  uint8_t *begin = nullptr;
  uint64_t length = 0;
};

/// Returns the bytes that this process can still allocate: the system's MemAvailable or, if
/// smaller, the rest below the limit of one of its control groups (the page cache counts as free).
/// Returns the largest number if the system does not tell. `root` replaces "/" in tests.
uint64_t availableMemory(const std::string &root = "/");

/// Returns the peak resident bytes of this process (VmHWM); 0 if the system does not tell.
uint64_t peakResidentBytes();

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_MEMORY_H
