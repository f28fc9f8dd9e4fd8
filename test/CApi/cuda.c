/* reprise: the C API: runs on memory, and on a stream, of a GPU that the caller has allocated */
#include "check.h"

#include <dlfcn.h>

typedef int (*call_1)(unsigned);
typedef int (*call_retain)(void **, int);
typedef int (*call_set)(void *);
typedef int (*call_allocate)(uint64_t *, size_t);
typedef int (*call_upload)(uint64_t, const void *, size_t);
typedef int (*call_download)(void *, uint64_t, size_t);
typedef int (*call_stream)(void **, unsigned);
typedef int (*call_copy)(uint64_t, uint64_t, size_t, void *);

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

/* Program y = copy(x) * x, whose first factor a function of the host gives. */
static const char *lent_text =
    "func.func @train(%x: tensor<16xf32> {reprise.name = \"x\", reprise.role = \"input\"})\n"
    "    -> (tensor<16xf32> {reprise.name = \"y\"}) {\n"
    "  %c = reprise.custom_call \"gpu:copy\"(%x) : (tensor<16xf32>) -> tensor<16xf32>\n"
    "  %y = reprise.mul %c, %x : tensor<16xf32>\n"
    "  return %y : tensor<16xf32>\n"
    "}\n";

/* Copies the operand on the stream of the step. */
static int copy_on_gpu(void *stream, const reprise_call *call, char *message, size_t size) {
  call_copy copy = NULL;
  find(&copy, "cuMemcpyDtoDAsync_v2");
  CHECK(call->operands[0].device.device_type == kDLCUDA &&
            call->results[0].device.device_type == kDLCUDA,
        "tensors of a call are on the GPU");
  if (copy && !copy((uint64_t)(uintptr_t)call->results[0].data,
                    (uint64_t)(uintptr_t)call->operands[0].data, 64, *(void **)stream))
    return 0;
  snprintf(message, size, "no copy");
  return 1;
}

static DLTensor gpu_tensor(uint64_t address, int64_t *shape) {
  DLTensor tensor = {
      (void *)(uintptr_t)address, {kDLCUDA, 0}, 1, {kDLFloat, 32, 1}, shape, NULL, 0};
  return tensor;
}

/* Steps in two places, on the stream. */
static void step_lent(reprise_run *run, char *memory, uint64_t bytes, void *stream) {
  static int64_t shape[] = {16};
  float y[16] = {0};
  DLTensor result = gpu_tensor(0, shape);
  call_download download = NULL;
  find(&download, "cuMemcpyDtoH_v2");
  for (int i = 0; i < 2; ++i) {
    char *own = memory + 256 * i;
    CHECK_OK(reprise_run_set_memory(run, own, bytes, stream), "lend memory");
    CHECK_OK(reprise_run_start(run, 1), "start");
    CHECK_OK(reprise_run_step(run), "run a step in lent memory");
    CHECK_OK(reprise_run_result(run, "y", &result), "look at the result");
    CHECK((char *)result.data >= own && (char *)result.data < own + bytes,
          "the result lies in the lent memory");
    CHECK(download && !download(y, (uint64_t)(uintptr_t)result.data, sizeof y) && y[0] == 25 &&
              y[15] == 100,
          "the step has run on the stream");
  }
}

