// reprise: the emulated driver's devices, modules, memory and errors
#include "Driver.h"

#include <cstring>
#include <dlfcn.h>

using namespace reprise::emulator;

namespace {

TEST_F(EmulatedDriver, RunsKernelsAndCopies) {
  for (const char *order : {"forwards", "backwards", "shuffled"}) {
    start(order);
    CUdeviceptr x = give({1, 2, 3, 4, 5});
    CUDA_OK(scale(x, 5, 10, nullptr));
    EXPECT_EQ(take(x, 5), (std::vector<uint32_t>{11, 21, 31, 41, 51}));
  }
}

TEST_F(EmulatedDriver, RefusesAnEnvironmentThatItDoesNotKnow) {
  for (auto [name, value] : {std::pair("ORDER", "sideways"),
                             {"DEVICES", "0"},
                             {"MEMORY", "4GiB"},
                             {"FAULT", "launch"}}) {
    start();
    setenv((std::string("REPRISE_EMULATED_") + name).c_str(), value, 1);
    resetDriver();
    EXPECT_EQ(cuInit(0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_NE(std::string(repriseEmulatorLastError()).find(value), std::string::npos);
  }
}

TEST_F(EmulatedDriver, FailsWherePlanned) {
  auto plan = [&](const char *fault) {
    setenv("REPRISE_EMULATED_FAULT", fault, 1);
    start();
  };
  CUdeviceptr x = 0;
  plan("allocation:2");
  CUDA_OK(cuMemAlloc_v2(&x, 4));
  EXPECT_EQ(cuMemAlloc_v2(&x, 4), CUDA_ERROR_OUT_OF_MEMORY);
  CUDA_OK(cuMemAlloc_v2(&x, 4));
  for (auto [fault, result] : {std::pair("launch:2", CUDA_ERROR_LAUNCH_FAILED),
                               {"device:2", CUDA_ERROR_ECC_UNCORRECTABLE}}) {
    plan(fault);
    x = give({1});
    CUDA_OK(scale(x, 1, 10, nullptr));
    CUDA_OK(cuStreamSynchronize(nullptr));
    CUDA_OK(scale(x, 1, 10, nullptr));
    EXPECT_EQ(cuStreamSynchronize(nullptr), result);
    EXPECT_EQ(cuMemFree_v2(x), result);
  }
}

TEST_F(EmulatedDriver, HasDevicesOfACertainSize) {
  start("forwards", "3", "1048576");
  int count = 0, value = 0;
  size_t available = 0, total = 0;
  CUDA_OK(cuDeviceGetCount(&count));
  EXPECT_EQ(count, 3);
  CUDA_OK(cuDeviceGetAttribute(&value, 75, 2));
  EXPECT_EQ(value, 9);
  EXPECT_EQ(cuDeviceGetAttribute(&value, 75, 3), CUDA_ERROR_INVALID_DEVICE);
  CUdeviceptr first = 0, second = 0;
  CUDA_OK(cuMemAlloc_v2(&first, 1 << 19));
  EXPECT_EQ(cuMemAlloc_v2(&second, (1 << 19) + 1), CUDA_ERROR_OUT_OF_MEMORY);
  CUDA_OK(cuMemGetInfo_v2(&available, &total));
  EXPECT_EQ(available, size_t(1) << 19);
  EXPECT_EQ(total, size_t(1) << 20);
  CUDA_OK(cuMemFree_v2(first));
  CUDA_OK(cuMemAlloc_v2(&second, (1 << 19) + 1));
  EXPECT_EQ(cuMemFree_v2(second + 8), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(EmulatedDriver, RefusesPtxThatItDoesNotKnow) {
  start();
  CUmodule module = nullptr;
  char log[100] = "";
  int options[] = {5, 6};
  void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
  testing::internal::CaptureStderr();
  EXPECT_EQ(cuModuleLoadDataEx(&module,
                               ".version 7.8\n.target sm_90\n.address_size 64\n.entry f()\n{\n"
                               "ex2.approx.f32 %f1, %f2;\nret; }\n",
                               2, options, values),
            CUDA_ERROR_INVALID_PTX);
  std::string expected = "kernel f: line 6: unknown instruction 'ex2.approx.f32'";
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "gpu-emulator: error: " + expected + "\n");
  EXPECT_EQ(repriseEmulatorLastError(), expected);
  EXPECT_EQ(log, expected);
  EXPECT_EQ(cuModuleLoadData(&module, "\x7f"
                                      "ELF..."),
            CUDA_ERROR_NO_BINARY_FOR_GPU);
}

TEST_F(EmulatedDriver, AFaultIsTheResultOfTheNextSynchronization) {
  start();
  CUdeviceptr x = give({1, 2, 3});
  testing::internal::CaptureStderr();
  EXPECT_EQ(scale(x, 4, 10, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("kernel scale: line 10: out-of-bounds access: a read of 4 bytes"),
            std::string::npos)
      << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  // The context is lost.
  EXPECT_EQ(scale(x, 3, 10, nullptr), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  const char *name = nullptr;
  CUDA_OK(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &name));
  EXPECT_STREQ(name, "CUDA_ERROR_ILLEGAL_ADDRESS");
}

TEST_F(EmulatedDriver, ChecksLaunches) {
  start();
  CUdeviceptr x = give({1});
  uint32_t one = 1;
  void *params[] = {&x, &one, &one};
  auto launch = [&](unsigned grid, unsigned block, unsigned shared) {
    return cuLaunchKernel(scaleFunction, grid, 1, 1, block, 1, 1, shared, nullptr, params, nullptr);
  };
  EXPECT_EQ(launch(1, 2048, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(0, 32, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(1, 32, 100 << 10), CUDA_ERROR_INVALID_VALUE);
  CUDA_OK(cuFuncSetAttribute(scaleFunction, functionMaxDynamicShared, 100 << 10));
  EXPECT_EQ(launch(1, 32, 100 << 10), CUDA_SUCCESS);
  CUDA_OK(cuCtxSynchronize());
  EXPECT_EQ(cuFuncSetAttribute(scaleFunction, functionMaxDynamicShared, 1 << 20),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyHtoD_v2(x + 4, params, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamSynchronize(reinterpret_cast<CUstream>(params)), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(EmulatedDriver, KernelsReachPeersWhereTheyMay) {
  for (bool enabled : {false, true}) {
    start("forwards", "2");
    CUDA_OK(cuCtxSetCurrent(contexts[1]));
    CUdeviceptr there = give({7, 8});
    CUDA_OK(cuCtxSetCurrent(contexts[0]));
    CUdeviceptr here = give({0, 0});
    CUDA_OK(cuMemcpyPeerAsync(here, contexts[0], there, contexts[1], 8, nullptr));
    EXPECT_EQ(take(here, 2), (std::vector<uint32_t>{7, 8}));
    if (enabled)
      CUDA_OK(cuCtxEnablePeerAccess(contexts[1], 0));
    CUDA_OK(scale(there, 2, 2, nullptr));
    EXPECT_EQ(cuCtxSynchronize(), enabled ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_ADDRESS);
  }
}

TEST_F(EmulatedDriver, KeepsVariablesOfModules) {
  start();
  CUmodule module = nullptr;
  CUDA_OK(cuModuleLoadData(&module, ".version 7.8\n.target sm_90\n.address_size 64\n"
                                    ".visible .global .align 4 .u32 t[4] = {1, 2, 3};\n"));
  CUdeviceptr address = 0;
  size_t bytes = 0;
  CUDA_OK(cuModuleGetGlobal_v2(&address, &bytes, module, "t"));
  EXPECT_EQ(bytes, 16u);
  EXPECT_EQ(take(address, 4), (std::vector<uint32_t>{1, 2, 3, 0}));
  EXPECT_EQ(cuModuleGetGlobal_v2(&address, &bytes, module, "u"), CUDA_ERROR_NOT_FOUND);
  CUDA_OK(cuModuleUnload(module));
}

TEST(EmulatedLibrary, IsFoundAsLibcuda) {
  void *library = dlopen(REPRISE_EMULATED_CUDA, RTLD_NOW | RTLD_LOCAL);
  ASSERT_TRUE(library) << dlerror();
  for (const char *name : {"cuInit", "cuMemAlloc_v2", "cuLaunchKernel", "cuGraphLaunch",
                           "cuGetProcAddress_v2", "repriseEmulatorLastError"})
    EXPECT_TRUE(dlsym(library, name)) << name;
  using Find = CUresult (*)(const char *, void **, int, uint64_t, int *);
  auto find = reinterpret_cast<Find>(dlsym(library, "cuGetProcAddress_v2"));
  void *found = nullptr;
  EXPECT_EQ(find("cuMemAlloc", &found, 12000, 0, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(found, dlsym(library, "cuMemAlloc_v2"));
  EXPECT_EQ(find("cuNothing", &found, 12000, 0, nullptr), CUDA_ERROR_NOT_FOUND);
  dlclose(library);
}

} // namespace
