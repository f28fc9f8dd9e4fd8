// reprise: checks of the threads and chips of kernels
#ifndef REPRISE_LIB_RUNTIME_KERNELCHECKS_H
#define REPRISE_LIB_RUNTIME_KERNELCHECKS_H

#include "reprise/Runtime/Bundle.h"

namespace reprise::runtime {

bool isForGpu(const Image &image);
/// Returns whether the kernel has threads on every chip of a GPU, or none on a CPU.
bool hasGeometry(const Kernel &kernel, const Image &image);
/// Returns whether the chips of the kernel are those of the image, in order, behind the first one,
/// which has the kernel itself. The features of an image for GPUs are its chips.
bool hasOrderedChips(const Kernel &kernel, const Image &image);

} // namespace reprise::runtime

#endif // REPRISE_LIB_RUNTIME_KERNELCHECKS_H
