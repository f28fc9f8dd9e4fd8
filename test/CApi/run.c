/* reprise: the C API: runs on memory of the caller, policies of the host, sessions in threads */
#include "check.h"

#include <pthread.h>

static reprise_run *make_run(const reprise_bundle *bundle) {
  reprise_run *run = NULL;
  CHECK_OK(reprise_run_create(bundle, NULL, &run), "make a run");
  return run;
}

static int64_t weight_shape[] = {16, 4}, x_shape[] = {8, 16};

/* Runs with a weight of the caller, in memory at `weight`, and an x; returns the hash of three
 * steps. */
static void run_bound(const reprise_bundle *bundle, float *weight, int64_t *strides, int is_copied,
                      float *x, char hash[32]) {
  reprise_run *run = make_run(bundle);
  DLTensor tensor = float_tensor(weight, weight_shape, 2), input = float_tensor(x, x_shape, 2);
  int copied = -1;
  tensor.strides = strides;
  for (int i = 0; i < 64; ++i)
    weight[strides ? i / 4 * strides[0] + i % 4 * strides[1] : i] = 0.25f * (float)(i % 7) - 0.5f;
  CHECK_OK(reprise_run_bind(run, "weight", &tensor, &copied), "bind a weight");
  CHECK(copied == is_copied, "whether it is copied is told");
  CHECK_OK(reprise_run_give(run, "x", &input), "give an input");
  hash_steps(run, 3, hash);
  DLTensor loss, next;
  CHECK_OK(reprise_run_result(run, "loss", &loss), "the loss as a tensor");
  double number = 0;
  CHECK_OK(reprise_run_loss(run, &number), "the loss");
  CHECK(loss.ndim == 0 && *(float *)loss.data == (float)number, "both are the same");
  CHECK_OK(reprise_run_result(run, "weight", &next), "the next weight as a tensor");
  if (!is_copied)
    CHECK(next.data == weight, "it lies where the caller's weight does");
  CHECK(next.ndim == 2 && next.shape[0] == 16 && next.shape[1] == 4, "its shape");
  CHECK(((float *)next.data)[63] == weight[strides ? 15 * strides[0] + 3 * strides[1] : 63],
        "the caller's weight was updated");
  CHECK(weight[0] != -0.5f, "to another value");
  reprise_run_state state;
  reprise_run_get_state(run, &state);
  CHECK(state.seed == 7 && state.step == 3, "the state after three steps");
  reprise_run_destroy(run);
}

static void test_buffers(const reprise_bundle *bundle) {
  float *memory = aligned_alloc(64, 4096), *x = aligned_alloc(64, 1024);
  char in_place[32], unaligned[32], transposed[32];
  int64_t strides[] = {1, 16};
  for (int i = 0; i < 128; ++i)
    x[i] = 0.125f * (float)(i % 11) - 0.6f;
  run_bound(bundle, memory, NULL, 0, x, in_place);
  run_bound(bundle, memory + 1, NULL, 1, x, unaligned);
  run_bound(bundle, memory, strides, 1, x, transposed);
  CHECK(strcmp(in_place, unaligned) == 0, "unaligned memory gives the same bits");
  CHECK(strcmp(in_place, transposed) == 0, "transposed memory gives the same bits");
  free(memory);
  free(x);
}

static void test_wrong_tensors(const reprise_bundle *bundle) {
  static float memory[256];
  reprise_run *run = make_run(bundle);
  DLTensor tensor = float_tensor(memory, x_shape, 2);
  CHECK_ERROR(reprise_run_bind(run, "weight", &tensor, NULL), REPRISE_BAD_INPUT,
              "cannot bind 'weight': shape [8, 16], expected [16, 4]", "another shape");
  CHECK_ERROR(reprise_run_bind(run, "wait", &tensor, NULL), REPRISE_BAD_INPUT,
              "the step has no argument of this name", "an argument that is not there");
  tensor = float_tensor(memory, weight_shape, 2);
  tensor.dtype.code = kDLInt;
  CHECK_ERROR(reprise_run_bind(run, "weight", &tensor, NULL), REPRISE_BAD_INPUT,
              "expected a tensor of type f32", "another type");
  tensor = float_tensor(memory, weight_shape, 2);
  tensor.device.device_type = kDLCUDA;
  CHECK_ERROR(reprise_run_bind(run, "weight", &tensor, NULL), REPRISE_BAD_INPUT,
              "the tensor is not on the CPU", "another device");
  tensor = float_tensor(memory, weight_shape, -1);
  CHECK_ERROR(reprise_run_bind(run, "weight", &tensor, NULL), REPRISE_BAD_INPUT,
              "the tensor has no shape", "a negative rank");
  tensor = float_tensor(NULL, weight_shape, 2);
  CHECK_ERROR(reprise_run_give(run, "weight", &tensor), REPRISE_BAD_INPUT, "the tensor has no data",
              "no memory");
  CHECK_ERROR(reprise_run_result(run, "gain", &tensor), REPRISE_BAD_INPUT,
              "the step has no result 'gain'", "a result that is not there");
  reprise_run_destroy(run);
}

