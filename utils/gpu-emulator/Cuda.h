// reprise: the binary interface of the CUDA driver, as far as the emulated driver has it
//
// Names and numbers are facts of that interface. Programs that have NVIDIA's cuda.h do not need
// this file.
#ifndef REPRISE_GPU_EMULATOR_CUDA_H
#define REPRISE_GPU_EMULATOR_CUDA_H

#include <cstddef>
#include <cstdint>

#define REPRISE_CUDA extern "C" __attribute__((visibility("default")))

enum CUresult : int {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_NOT_INITIALIZED = 3,
  CUDA_ERROR_INVALID_DEVICE = 101,
  CUDA_ERROR_INVALID_CONTEXT = 201,
  CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
  CUDA_ERROR_ECC_UNCORRECTABLE = 214,
  CUDA_ERROR_INVALID_PTX = 218,
  CUDA_ERROR_INVALID_HANDLE = 400,
  CUDA_ERROR_NOT_FOUND = 500,
  CUDA_ERROR_NOT_READY = 600,
  CUDA_ERROR_ILLEGAL_ADDRESS = 700,
  CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED = 704,
  CUDA_ERROR_MISALIGNED_ADDRESS = 716,
  CUDA_ERROR_LAUNCH_FAILED = 719,
  CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900,
  CUDA_ERROR_STREAM_CAPTURE_UNMATCHED = 903,
  CUDA_ERROR_STREAM_CAPTURE_UNJOINED = 904,
  CUDA_ERROR_STREAM_CAPTURE_ISOLATION = 905,
};

using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CudaContext *;
using CUmodule = struct CudaModule *;
using CUfunction = struct CudaFunction *;
using CUstream = struct CudaStream *;
using CUevent = struct CudaEvent *;
using CUgraph = struct CudaGraph *;
using CUgraphExec = struct CudaGraphExec *;
using CUgraphNode = struct CudaGraphNode *;
struct CUuuid {
  char bytes[16];
};

constexpr unsigned streamNonBlocking = 1;
constexpr int functionMaxDynamicShared = 8;

#endif
