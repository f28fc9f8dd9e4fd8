// CUDA runtime and cuBLAS that compute nothing: launches are dropped. Memory, streams and events
// are those of NullMemory.c or of EmulatedMemory.c.
//
// PyTorch's CUDA build runs on it with its own caching allocator, whose figures do not depend on
// the values that kernels write. The library is preloaded; check.py adds a function that returns
// success for each other function that PyTorch calls.

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const size_t DeviceBytes = (size_t)80 << 30;

static cudaError_t makeHandle(void **Handle) {
  static uintptr_t Last = 0x1000;
  *Handle = (void *)__atomic_add_fetch(&Last, 1, __ATOMIC_RELAXED);
  return cudaSuccess;
}

// No stream is ever captured.
cudaError_t cudaStreamIsCapturing(cudaStream_t Of, enum cudaStreamCaptureStatus *Status) {
  return *Status = cudaStreamCaptureStatusNone, cudaSuccess;
}
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t Of, enum cudaStreamCaptureStatus *Status,
                                     unsigned long long *Id, cudaGraph_t *Graph,
                                     const cudaGraphNode_t **Nodes, const cudaGraphEdgeData **Edges,
                                     size_t *Count) {
  return *Status = cudaStreamCaptureStatusNone, cudaSuccess;
}

// Properties of a device, as an H100 reports them.
cudaError_t cudaDriverGetVersion(int *Version) { return *Version = CUDART_VERSION, cudaSuccess; }
cudaError_t cudaRuntimeGetVersion(int *Version) { return *Version = CUDART_VERSION, cudaSuccess; }
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *Of, int Device) {
  memset(Of, 0, sizeof *Of);
  strcpy(Of->name, "null device");
  Of->major = 9;
  Of->multiProcessorCount = 132;
  Of->totalGlobalMem = DeviceBytes;
  Of->warpSize = 32;
  Of->maxThreadsPerBlock = Of->maxThreadsDim[0] = Of->maxThreadsDim[1] = 1024;
  Of->maxThreadsDim[2] = 64;
  Of->maxThreadsPerMultiProcessor = 2048;
  Of->maxBlocksPerMultiProcessor = 32;
  Of->sharedMemPerBlock = 48 << 10;
  Of->sharedMemPerBlockOptin = 227 << 10;
  Of->sharedMemPerMultiprocessor = 228 << 10;
  Of->regsPerBlock = Of->regsPerMultiprocessor = 65536;
  Of->l2CacheSize = 50 << 20;
  Of->maxGridSize[0] = INT32_MAX;
  Of->maxGridSize[1] = Of->maxGridSize[2] = 65535;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int *Value, enum cudaDeviceAttr Attribute, int Device) {
  struct cudaDeviceProp Of;
  cudaGetDeviceProperties(&Of, Device);
  switch (Attribute) {
  case cudaDevAttrMaxThreadsPerBlock:
    return *Value = Of.maxThreadsPerBlock, cudaSuccess;
  case cudaDevAttrMaxThreadsPerMultiProcessor:
    return *Value = Of.maxThreadsPerMultiProcessor, cudaSuccess;
  case cudaDevAttrWarpSize:
    return *Value = Of.warpSize, cudaSuccess;
  case cudaDevAttrMultiProcessorCount:
    return *Value = Of.multiProcessorCount, cudaSuccess;
  case cudaDevAttrComputeCapabilityMajor:
    return *Value = Of.major, cudaSuccess;
  case cudaDevAttrComputeCapabilityMinor:
    return *Value = Of.minor, cudaSuccess;
  case cudaDevAttrMaxSharedMemoryPerBlock:
    return *Value = (int)Of.sharedMemPerBlock, cudaSuccess;
  case cudaDevAttrMaxSharedMemoryPerBlockOptin:
    return *Value = (int)Of.sharedMemPerBlockOptin, cudaSuccess;
  case cudaDevAttrMaxRegistersPerBlock:
    return *Value = Of.regsPerBlock, cudaSuccess;
  case cudaDevAttrMaxGridDimX:
    return *Value = Of.maxGridSize[0], cudaSuccess;
  case cudaDevAttrMaxGridDimY:
    return *Value = Of.maxGridSize[1], cudaSuccess;
  case cudaDevAttrMaxGridDimZ:
    return *Value = Of.maxGridSize[2], cudaSuccess;
  default:
    return *Value = 1, cudaSuccess;
  }
}
cudaError_t cudaDeviceGetStreamPriorityRange(int *Least, int *Greatest) {
  return *Least = 0, *Greatest = -5, cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int *Can, int Device, int Peer) {
  return *Can = 0, cudaSuccess;
}
const char *cudaGetErrorName(cudaError_t Error) { return "error"; }
const char *cudaGetErrorString(cudaError_t Error) { return "an error of the null device"; }

