// Memory, streams and events of a CUDA runtime without a device: device memory is the host's,
// streams run at once (NullRuntime.c).

#include <cuda_runtime_api.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { PageBytes = 1 << 21 };
static const size_t DeviceBytes = (size_t)80 << 30;

static cudaError_t allocate(void **Place, size_t Bytes) {
  return posix_memalign(Place, PageBytes, Bytes ? Bytes : 1) ? cudaErrorMemoryAllocation
                                                             : cudaSuccess;
}
static cudaError_t makeHandle(void **Handle) {
  static uintptr_t Last = 0x1000;
  *Handle = (void *)__atomic_add_fetch(&Last, 1, __ATOMIC_RELAXED);
  return cudaSuccess;
}

static _Thread_local int Current;
cudaError_t cudaGetDeviceCount(int *Count) { return *Count = 2, cudaSuccess; }
cudaError_t cudaGetDevice(int *Device) { return *Device = Current, cudaSuccess; }
cudaError_t cudaSetDevice(int Device) { return Current = Device, cudaSuccess; }

// Functions for memory.
cudaError_t cudaMalloc(void **Place, size_t Bytes) { return allocate(Place, Bytes); }
cudaError_t cudaHostAlloc(void **Place, size_t Bytes, unsigned Flags) {
  return allocate(Place, Bytes);
}
cudaError_t cudaFree(void *Place) { return free(Place), cudaSuccess; }
cudaError_t cudaFreeHost(void *Place) { return free(Place), cudaSuccess; }
cudaError_t cudaMemGetInfo(size_t *Free, size_t *Total) {
  return *Free = *Total = DeviceBytes, cudaSuccess;
}
cudaError_t cudaMemcpy(void *To, const void *From, size_t Bytes, enum cudaMemcpyKind Kind) {
  return memmove(To, From, Bytes), cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void *To, const void *From, size_t Bytes, enum cudaMemcpyKind Kind,
                            cudaStream_t On) {
  return memmove(To, From, Bytes), cudaSuccess;
}
cudaError_t cudaMemset(void *To, int Value, size_t Bytes) {
  return memset(To, Value, Bytes), cudaSuccess;
}
cudaError_t cudaMemsetAsync(void *To, int Value, size_t Bytes, cudaStream_t On) {
  return memset(To, Value, Bytes), cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *Of, const void *Place) {
  memset(Of, 0, sizeof *Of);
  Of->type = cudaMemoryTypeUnregistered;
  return cudaSuccess;
}

// Functions for streams and events.
cudaError_t cudaStreamCreate(cudaStream_t *Made) { return makeHandle((void **)Made); }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *Made, unsigned Flags) {
  return makeHandle((void **)Made);
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *Made, unsigned Flags, int Priority) {
  return makeHandle((void **)Made);
}
cudaError_t cudaEventCreate(cudaEvent_t *Made) { return makeHandle((void **)Made); }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *Made, unsigned Flags) {
  return makeHandle((void **)Made);
}
cudaError_t cudaEventElapsedTime(float *Milliseconds, cudaEvent_t First, cudaEvent_t Last) {
  return *Milliseconds = 1, cudaSuccess;
}
