// reprise: checks of the threads and chips of kernels
#include "KernelChecks.h"

#include <algorithm>

namespace reprise::runtime {

bool isForGpu(const Image &image) { return image.target.compare(0, 5, "cuda:") == 0; }

template <typename K> static bool areThreads(const K &kernel) {
  return kernel.itemThreads >= 1 && kernel.blockThreads >= 1 && kernel.blockThreads <= 1024 &&
         kernel.blockThreads % kernel.itemThreads == 0;
}

bool hasGeometry(const Kernel &kernel, const Image &image) {
  if (!isForGpu(image))
    return kernel.itemThreads == 0 && kernel.blockThreads == 0;
  return areThreads(kernel) && std::all_of(kernel.chips.begin(), kernel.chips.end(),
                                           [](const ChipKernel &own) { return areThreads(own); });
}

bool hasOrderedChips(const Kernel &kernel, const Image &image) {
  size_t next = 1;
  for (const ChipKernel &own : kernel.chips) {
    while (next < image.features.size() && image.features[next] != own.chip)
      ++next;
    if (!isForGpu(image) || next++ >= image.features.size() || own.name.empty())
      return false;
  }
  return true;
}

} // namespace reprise::runtime