// Functions for kernels. Nothing is launched.
static int Launches;
int repriseNullLaunches(void) { return Launches; }
cudaError_t cudaLaunchKernel(const void *Function, dim3 Grid, dim3 Block, void **Arguments,
                             size_t Shared, cudaStream_t On) {
  return ++Launches, cudaSuccess;
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *Shape, const void *Function,
                                void **Arguments) {
  return ++Launches, cudaSuccess;
}
cudaError_t cudaGetSymbolAddress(void **Place, const void *Symbol) {
  static char Symbols[1 << 20];
  return *Place = Symbols, cudaSuccess;
}
void **__cudaRegisterFatBinary(void *Binary) {
  static void *Module;
  return &Module;
}
unsigned __cudaPushCallConfiguration(dim3 Grid, dim3 Block, size_t Shared, struct CUstream_st *On) {
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3 *Grid, dim3 *Block, size_t *Shared, void *On) {
  Grid->x = Grid->y = Grid->z = Block->x = Block->y = Block->z = 1;
  *Shared = 0;
  *(cudaStream_t *)On = NULL;
  return cudaSuccess;
}
cudaError_t __cudaGetKernel(cudaKernel_t *Kernel, const void *Function) {
  return makeHandle((void **)Kernel);
}
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *Of, const void *Function) {
  memset(Of, 0, sizeof *Of);
  Of->maxThreadsPerBlock = 1024;
  Of->numRegs = 32;
  Of->binaryVersion = Of->ptxVersion = 90;
  Of->maxDynamicSharedSizeBytes = 227 << 10;
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *Blocks,
                                                                   const void *Function,
                                                                   int Threads, size_t Shared,
                                                                   unsigned Flags) {
  return *Blocks = 4, cudaSuccess;
}
cudaError_t cudaGetDriverEntryPointByVersion(const char *Name, void **Place, unsigned Version,
                                             unsigned long long Flags,
                                             enum cudaDriverEntryPointQueryResult *Found) {
  void *Driver = dlopen("libcuda.so.1", RTLD_NOW);
  *Place = Driver ? dlsym(Driver, Name) : NULL;
  if (Found)
    *Found = *Place ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}

// Functions of cuBLAS. The workspaces are PyTorch's, from the caching allocator.
int cublasCreate_v2(void **Made) { return makeHandle(Made); }
int cublasGetMathMode(void *Handle, int *Mode) { return *Mode = 0; }
int cublasGetPointerMode_v2(void *Handle, int *Mode) { return *Mode = 0; }
size_t cublasLtGetVersion(void) { return 130100; }
int cublasLtMatmulDescCreate(void **Made, int Compute, int Scale) { return makeHandle(Made); }
int cublasLtMatrixLayoutCreate(void **Made, int Type, uint64_t Rows, uint64_t Columns,
                               int64_t Stride) {
  return makeHandle(Made);
}
int cublasLtMatmulPreferenceCreate(void **Made) { return makeHandle(Made); }
int cublasLtMatmulAlgoGetHeuristic(void *Handle, void *Product, void *A, void *B, void *C, void *D,
                                   void *Preference, int Most, void *Results, int *Count) {
  enum { ResultBytes = 96 }; // cublasLtMatmulHeuristicResult_t
  memset(Results, 0, ResultBytes);
  return *Count = 1, 0;
}
