// reprise: the buffers of a launch
#ifndef REPRISE_KERNELS_CUDA_LAUNCH_H
#define REPRISE_KERNELS_CUDA_LAUNCH_H

#include "Device.h"

namespace reprise::cuda {

/// Addresses of a command's buffers, in their order. Each kernel gets one.
struct Launch {
  GLOBAL char *buffers[1]; ///< as many as the command has

  template <typename T> GLOBAL T *buffer(Index i) const { return (GLOBAL T *)buffers[i]; }
};

} // namespace reprise::cuda

#endif // REPRISE_KERNELS_CUDA_LAUNCH_H
