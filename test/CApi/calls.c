/* reprise: the C API: functions of the host that a step calls */
#include "check.h"

/* Program y = twice(x), with the gradient of its sum for x. */
static const char *text =
    "func.func @train(%x: tensor<4xf32> {reprise.name = \"x\", reprise.role = \"input\"})\n"
    "    -> (tensor<f32> {reprise.name = \"loss\"}, tensor<4xf32> {reprise.name = \"dx\"}) {\n"
    "  %l, %g = reprise.value_and_grad (%p = %x) wrt [0] : (tensor<4xf32>)\n"
    "      -> (tensor<f32>, tensor<4xf32>) {\n"
    "    %y:2 = reprise.custom_call \"host:twice\"(%p)\n"
    "        : (tensor<4xf32>) -> (tensor<4xf32>, tensor<i1>)\n"
    "    %s = reprise.sum %y#0 dims [0] : (tensor<4xf32>) -> tensor<f32>\n"
    "    reprise.yield %s : tensor<f32>\n"
    "  }\n"
    "  return %l, %g : tensor<f32>, tensor<4xf32>\n"
    "}\n";

static int fails;

static int compute(void *user, const reprise_call *call, char *message, size_t size) {
  int is_derivative = strcmp(call->callee, "host:twice/vjp(0;0)") == 0;
  const float *from = call->operands[is_derivative].data;
  float *to = call->results[0].data;
  ++*(int *)user;
  CHECK(is_derivative || strcmp(call->callee, "host:twice") == 0, "the callee is named");
  CHECK(call->num_operands == (size_t)(1 + is_derivative) &&
            call->num_results == (size_t)(2 - is_derivative),
        "all tensors are there");
  CHECK(call->operands[0].ndim == 1 && call->operands[0].shape[0] == 4 &&
            call->operands[0].dtype.code == kDLFloat && call->operands[0].dtype.bits == 32,
        "an operand is described");
  CHECK(is_derivative || (call->results[1].data == NULL && call->results[1].dtype.code == kDLBool),
        "a result that nothing reads has no memory");
  if (fails) {
    snprintf(message, size, "no more");
    return 1;
  }
  for (int i = 0; i < 4; ++i)
    to[i] = 2 * from[i];
  return 0;
}

static void run_calls(const reprise_bundle *bundle, float *x) {
  reprise_run *run = NULL;
  DLTensor result, tensor;
  int64_t shape[] = {4};
  int calls = 0;
  double loss = 0;
  CHECK_ERROR(reprise_run_create(bundle, NULL, &run), REPRISE_BAD_INPUT,
              "no library 'host' is registered", "a run without the library");
  CHECK_OK(reprise_register_calls("host", compute, &calls), "register a library");
  CHECK_OK(reprise_run_create(bundle, NULL, &run), "make a run");
  tensor = float_tensor(x, shape, 1);
  CHECK_OK(reprise_run_bind(run, "x", &tensor, NULL), "bind the input");
  CHECK_OK(reprise_run_start(run, 3), "start");
  CHECK_OK(reprise_run_step(run), "run a step");
  CHECK(calls == 2, "both functions were called");
  CHECK_OK(reprise_run_loss(run, &loss), "the loss");
  CHECK(loss == 12, "the loss is that of the call");
  CHECK_OK(reprise_run_result(run, "dx", &result), "look at the gradient");
  CHECK(((float *)result.data)[3] == 2, "it is the gradient");
  CHECK_OK(reprise_register_calls("host", NULL, NULL), "remove the library");
  CHECK_OK(reprise_run_step(run), "a run keeps the callback");
  fails = 1;
  CHECK_ERROR(reprise_run_step(run), REPRISE_BAD_INPUT,
              "the call of 'host:twice' failed: no more", "a call that fails");
  fails = 0;
  reprise_run_destroy(run);
}

void test_calls(void) {
  reprise_session *session = NULL;
  reprise_module *module = NULL;
  CHECK_ERROR(reprise_register_calls(NULL, compute, NULL), REPRISE_BAD_USAGE,
              "argument 'library' is null", "a library without a name");
  CHECK_ERROR(reprise_register_calls("a:b", compute, NULL), REPRISE_BAD_USAGE,
              "'a:b' is no name of a library", "a library with a function");
  CHECK_OK(reprise_session_create(&session), "make a session");
  CHECK_OK(reprise_module_parse(session, text, strlen(text), "calls.mlir", &module), "parse");
  reprise_bundle *bundle = compile_module(module, "threads", "2", (char *)NULL);
  float *x = aligned_alloc(64, 64);
  for (int i = 0; i < 4; ++i)
    x[i] = (float)i;
  run_calls(bundle, x);
  free(x);
  reprise_bundle_destroy(bundle);
  reprise_module_destroy(module);
  reprise_session_destroy(session);
}
