/* reprise: the C API: a step in two parts */
#include "check.h"

/* Program y = exp(x), which the caller sees at the pause; dx = y * g, dz = x * g. */
static const char *text =
    "func.func @train(%x: tensor<4xf32> {reprise.name = \"x\", reprise.role = \"input\"},\n"
    "    %g: tensor<4xf32> {reprise.name = \"g\", reprise.role = \"input\"},\n"
    "    %o: tensor<4xf32> {reprise.name = \"y\", reprise.role = \"state\"})\n"
    "    -> (tensor<4xf32> {reprise.name = \"y\"}, tensor<4xf32> {reprise.name = \"dx\"},\n"
    "    tensor<4xf32> {reprise.name = \"dz\"}) {\n"
    "  %y = reprise.exp %x : tensor<4xf32>\n"
    "  %late = reprise.pause (%y) then (%g) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>\n"
    "  %dx = reprise.mul %y, %late : tensor<4xf32>\n"
    "  %dz = reprise.mul %x, %late : tensor<4xf32>\n"
    "  return %y, %dx, %dz : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>\n"
    "}\n";

static int64_t shape[] = {4};

static DLTensor tensor_of(float *data) {
  DLTensor tensor;
  memset(&tensor, 0, sizeof tensor);
  tensor.data = data;
  tensor.device.device_type = kDLCPU;
  tensor.ndim = 1;
  tensor.dtype.code = kDLFloat;
  tensor.dtype.bits = 32;
  tensor.dtype.lanes = 1;
  tensor.shape = shape;
  return tensor;
}

/* Runs with arguments at multiples of 64 bytes, or with copied ones. The memory of x moves at the
 * pause. */
static void run_parts(const reprise_bundle *bundle, float *memory, int distance) {
  float *x = memory + distance, *y = memory + 64 + distance, *g = memory + 128 + distance;
  float *moved = memory + 192 + distance;
  DLTensor x_tensor = tensor_of(x), y_tensor = tensor_of(y), g_tensor = tensor_of(g), result;
  DLTensor moved_tensor = tensor_of(moved);
  reprise_run *run = NULL;
  int copied = -1;
  CHECK_OK(reprise_run_create(bundle, NULL, &run), "make a run");
  for (int i = 0; i < 4; ++i)
    x[i] = 0, y[i] = 5;
  CHECK_OK(reprise_run_bind(run, "x", &x_tensor, NULL), "bind an input");
  CHECK_OK(reprise_run_bind(run, "y", &y_tensor, &copied), "bind an output");
  CHECK(copied == (distance != 0), "whether it is copied is told");
  CHECK_OK(reprise_run_start(run, 1), "start without the late input");
  CHECK_ERROR(reprise_run_end_step(run), REPRISE_BAD_INPUT, "no step waits at its pause",
              "to go on before the pause");
  CHECK_ERROR(reprise_run_step(run), REPRISE_BAD_INPUT, "input 'g' has no initializer",
              "a step without the late input");
  CHECK_OK(reprise_run_begin_step(run), "begin a step");
  CHECK(y[0] == 1 && y[3] == 1, "the early result is the caller's");
  CHECK_OK(reprise_run_result(run, "y", &result), "look at it");
  CHECK_ERROR(reprise_run_result(run, "dx", &result), REPRISE_BAD_INPUT, "not computed yet",
              "look at a later one");
  for (int i = 0; i < 4; ++i)
    y[i] = 7, g[i] = (float)i, moved[i] = 2, x[i] = 1000;
  CHECK_OK(reprise_run_bind(run, "g", &g_tensor, NULL), "bind the late input");
  CHECK_OK(reprise_run_bind(run, "x", &moved_tensor, NULL), "bind an input whose memory moved");
  CHECK_OK(reprise_run_end_step(run), "end the step");
  CHECK_OK(reprise_run_result(run, "dx", &result), "look at the result");
  CHECK(((float *)result.data)[3] == 3, "it is of the first y");
  CHECK_OK(reprise_run_result(run, "dz", &result), "look at the other result");
  CHECK(((float *)result.data)[3] == 6, "the moved input is read where it is by then");
  CHECK(y[0] == 7, "what the caller wrote stays");
  moved[0] = 0;
  CHECK_OK(reprise_run_begin_step(run), "begin another step");
  CHECK(y[0] == 1, "it reads the moved input, too");
  reprise_run_destroy(run);
}

