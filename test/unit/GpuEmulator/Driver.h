// reprise: functions of the emulated driver that tests call, and restart of its process
#ifndef REPRISE_TEST_GPU_EMULATOR_DRIVER_H
#define REPRISE_TEST_GPU_EMULATOR_DRIVER_H

#include "gpu-emulator/Driver.h"
#include "gtest/gtest.h"

#include <cstdlib>
#include <string>
#include <vector>

#define REPRISE_DRIVER extern "C"
REPRISE_DRIVER const char *repriseEmulatorLastError();
REPRISE_DRIVER CUresult cuInit(unsigned);
REPRISE_DRIVER CUresult cuDeviceGetCount(int *);
REPRISE_DRIVER CUresult cuDeviceGetAttribute(int *, int, CUdevice);
REPRISE_DRIVER CUresult cuDeviceTotalMem_v2(size_t *, CUdevice);
REPRISE_DRIVER CUresult cuDevicePrimaryCtxRetain(CUcontext *, CUdevice);
REPRISE_DRIVER CUresult cuCtxSetCurrent(CUcontext);
REPRISE_DRIVER CUresult cuCtxSynchronize();
REPRISE_DRIVER CUresult cuCtxEnablePeerAccess(CUcontext, unsigned);
REPRISE_DRIVER CUresult cuModuleLoadData(CUmodule *, const void *);
REPRISE_DRIVER CUresult cuModuleLoadDataEx(CUmodule *, const void *, unsigned, const int *,
                                           void **);
REPRISE_DRIVER CUresult cuModuleUnload(CUmodule);
REPRISE_DRIVER CUresult cuModuleGetFunction(CUfunction *, CUmodule, const char *);
REPRISE_DRIVER CUresult cuModuleGetGlobal_v2(CUdeviceptr *, size_t *, CUmodule, const char *);
REPRISE_DRIVER CUresult cuFuncSetAttribute(CUfunction, int, int);
REPRISE_DRIVER CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,
                                       unsigned, unsigned, CUstream, void **, void **);
REPRISE_DRIVER CUresult cuMemAlloc_v2(CUdeviceptr *, size_t);
REPRISE_DRIVER CUresult cuMemFree_v2(CUdeviceptr);
REPRISE_DRIVER CUresult cuMemGetInfo_v2(size_t *, size_t *);
REPRISE_DRIVER CUresult cuMemHostAlloc(void **, size_t, unsigned);
REPRISE_DRIVER CUresult cuMemFreeHost(void *);
REPRISE_DRIVER CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr, const void *, size_t, CUstream);
REPRISE_DRIVER CUresult cuMemcpyHtoD_v2(CUdeviceptr, const void *, size_t);
REPRISE_DRIVER CUresult cuMemcpyDtoHAsync_v2(void *, CUdeviceptr, size_t, CUstream);
REPRISE_DRIVER CUresult cuMemcpyDtoH_v2(void *, CUdeviceptr, size_t);
REPRISE_DRIVER CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr, CUdeviceptr, size_t, CUstream);
REPRISE_DRIVER CUresult cuMemcpyPeerAsync(CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t,
                                          CUstream);
REPRISE_DRIVER CUresult cuMemsetD32Async(CUdeviceptr, unsigned, size_t, CUstream);
REPRISE_DRIVER CUresult cuStreamCreate(CUstream *, unsigned);
REPRISE_DRIVER CUresult cuStreamDestroy_v2(CUstream);
REPRISE_DRIVER CUresult cuStreamSynchronize(CUstream);
REPRISE_DRIVER CUresult cuStreamWaitEvent(CUstream, CUevent, unsigned);
REPRISE_DRIVER CUresult cuStreamBeginCapture_v2(CUstream, int);
REPRISE_DRIVER CUresult cuStreamEndCapture(CUstream, CUgraph *);
REPRISE_DRIVER CUresult cuEventCreate(CUevent *, unsigned);
REPRISE_DRIVER CUresult cuEventDestroy_v2(CUevent);
REPRISE_DRIVER CUresult cuEventRecord(CUevent, CUstream);
REPRISE_DRIVER CUresult cuEventSynchronize(CUevent);
REPRISE_DRIVER CUresult cuEventElapsedTime(float *, CUevent, CUevent);
REPRISE_DRIVER CUresult cuGraphInstantiateWithFlags(CUgraphExec *, CUgraph, unsigned long long);
REPRISE_DRIVER CUresult cuGraphLaunch(CUgraphExec, CUstream);
REPRISE_DRIVER CUresult cuGraphExecDestroy(CUgraphExec);
REPRISE_DRIVER CUresult cuGraphDestroy(CUgraph);
REPRISE_DRIVER CUresult cuGetErrorName(CUresult, const char **);

namespace reprise::emulator {

/// PTX with a kernel `scale` (address, count, factor): x[i] = x[i] · factor + 1 in u32.
extern const char *const scaleKernel;

/// A driver of its own with devices that have contexts; the first one is current.
class EmulatedDriver : public testing::Test {
protected:
  void start(const char *order = "forwards", const char *devices = "1",
             const char *memory = "67108864");
  void TearDown() override;

  CUstream makeStream();
  CUevent makeEvent();
  CUfunction load(const char *ptx, const char *name);
  CUdeviceptr give(const std::vector<uint32_t> &values);
  std::vector<uint32_t> take(CUdeviceptr address, size_t count);
  CUresult scale(CUdeviceptr address, uint32_t count, uint32_t factor, CUstream stream);

  std::vector<CUcontext> contexts;
  CUfunction scaleFunction = nullptr;
};

#define CUDA_OK(call) ASSERT_EQ(call, CUDA_SUCCESS) << repriseEmulatorLastError()

} // namespace reprise::emulator

#endif
