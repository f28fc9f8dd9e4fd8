// Memory, streams and events of a CUDA runtime over the emulated driver (utils/gpu-emulator):
// PyTorch and Reprise have one device, on whose memory Reprise's kernels compute real values
// (NullRuntime.c).

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MostDevices = 64 };
static CUcontext Contexts[MostDevices];

static void *find(const char *Name) {
  static void *Driver;
  if (!Driver)
    Driver = dlopen("libcuda.so.1", RTLD_NOW);
  void *Found = Driver ? dlsym(Driver, Name) : NULL;
  if (!Found) {
    fprintf(stderr, "the emulated driver lacks %s: %s\n", Name, dlerror());
    abort();
  }
  return Found;
}
// Calls a function of the driver, whose errors have the runtime's numbers.
#define CALL(Name, Types, Arguments)                                                               \
  ({                                                                                               \
    static CUresult(*Found) Types;                                                                 \
    if (!Found)                                                                                    \
      *(void **)&Found = find(#Name);                                                              \
    (cudaError_t)(Found Arguments);                                                                \
  })

cudaError_t cudaSetDevice(int Device) {
  if (!Contexts[Device]) {
    CALL(cuInit, (unsigned), (0));
    CALL(cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice), (&Contexts[Device], Device));
  }
  return CALL(cuCtxSetCurrent, (CUcontext), (Contexts[Device]));
}
// The current device is that of the thread's context, which others may have changed, as in the
// runtime of NVIDIA.
cudaError_t cudaGetDevice(int *Device) {
  CUcontext Context = NULL;
  CALL(cuInit, (unsigned), (0));
  CALL(cuCtxGetCurrent, (CUcontext *), (&Context));
  return *Device = 0, Context ? CALL(cuCtxGetDevice, (CUdevice *), (Device)) : cudaSuccess;
}
static void enter(void) {
  int Device;
  cudaGetDevice(&Device);
  cudaSetDevice(Device);
}

cudaError_t cudaGetDeviceCount(int *Count) {
  CALL(cuInit, (unsigned), (0));
  return CALL(cuDeviceGetCount, (int *), (Count));
}
cudaError_t cudaDeviceSynchronize(void) { return enter(), CALL(cuCtxSynchronize, (void), ()); }

// Functions for memory.
cudaError_t cudaMalloc(void **Place, size_t Bytes) {
  return enter(), CALL(cuMemAlloc_v2, (CUdeviceptr *, size_t), ((CUdeviceptr *)Place, Bytes));
}
cudaError_t cudaHostAlloc(void **Place, size_t Bytes, unsigned Flags) {
  return enter(), CALL(cuMemHostAlloc, (void **, size_t, unsigned), (Place, Bytes, Flags));
}
cudaError_t cudaFree(void *Place) {
  return enter(), CALL(cuMemFree_v2, (CUdeviceptr), ((CUdeviceptr)Place));
}
cudaError_t cudaFreeHost(void *Place) { return enter(), CALL(cuMemFreeHost, (void *), (Place)); }
cudaError_t cudaMemGetInfo(size_t *Free, size_t *Total) {
  return enter(), CALL(cuMemGetInfo_v2, (size_t *, size_t *), (Free, Total));
}
cudaError_t cudaMemcpyAsync(void *To, const void *From, size_t Bytes, enum cudaMemcpyKind Kind,
                            cudaStream_t On) {
  enter();
  CUdeviceptr Into = (CUdeviceptr)To, Out = (CUdeviceptr)From;
  if (Kind == cudaMemcpyHostToDevice)
    return CALL(cuMemcpyHtoDAsync_v2, (CUdeviceptr, const void *, size_t, CUstream),
                (Into, From, Bytes, On));
  if (Kind == cudaMemcpyDeviceToHost)
    return CALL(cuMemcpyDtoHAsync_v2, (void *, CUdeviceptr, size_t, CUstream),
                (To, Out, Bytes, On));
  if (Kind == cudaMemcpyDeviceToDevice)
    return CALL(cuMemcpyDtoDAsync_v2, (CUdeviceptr, CUdeviceptr, size_t, CUstream),
                (Into, Out, Bytes, On));
  return memmove(To, From, Bytes), cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t Of) {
  return enter(), CALL(cuStreamSynchronize, (CUstream), (Of));
}
cudaError_t cudaMemcpy(void *To, const void *From, size_t Bytes, enum cudaMemcpyKind Kind) {
  cudaError_t Error = cudaMemcpyAsync(To, From, Bytes, Kind, NULL);
  return Error ? Error : cudaStreamSynchronize(NULL);
}
cudaError_t cudaMemsetAsync(void *To, int Value, size_t Bytes, cudaStream_t On) {
  return enter(), CALL(cuMemsetD8Async, (CUdeviceptr, unsigned char, size_t, CUstream),
                       ((CUdeviceptr)To, (unsigned char)Value, Bytes, On));
}
cudaError_t cudaMemset(void *To, int Value, size_t Bytes) {
  return cudaMemsetAsync(To, Value, Bytes, NULL);
}
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *Of, const void *Place) {
  memset(Of, 0, sizeof *Of);
  Of->type = cudaMemoryTypeDevice;
  cudaGetDevice(&Of->device);
  Of->devicePointer = (void *)Place;
  return cudaSuccess;
}

// Functions for streams and events.
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *Made, unsigned Flags) {
  return enter(), CALL(cuStreamCreate, (CUstream *, unsigned), (Made, Flags));
}
cudaError_t cudaStreamCreate(cudaStream_t *Made) { return cudaStreamCreateWithFlags(Made, 0); }
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *Made, unsigned Flags, int Priority) {
  return cudaStreamCreateWithFlags(Made, Flags);
}
cudaError_t cudaStreamDestroy(cudaStream_t Of) {
  return enter(), CALL(cuStreamDestroy_v2, (CUstream), (Of));
}
cudaError_t cudaStreamQuery(cudaStream_t Of) {
  return enter(), CALL(cuStreamQuery, (CUstream), (Of));
}
cudaError_t cudaStreamWaitEvent(cudaStream_t On, cudaEvent_t Event, unsigned Flags) {
  return enter(), CALL(cuStreamWaitEvent, (CUstream, CUevent, unsigned), (On, Event, Flags));
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *Made, unsigned Flags) {
  return enter(), CALL(cuEventCreate, (CUevent *, unsigned), (Made, Flags));
}
cudaError_t cudaEventCreate(cudaEvent_t *Made) { return cudaEventCreateWithFlags(Made, 0); }
cudaError_t cudaEventDestroy(cudaEvent_t Of) {
  return enter(), CALL(cuEventDestroy_v2, (CUevent), (Of));
}
cudaError_t cudaEventRecord(cudaEvent_t Of, cudaStream_t On) {
  return enter(), CALL(cuEventRecord, (CUevent, CUstream), (Of, On));
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t Of, cudaStream_t On, unsigned Flags) {
  return cudaEventRecord(Of, On);
}
cudaError_t cudaEventQuery(cudaEvent_t Of) { return enter(), CALL(cuEventQuery, (CUevent), (Of)); }
cudaError_t cudaEventSynchronize(cudaEvent_t Of) {
  return enter(), CALL(cuEventSynchronize, (CUevent), (Of));
}
cudaError_t cudaEventElapsedTime(float *Milliseconds, cudaEvent_t First, cudaEvent_t Second) {
  return enter(),
         CALL(cuEventElapsedTime, (float *, CUevent, CUevent), (Milliseconds, First, Second));
}
