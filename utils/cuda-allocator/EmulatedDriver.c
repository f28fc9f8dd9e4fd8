// Functions of libcuda that PyTorch looks up and that the emulated driver lacks. All others jump to
// that driver: null_cuda.py writes the jumps, and the path of the driver.

#include <cuda.h>

CUresult cuDevicePrimaryCtxGetState(CUdevice Device, unsigned *Flags, int *Active) {
  return *Flags = 0, *Active = 1, CUDA_SUCCESS;
}