static void run_lent(reprise_run *run, void *stream) {
  static int64_t shape[] = {16};
  float x[16], block[128] = {0};
  for (int i = 0; i < 16; ++i)
    x[i] = (float)(i - 5);
  uint64_t bytes = reprise_run_memory_bytes(run);
  CHECK(bytes >= 64 && bytes <= 256, "the bytes of the memory are known");
  DLTensor tensor = gpu_tensor(allocate(x, sizeof x), shape);
  char *memory = (char *)(uintptr_t)allocate(block, sizeof block);
  CHECK_OK(reprise_run_bind(run, "x", &tensor, NULL), "bind an input");
  CHECK_ERROR(reprise_run_start(run, 1), REPRISE_BAD_USAGE, "call reprise_run_set_memory",
              "a start without memory");
  CHECK_ERROR(reprise_run_set_memory(run, memory, 1, stream), REPRISE_BAD_INPUT,
              "the memory has 1 bytes, the run needs", "too little memory");
  CHECK_ERROR(reprise_run_set_memory(run, memory + 4, bytes, stream), REPRISE_BAD_INPUT,
              "not at a multiple of 64", "memory between the multiples");
  CHECK_ERROR(reprise_run_give(run, "x", &tensor), REPRISE_BAD_INPUT, "bind a tensor",
              "a value for a run that keeps none");
  tensor.device.device_id = 1;
  CHECK_ERROR(reprise_run_bind(run, "x", &tensor, NULL), REPRISE_BAD_INPUT,
              "the tensor is on GPU 1, the run is on GPU 0", "memory of another GPU");
  step_lent(run, memory, bytes, stream);
}

/* Makes a run with another device, which is an error. */
static void refuse_device(const reprise_bundle *bundle, reprise_options *options,
                          const char *device, reprise_error_code code, const char *text) {
  reprise_run *run = NULL;
  CHECK_OK(reprise_options_set(options, "device", device), "ask for another device");
  CHECK_ERROR(reprise_run_create(bundle, options, &run), code, text, device);
}

static void test_lent(const reprise_bundle *initialized) {
  reprise_session *session = NULL;
  reprise_module *module = NULL;
  reprise_run *run = NULL;
  void *stream = NULL;
  call_stream make_stream = NULL;
  find(&make_stream, "cuStreamCreate");
  CHECK(make_stream && !make_stream(&stream, 0), "make a stream");
  CHECK_OK(reprise_register_calls("gpu", copy_on_gpu, &stream), "register a library");
  CHECK_OK(reprise_session_create(&session), "make a session");
  CHECK_OK(reprise_module_parse(session, lent_text, strlen(lent_text), "lent.mlir", &module),
           "parse");
  reprise_bundle *bundle = compile_module(module, "target", "cuda:sm_90", (char *)NULL);
  reprise_options *options = reprise_options_create();
  CHECK_OK(reprise_options_set(options, "device", "cuda:0"), "ask for the first GPU");
  CHECK_ERROR(reprise_run_create(bundle, options, &run), REPRISE_BAD_INPUT,
              "only on a stream of the caller", "a call on a stream of the run");
  CHECK_OK(reprise_options_set(options, "memory", "caller"), "ask for lent memory");
  CHECK_ERROR(reprise_run_create(initialized, options, &run), REPRISE_BAD_INPUT,
              "initializes arguments", "a step that initializes its arguments");
  CHECK_OK(reprise_run_create(bundle, options, &run), "make a run in lent memory");
  if (run)
    run_lent(run, stream);
  reprise_run_destroy(run);
  refuse_device(bundle, options, "cuda:9", REPRISE_BAD_INPUT, "there is no CUDA device 9");
  refuse_device(bundle, options, "cpu", REPRISE_BAD_INPUT,
                "only a GPU runs in memory of the caller");
  refuse_device(bundle, options, "cuda:x", REPRISE_BAD_USAGE,
                "expected device cpu, cuda or cuda:NUMBER, got 'cuda:x'");
  reprise_options_destroy(options);
  reprise_bundle_destroy(bundle);
  reprise_module_destroy(module);
  reprise_session_destroy(session);
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
              "on a GPU the tensor must lie at a multiple of 64 bytes",
              "unaligned memory of the GPU");
  tensor.device.device_type = kDLCPU;
  CHECK_ERROR(reprise_run_bind(run, "weight", &tensor, NULL), REPRISE_BAD_INPUT,
              "the tensor is not on the GPU", "memory of the host");
  CHECK_ERROR(reprise_run_set_memory(run, &tensor, 64, NULL), REPRISE_BAD_INPUT,
              "the run has memory of its own", "memory for a run that has it");
  test_lent(bundle);
  reprise_run_destroy(run);
  reprise_bundle_destroy(bundle);
  reprise_module_destroy(module);
  reprise_options_destroy(options);
  reprise_session_destroy(session);
}
