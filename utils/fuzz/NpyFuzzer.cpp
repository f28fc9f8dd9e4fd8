// reprise: arbitrary bytes read as a .npy file; the first byte chooses the element type
#include "reprise/Runtime/Npy.h"

#include <sys/mman.h>
#include <unistd.h>

using namespace reprise::runtime;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  static const int descriptor = memfd_create("fuzz.npy", 0);
  if (ftruncate(descriptor, 0) != 0 || pwrite(descriptor, data + 1, size - 1, 0) < 0)
    __builtin_trap();
  auto dtype = static_cast<DType>(data[0] % numDTypes);
  auto file = openNpy("/proc/self/fd/" + std::to_string(descriptor), dtype);
  if (!file)
    return 0;
  uint64_t bytes = elementBytes(dtype);
  for (int64_t dim : file->shape())
    bytes *= static_cast<uint64_t>(dim);
  // A file that opens has all of its elements.
  if (bytes > size)
    __builtin_trap();
  std::vector<uint8_t> elements(bytes);
  if (!file->read(elements.data(), 0, bytes) && dtype != DType::I1 &&
      std::string(elements.begin(), elements.end()) !=
          std::string(data + size - bytes, data + size))
    __builtin_trap();
  return 0;
}