static void test_wrong_order(const reprise_bundle *bundle) {
  reprise_run *run = make_run(bundle);
  double loss = 0;
  const char *hash = NULL;
  CHECK_ERROR(reprise_run_step(run), REPRISE_BAD_USAGE, "the run was not started",
              "a step before the start");
  CHECK_ERROR(reprise_run_start(run, -1), REPRISE_BAD_USAGE,
              "expected a number of steps from 0 on, got -1", "a negative number of steps");
  CHECK_OK(reprise_run_start(run, 1), "start a run");
  CHECK_ERROR(reprise_run_loss(run, &loss), REPRISE_BAD_USAGE, "no step has run",
              "a loss before the first step");
  CHECK_ERROR(reprise_run_hash(run, &hash), REPRISE_BAD_USAGE, "no step has run",
              "a hash before the first step");
  CHECK_OK(reprise_run_step(run), "the first step");
  CHECK_OK(reprise_run_loss(run, &loss), "its loss");
  reprise_run_destroy(run);
}

static void test_bundles(reprise_session *session, reprise_bundle *bundle) {
  reprise_bundle *read = NULL, *loaded = NULL;
  size_t size = 0;
  const void *bytes = reprise_bundle_bytes(bundle, &size);
  CHECK_OK(reprise_bundle_save(bundle, "saved.rpb"), "save a bundle");
  CHECK_OK(reprise_bundle_load(session, "saved.rpb", &loaded), "load it");
  CHECK_OK(reprise_bundle_read(session, bytes, size, &read), "read it from memory");
  CHECK_ERROR(reprise_bundle_load(session, "none.rpb", &read), REPRISE_BAD_INPUT, "none.rpb",
              "a bundle that is not there");
  CHECK_ERROR(reprise_bundle_read(session, bytes, size / 2, &read), REPRISE_BAD_INPUT, "bundle",
              "half a bundle");
  const char *text = reprise_bundle_description(loaded);
  CHECK(strstr(text, "\"learning_rate\"") && strstr(text, "\"arena_bytes\""), "describe a bundle");
  CHECK(strcmp(text, reprise_bundle_description(read)) == 0, "both are described alike");
  reprise_bundle_destroy(read);
  reprise_bundle_destroy(loaded);
}

void test_run(void) {
  reprise_session *session = NULL;
  CHECK_OK(reprise_session_create(&session), "make a session");
  reprise_module *module = parse_model(session);
  reprise_bundle *bundle = compile_module(module, "threads", "1", (char *)NULL);
  test_bundles(session, bundle);
  test_buffers(bundle);
  test_wrong_tensors(bundle);
  test_wrong_order(bundle);
  reprise_bundle_destroy(bundle);
  reprise_module_destroy(module);
  reprise_session_destroy(session);
}

/* Saves only contractions. */
static rp_status decide(void *self, const rp_host *host, const rp_graph *graph, uint8_t *labels,
                        size_t num_ops) {
  for (size_t i = 0; i < num_ops; ++i) {
    rp_op_info info;
    info.struct_size = sizeof info;
    if (host->op_info(graph, (uint32_t)i, &info) != RP_OK)
      return RP_ERROR;
    labels[i] = info.kinds & RP_KIND_CONTRACTION ? RP_MUST_SAVE : RP_PREFER_RECOMPUTE;
  }
  ++*(int *)self;
  return RP_OK;
}

static rp_status refuse(void *self, const rp_host *host, const rp_graph *graph, uint8_t *labels,
                        size_t num_ops) {
  static const char why[] = "it is raining";
  (void)self, (void)graph, (void)labels, (void)num_ops;
  host->fail(host->context, (rp_string){why, sizeof why - 1});
  return RP_ERROR;
}

static rp_policy make_policy(const char *name) {
  rp_policy policy;
  memset(&policy, 0, sizeof policy);
  policy.struct_size = sizeof policy;
  policy.abi_major = RP_POLICY_ABI_MAJOR;
  policy.abi_minor = RP_POLICY_ABI_MINOR;
  policy.name = (rp_string){name, strlen(name)};
  policy.decide = decide;
  return policy;
}

