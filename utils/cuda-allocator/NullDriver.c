// Functions of libcuda and of NVML that PyTorch and Triton call, for a device that computes
// nothing (NullRuntime.c).

#define _GNU_SOURCE
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <string.h>
#include <sys/mman.h>

static void *const Something = (void *)8;

CUresult cuInit(unsigned Flags) { return CUDA_SUCCESS; }
CUresult cuDriverGetVersion(int *Version) { return *Version = CUDA_VERSION, CUDA_SUCCESS; }
CUresult cuDeviceGet(CUdevice *Device, int Place) { return *Device = Place, CUDA_SUCCESS; }
CUresult cuDeviceGetCount(int *Count) { return *Count = 2, CUDA_SUCCESS; }
CUresult cuDeviceGetAttribute(int *Value, CUdevice_attribute Attribute, CUdevice Device) {
  return (CUresult)cudaDeviceGetAttribute(Value, (enum cudaDeviceAttr)Attribute, Device);
}
CUresult cuDevicePrimaryCtxGetState(CUdevice Device, unsigned *Flags, int *Active) {
  return *Flags = 0, *Active = 1, CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext *Context, CUdevice Device) {
  return *Context = Something, CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext *Context) { return *Context = Something, CUDA_SUCCESS; }
CUresult cuCtxGetDevice(CUdevice *Device) { return (CUresult)cudaGetDevice(Device); }
CUresult cuCtxGetLimit(size_t *Value, CUlimit Limit) { return *Value = 1024, CUDA_SUCCESS; }
CUresult cuStreamGetCtx(CUstream Stream, CUcontext *Context) {
  return *Context = Something, CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult Error, const char **Text) {
  return *Text = "an error", CUDA_SUCCESS;
}

// Functions for Triton's kernels.
CUresult cuModuleLoadData(CUmodule *Module, const void *Image) {
  return *Module = Something, CUDA_SUCCESS;
}
CUresult cuModuleGetFunction(CUfunction *Function, CUmodule Module, const char *Name) {
  return *Function = Something, CUDA_SUCCESS;
}
CUresult cuFuncGetAttribute(int *Value, CUfunction_attribute Attribute, CUfunction Function) {
  *Value = Attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 1024
           : Attribute == CU_FUNC_ATTRIBUTE_NUM_REGS            ? 32
                                                                : 0;
  return CUDA_SUCCESS;
}
CUresult cuPointerGetAttribute(void *Value, CUpointer_attribute Attribute, CUdeviceptr Place) {
  if (Attribute == CU_POINTER_ATTRIBUTE_DEVICE_POINTER)
    *(CUdeviceptr *)Value = Place;
  else
    *(int *)Value = 0;
  return CUDA_SUCCESS;
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *Blocks, CUfunction Function, int Threads,
                                                     size_t Shared) {
  return *Blocks = 4, CUDA_SUCCESS;
}

// Functions for expandable segments: an address range is memory at once, so that mapping has
// nothing to do.
CUresult cuMemAddressReserve(CUdeviceptr *Place, size_t Bytes, size_t Alignment, CUdeviceptr Wish,
                             unsigned long long Flags) {
  void *Range =
      mmap(NULL, Bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  *Place = (CUdeviceptr)Range;
  return Range == MAP_FAILED ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}
CUresult cuMemAddressFree(CUdeviceptr Place, size_t Bytes) {
  return munmap((void *)Place, Bytes), CUDA_SUCCESS;
}
CUresult cuMemCreate(CUmemGenericAllocationHandle *Made, size_t Bytes,
                     const CUmemAllocationProp *Kind, unsigned long long Flags) {
  return *Made = 1, CUDA_SUCCESS;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *Id, void **Device) {
  return *Device = Something, 0;
}
