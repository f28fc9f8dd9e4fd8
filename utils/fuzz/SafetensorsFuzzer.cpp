// reprise: arbitrary bytes read as a .safetensors file
#include "reprise/Runtime/Safetensors.h"

#include <sys/mman.h>
#include <unistd.h>

using namespace reprise::runtime;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const int descriptor = memfd_create("fuzz.safetensors", 0);
  if (ftruncate(descriptor, 0) != 0 || pwrite(descriptor, data, size, 0) < 0)
    __builtin_trap();
  auto file = SafetensorsFile::open("/proc/self/fd/" + std::to_string(descriptor));
  if (!file)
    return 0;
  // Tensors of a file that opens fill its end.
  uint64_t all = 0;
  for (const auto &[name, tensor] : (*file)->tensors())
    all += tensor.end - tensor.begin;
  if (all > size)
    __builtin_trap();
  uint64_t begin = size - all;
  for (const auto &[name, tensor] : (*file)->tensors())
    for (unsigned dtype = 0; dtype < numDTypes; ++dtype) {
      auto array = (*file)->array(name, DType(dtype));
      if (!array)
        continue;
      std::string elements(tensor.end - tensor.begin, 0);
      const char *expected = reinterpret_cast<const char *>(data) + begin + tensor.begin;
      if (!array->read(elements.data(), 0, elements.size()) && DType(dtype) != DType::I1 &&
          elements != std::string(expected, elements.size()))
        __builtin_trap();
    }
  return 0;
}
