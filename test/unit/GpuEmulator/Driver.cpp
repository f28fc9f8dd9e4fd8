// reprise: a driver for each test
#include "Driver.h"

using namespace reprise::emulator;

const char *const reprise::emulator::scaleKernel = R"(.version 7.8
.target sm_90
.address_size 64
.visible .entry scale(.param .u64 x, .param .u32 n, .param .u32 factor)
{ .reg .b32 %r<9>; .reg .b64 %d<4>; .reg .pred %p;
ld.param.u64 %d1, [x]; ld.param.u32 %r1, [n]; ld.param.u32 %r2, [factor];
mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x;
mad.lo.u32 %r6, %r3, %r4, %r5; setp.ge.u32 %p, %r6, %r1; @%p ret;
mul.wide.u32 %d2, %r6, 4; add.u64 %d3, %d1, %d2;
ld.global.u32 %r7, [%d3]; mad.lo.u32 %r8, %r7, %r2, 1; st.global.u32 [%d3], %r8; ret; }
)";

void EmulatedDriver::start(const char *order, const char *devices, const char *memory) {
  setenv("REPRISE_EMULATED_ORDER", order, 1);
  setenv("REPRISE_EMULATED_DEVICES", devices, 1);
  setenv("REPRISE_EMULATED_MEMORY", memory, 1);
  resetDriver();
  ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
  contexts.resize(std::atoi(devices));
  for (size_t i = 0; i < contexts.size(); ++i)
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&contexts[i], i), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSetCurrent(contexts[0]), CUDA_SUCCESS);
  scaleFunction = load(scaleKernel, "scale");
}

void EmulatedDriver::TearDown() {
  resetDriver();
  for (const char *name : {"ORDER", "DEVICES", "MEMORY", "FAULT"})
    unsetenv((std::string("REPRISE_EMULATED_") + name).c_str());
}

CUstream EmulatedDriver::makeStream() {
  CUstream stream = nullptr;
  EXPECT_EQ(cuStreamCreate(&stream, streamNonBlocking), CUDA_SUCCESS);
  return stream;
}

CUevent EmulatedDriver::makeEvent() {
  CUevent event = nullptr;
  EXPECT_EQ(cuEventCreate(&event, 0), CUDA_SUCCESS);
  return event;
}

CUfunction EmulatedDriver::load(const char *ptx, const char *name) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  EXPECT_EQ(cuModuleLoadData(&module, ptx), CUDA_SUCCESS) << repriseEmulatorLastError();
  EXPECT_EQ(cuModuleGetFunction(&function, module, name), CUDA_SUCCESS);
  return function;
}

CUdeviceptr EmulatedDriver::give(const std::vector<uint32_t> &values) {
  CUdeviceptr address = 0;
  EXPECT_EQ(cuMemAlloc_v2(&address, values.size() * 4), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyHtoD_v2(address, values.data(), values.size() * 4), CUDA_SUCCESS);
  return address;
}

std::vector<uint32_t> EmulatedDriver::take(CUdeviceptr address, size_t count) {
  std::vector<uint32_t> values(count);
  EXPECT_EQ(cuMemcpyDtoH_v2(values.data(), address, count * 4), CUDA_SUCCESS);
  return values;
}

CUresult EmulatedDriver::scale(CUdeviceptr address, uint32_t count, uint32_t factor,
                               CUstream stream) {
  void *params[] = {&address, &count, &factor};
  return cuLaunchKernel(scaleFunction, (count + 63) / 64, 1, 1, 64, 1, 1, 0, stream, params,
                        nullptr);
}