/* Program y = x * x, z = x + x with results of 16,384 bytes in the arena, x itself, and its sum. */
static const char *large_text =
    "func.func @train(%x: tensor<4096xf32> {reprise.name = \"x\", reprise.role = \"input\"})\n"
    "    -> (tensor<4096xf32> {reprise.name = \"y\"}, tensor<4096xf32> {reprise.name = \"z\"},\n"
    "    tensor<4096xf32> {reprise.name = \"same\"}, tensor<f32> {reprise.name = \"sum\"}) {\n"
    "  %y = reprise.mul %x, %x : tensor<4096xf32>\n"
    "  %z = reprise.add %x, %x : tensor<4096xf32>\n"
    "  %sum = reprise.sum %x dims [0] : (tensor<4096xf32>) -> tensor<f32>\n"
    "  return %y, %z, %x, %sum : tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, "
    "tensor<f32>\n"
    "}\n";

static void test_take(reprise_session *session) {
  reprise_module *module = NULL;
  reprise_run *run = NULL;
  reprise_memory *memory[4] = {NULL, NULL, NULL, NULL};
  const char *hash = NULL, *names[] = {"y", "z", "same", "sum"};
  DLTensor taken[4], seen, x_tensor;
  float *x = aligned_alloc(64, 16384);
  int64_t large_shape[] = {4096};
  CHECK_OK(reprise_module_parse(session, large_text, strlen(large_text), "take.mlir", &module),
           "parse");
  reprise_bundle *bundle = compile_module(module, "threads", "1", (char *)NULL);
  CHECK_OK(reprise_run_create(bundle, NULL, &run), "make a run");
  x_tensor = tensor_of(x);
  x_tensor.shape = large_shape;
  for (int i = 0; i < 4096; ++i)
    x[i] = (float)i;
  CHECK_OK(reprise_run_bind(run, "x", &x_tensor, NULL), "bind the input");
  CHECK_OK(reprise_run_start(run, 2), "start");
  CHECK_ERROR(reprise_run_take_result(run, "y", taken, memory), REPRISE_BAD_USAGE,
              "no step has run", "take before the first step");
  CHECK_OK(reprise_run_step(run), "a step");
  for (int i = 0; i < 4; ++i)
    CHECK_OK(reprise_run_take_result(run, names[i], &taken[i], &memory[i]), "take a result");
  CHECK_ERROR(reprise_run_result(run, "z", &seen), REPRISE_BAD_INPUT, "'z' was taken",
              "look at a taken result");
  CHECK_ERROR(reprise_run_hash(run, &hash), REPRISE_BAD_INPUT, "was taken", "hash taken results");
  CHECK(((float *)taken[2].data) != x && ((float *)taken[2].data)[5] == 5,
        "a result that is an argument is copied");
  x[5] = 7;
  CHECK_OK(reprise_run_step(run), "another step");
  CHECK_OK(reprise_run_result(run, "y", &seen), "look at the next result");
  CHECK(((float *)seen.data)[5] == 49 && ((float *)taken[0].data)[5] == 25,
        "a taken result stays as it was");
  CHECK_OK(reprise_run_hash(run, &hash), "hash the next results");
  reprise_run_destroy(run);
  int wrong = 0;
  for (int i = 0; i < 4096; ++i)
    wrong += ((float *)taken[1].data)[i] != (float)(2 * i);
  CHECK(wrong == 0, "it outlives the run");
  CHECK(taken[1].ndim == 1 && taken[1].shape[0] == 4096 && taken[3].ndim == 0, "shapes");
  CHECK(((float *)taken[3].data)[0] == 4096.0f * 4095 / 2, "a small result is copied");
  for (int i = 0; i < 4; ++i)
    reprise_memory_destroy(memory[i]);
  reprise_memory_destroy(NULL);
  free(x);
  reprise_bundle_destroy(bundle);
  reprise_module_destroy(module);
}

void test_pause(void) {
  reprise_session *session = NULL;
  reprise_module *module = NULL;
  CHECK_OK(reprise_session_create(&session), "make a session");
  CHECK_OK(reprise_module_parse(session, text, strlen(text), "pause.mlir", &module), "parse");
  reprise_bundle *bundle = compile_module(module, "threads", "1", (char *)NULL);
  const char *described = reprise_bundle_description(bundle);
  CHECK(strstr(described, "\"pauses\": true") && strstr(described, "\"late\": true") &&
            strstr(described, "\"early\": true"),
        "the pause is described");
  float *memory = aligned_alloc(64, 1024);
  run_parts(bundle, memory, 0);
  run_parts(bundle, memory, 1);
  free(memory);
  test_take(session);
  reprise_bundle_destroy(bundle);
  reprise_module_destroy(module);
  reprise_session_destroy(session);
}