/* A plugin runs in this process: main() counts forks. */
static void test_plugin(reprise_module *module) {
  const char *path = getenv("REPRISE_TEST_PLUGIN");
  reprise_options *options = reprise_options_create();
  reprise_compilation *compilation = NULL;
  char text[4096];
  snprintf(text, sizeof text, "plugin:%s", path ? path : "none.so");
  CHECK_OK(reprise_options_set(options, "policy", text), "ask for a plugin");
  reprise_error *error = reprise_compile(module, options, &compilation);
  if (path)
    CHECK(!error, "compile with a plugin");
  else
    CHECK(error && strstr(reprise_error_message(error), "none.so"), "a plugin that is missing");
  reprise_error_destroy(error);
  reprise_compilation_destroy(compilation);
  reprise_options_destroy(options);
}

void test_policy(void) {
  reprise_session *session = NULL;
  rp_policy policy = make_policy("mine"), other = make_policy("other");
  int calls = 0;
  other.decide = refuse;
  CHECK_OK(reprise_session_create(&session), "make a session");
  CHECK_OK(reprise_session_add_policy(session, "mine", &policy, &calls), "add a policy");
  CHECK_OK(reprise_session_add_policy(session, "other", &other, NULL), "add another");
  CHECK_ERROR(reprise_session_add_policy(session, "save-all", &policy, &calls), REPRISE_BAD_USAGE,
              "a policy 'save-all' exists already", "a name that is taken");
  reprise_module *module = parse_model(session);
  reprise_options *options = reprise_options_create();
  reprise_compilation *compilation = NULL;
  CHECK_OK(reprise_options_set(options, "policy", "mine"), "ask for the policy");
  CHECK_OK(reprise_compile(module, options, &compilation), "compile with the host's policy");
  CHECK(calls == 1, "the policy was asked once");
  CHECK(strstr(reprise_compilation_report(compilation, "json"), "must_save"),
        "the report has its labels");
  reprise_compilation_destroy(compilation);
  compilation = NULL;
  CHECK_OK(reprise_options_set(options, "policy", "other"), "ask for the other");
  CHECK_ERROR(reprise_compile(module, options, &compilation), REPRISE_BAD_INPUT,
              "failed: it is raining", "a policy that fails");
  test_plugin(module);
  reprise_options_destroy(options);
  reprise_module_destroy(module);
  reprise_session_destroy(session);
}

struct thread {
  const char *policy;
  char hash[32];
  int good;
};

/* Compiles and runs in a session of its own; checks are counted by the main thread alone. */
static void *work(void *argument) {
  struct thread *thread = argument;
  reprise_session *session = NULL;
  reprise_module *module = NULL;
  reprise_compilation *compilation = NULL;
  reprise_bundle *bundle = NULL;
  reprise_run *run = NULL;
  reprise_options *options = reprise_options_create();
  reprise_run_state state = {7, 0, 0};
  const char *hash = "";
  thread->good =
      !reprise_session_create(&session) &&
      !reprise_module_parse(session, model_text, strlen(model_text), "m.mlir", &module) &&
      !reprise_options_set(options, "policy", thread->policy) &&
      !reprise_options_set(options, "threads", "1") &&
      !reprise_compile(module, options, &compilation) &&
      !reprise_compilation_get_bundle(compilation, &bundle) &&
      !reprise_run_create(bundle, NULL, &run) && !reprise_run_set_state(run, &state) &&
      !reprise_run_start(run, 4);
  for (int i = 0; i < 4 && thread->good; ++i)
    thread->good = !reprise_run_step(run);
  if (thread->good && !reprise_run_hash(run, &hash))
    snprintf(thread->hash, sizeof thread->hash, "%s", hash);
  reprise_session_destroy(session);
  reprise_options_destroy(options);
  reprise_run_destroy(run);
  reprise_bundle_destroy(bundle);
  reprise_compilation_destroy(compilation);
  reprise_module_destroy(module);
  return NULL;
}

void test_threads(void) {
  struct thread threads[2] = {{"save-all", "", 0}, {"recompute-all", "", 0}};
  pthread_t ids[2];
  for (int i = 0; i < 2; ++i)
    CHECK(pthread_create(&ids[i], NULL, work, &threads[i]) == 0, "start a thread");
  for (int i = 0; i < 2; ++i) {
    pthread_join(ids[i], NULL);
    CHECK(threads[i].good, "a session in a thread");
  }
  CHECK(threads[0].hash[0] && strcmp(threads[0].hash, threads[1].hash) == 0,
        "both sessions come to the same bits");
}
