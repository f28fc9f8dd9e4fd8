/* reprise: the C API: runs on memory of a GPU that the caller has allocated */
#include "check.h"

#include <dlfcn.h>

typedef int (*call_1)(unsigned);
typedef int (*call_retain)(void **, int);
typedef int (*call_set)(void *);
typedef int (*call_allocate)(uint64_t *, size_t);
typedef int (*call_upload)(uint64_t, const void *, size_t);
typedef int (*call_download)(void *, uint64_t, size_t);

static void *driver;

/* ISO C has no cast from an object's address to a function's. */
static void find(void *function, const char *name) {
  void *found = driver ? dlsym(driver, name) : NULL;
  memcpy(function, &found, sizeof found);
}

static uint64_t allocate(const float *content, size_t bytes) {
  call_1 init = NULL;
  call_retain retain = NULL;
  call_set set = NULL;
  call_allocate alloc = NULL;
  call_upload upload = NULL;
  void *context = NULL;
  uint64_t address = 0;
  find(&init, "cuInit");
  find(&retain, "cuDevicePrimaryCtxRetain");
  find(&set, "cuCtxSetCurrent");
  find(&alloc, "cuMemAlloc_v2");
  find(&upload, "cuMemcpyHtoD_v2");
  int good = init && retain && set && alloc && upload && !init(0) && !retain(&context, 0) &&
             !set(context) && !alloc(&address, bytes) && !upload(address, content, bytes);
  return good ? address : 0;
}

void test_cuda(void) {
  static int64_t shape[] = {16, 4};
  float weight[64], next[64];
  reprise_session *session = NULL;
  reprise_run *run = NULL;
  reprise_options *options = reprise_options_create();
  driver = dlopen("libcuda.so.1", RTLD_NOW);
  for (int i = 0; i < 64; ++i)
    weight[i] = 0.25f * (float)(i % 7) - 0.5f;
  uint64_t address = allocate(weight, sizeof weight);
  CHECK(address, "allocate on the GPU");
  CHECK_OK(reprise_session_create(&session), "make a session");
  reprise_module *module = parse_model(session);
  reprise_bundle *bundle = compile_module(module, "target", "cuda:sm_90", (char *)NULL);
  CHECK_OK(reprise_options_set(options, "device", "cuda"), "ask for the GPU");
  CHECK_OK(reprise_run_create(bundle, options, &run), "make a run on the GPU");
  DLTensor tensor = {
      (void *)(uintptr_t)address, {kDLCUDA, 0}, 2, {kDLFloat, 32, 1}, shape, NULL, 0};
  DLTensor result = tensor;
  CHECK_OK(reprise_run_bind(run, "weight", &tensor, NULL), "bind memory of the GPU");
  char hash[32];
  hash_steps(run, 2, hash);
  CHECK_OK(reprise_run_result(run, "weight", &result), "the next weight");
  CHECK(result.data == tensor.data && result.device.device_type == kDLCUDA,
        "it lies in the caller's memory");
  call_download download = NULL;
  find(&download, "cuMemcpyDtoH_v2");
  CHECK(download && !download(next, address, sizeof next) && memcmp(next, weight, sizeof next),
        "steps have updated it");
  tensor.byte_offset = 4;
  CHECK_ERROR(reprise_run_bind(run, "weight", &tensor, NULL), REPRISE_BAD_INPUT,
              "on a GPU the tensor must lie at a multiple of 64 bytes", "unaligned memory of the GPU");
  tensor.device.device_type = kDLCPU;
  CHECK_ERROR(reprise_run_bind(run, "weight", &tensor, NULL), REPRISE_BAD_INPUT,
              "the tensor is not on the GPU", "memory of the host");
  reprise_run_destroy(run);
  reprise_bundle_destroy(bundle);
  reprise_module_destroy(module);
  reprise_options_destroy(options);
  reprise_session_destroy(session);
}
