/* reprise: the C API: arguments that no function takes */
#include "check.h"

static int64_t weight_shape[] = {16, 4};
static float memory[512];

static DLTensor strided(int64_t *shape, int rank, int64_t *strides) {
  DLTensor tensor = float_tensor(memory, shape, rank);
  tensor.strides = strides;
  return tensor;
}

static void check_null(reprise_error *error, const char *argument) {
  char text[64];
  snprintf(text, sizeof text, "argument '%s' is null", argument);
  CHECK_ERROR(error, REPRISE_BAD_USAGE, text, text);
}

static void test_null_of_session(reprise_session *session) {
  reprise_module *module = NULL;
  reprise_bundle *bundle = NULL;
  reprise_plan *plan = NULL;
  reprise_options *options = reprise_options_create();
  check_null(reprise_session_create(NULL), "session");
  check_null(reprise_session_add_policy(session, "n", NULL, NULL), "policy");
  check_null(reprise_options_set(options, "budget", NULL), "value");
  check_null(reprise_options_set(options, NULL, "1"), "key");
  check_null(reprise_options_set(NULL, "budget", "1"), "options");
  check_null(reprise_module_parse(session, NULL, 10, "m.mlir", &module), "data");
  check_null(reprise_module_parse(session, "", 0, NULL, &module), "name");
  check_null(reprise_module_import_stablehlo(NULL, "", 0, "m", 0, &module), "session");
  check_null(reprise_module_verify(NULL), "module");
  check_null(reprise_bundle_read(session, NULL, 100, &bundle), "data");
  check_null(reprise_bundle_load(session, NULL, &bundle), "path");
  check_null(reprise_bundle_save(NULL, "b.rpb"), "bundle");
  check_null(reprise_plan_problem(session, NULL, "{}", 2, NULL, &plan), "kind");
  check_null(reprise_plan_problem(session, "offsets", NULL, 2, NULL, &plan), "problem");
  CHECK(!module && !bundle && !plan, "nothing comes of a null argument");
  reprise_options_destroy(options);
}

static void test_null_of_compilation(reprise_module *module) {
  reprise_compilation *compilation = NULL;
  reprise_bundle *bundle = NULL;
  check_null(reprise_compile(NULL, NULL, &compilation), "module");
  check_null(reprise_compile(module, NULL, NULL), "compilation");
  check_null(reprise_compilation_get_bundle(NULL, &bundle), "compilation");
  CHECK_OK(reprise_compile(module, NULL, &compilation), "compile");
  CHECK(!reprise_compilation_report(compilation, NULL), "a report of no format");
  CHECK(!reprise_compilation_explain(compilation, NULL), "no value is explained");
  reprise_compilation_destroy(compilation);
}

static void test_null_objects(void) {
  size_t size = 1;
  reprise_session_set_diagnostics(NULL, NULL, NULL);
  reprise_session_set_progress(NULL, NULL, NULL);
  reprise_run_get_state(NULL, NULL);
  CHECK(!*reprise_error_message(NULL) && !*reprise_error_text(NULL), "no error has no text");
  CHECK(!*reprise_module_text(NULL), "no module has no text");
  CHECK(!reprise_bundle_bytes(NULL, &size) && size == 0, "no bundle has no bytes");
  CHECK(!*reprise_bundle_description(NULL), "no bundle has no description");
  CHECK(!*reprise_compilation_plan(NULL) && !reprise_compilation_fits(NULL), "no compilation");
  CHECK(!reprise_plan_count(NULL) && !*reprise_plan_solution(NULL, 0), "no plan has no solutions");
}

static void test_null_of_builder(reprise_session *session) {
  static const char *const types[] = {"tensor<4xf32>", NULL};
  reprise_builder *builder = NULL;
  reprise_value values[2] = {0, 0};
  reprise_attribute attribute = {sizeof attribute, NULL, REPRISE_ATTRIBUTE_UNIT, NULL, NULL, 0, 0};
  reprise_op op;
  memset(&op, 0, sizeof op);
  op.struct_size = sizeof op;
  CHECK_OK(reprise_builder_create(session, "built", &builder), "make a builder");
  check_null(reprise_builder_begin_function(builder, NULL, types, 1, values), "name");
  check_null(reprise_builder_begin_function(builder, "f", NULL, 1, values), "argument_types");
  check_null(reprise_builder_begin_function(builder, "f", types, 1, NULL), "arguments");
  CHECK_ERROR(reprise_builder_begin_function(builder, "f", types, 2, values), REPRISE_BAD_USAGE,
              "type 1 is null", "a type that is null");
  CHECK_OK(reprise_builder_begin_function(builder, "f", types, 1, values), "begin @f");
  check_null(reprise_builder_add(builder, NULL, values), "op");
  check_null(reprise_builder_add(builder, &op, values), "op.name");
  check_null(reprise_builder_open(builder, &op, NULL, 0, NULL), "op.name");
  op.name = "reprise.neg";
  op.num_operands = 1;
  check_null(reprise_builder_add(builder, &op, values), "op.operands");
  op.num_results = 1;
  check_null(reprise_builder_add(builder, &op, NULL), "results");
  check_null(reprise_builder_set_argument(builder, 0, NULL), "attribute");
  check_null(reprise_builder_set_argument(builder, 0, &attribute), "attribute.name");
  attribute.name = "reprise.role";
  attribute.kind = REPRISE_ATTRIBUTE_STRING;
  CHECK_ERROR(reprise_builder_set_argument(builder, 0, &attribute), REPRISE_BAD_USAGE,
              "'text' of attribute 'reprise.role' is null", "an attribute without its text");
  check_null(reprise_builder_return(builder, NULL, 1), "values");
  check_null(reprise_builder_finish(builder, NULL), "module");
  reprise_builder_destroy(builder);
}

static void test_null_of_run(reprise_run *run) {
  DLTensor tensor = strided(weight_shape, 2, NULL);
  check_null(reprise_run_create(NULL, NULL, &run), "bundle");
  check_null(reprise_run_bind(run, NULL, &tensor, NULL), "name");
  check_null(reprise_run_bind(run, "weight", NULL, NULL), "tensor");
  check_null(reprise_run_give(run, "weight", NULL), "tensor");
  check_null(reprise_run_give_folder(run, NULL), "path");
  check_null(reprise_run_set_names(run, NULL), "path");
  check_null(reprise_run_save_folder(run, NULL, 0, 0), "path");
  check_null(reprise_run_finish_save(NULL), "run");
  check_null(reprise_run_set_state(run, NULL), "state");
  check_null(reprise_run_start(NULL, 1), "run");
  check_null(reprise_run_step(NULL), "run");
  check_null(reprise_run_loss(run, NULL), "loss");
  check_null(reprise_run_hash(run, NULL), "hash");
  check_null(reprise_run_result(run, NULL, &tensor), "name");
}

static void test_shapes(reprise_run *run) {
  static const int64_t counts[] = {-1, 0, INT64_MAX / 2};
  for (int i = 0; i < 3; ++i) {
    int64_t shape[] = {counts[i], 8, 16};
    DLTensor tensor = strided(shape, 3, NULL);
    CHECK_ERROR(reprise_run_give(run, "x", &tensor), REPRISE_BAD_INPUT,
                "expected a number of values from 1 to", "a number of values that cannot be");
  }
}

static void test_strides(reprise_run *run) {
  int64_t wrong[][2] = {{0, 0}, {-4, 1}, {3, 1}, {INT64_MAX, INT64_MAX}}, padded[] = {8, 2};
  int64_t repeated[] = {0, 1}, x_shape[] = {8, 16};
  DLTensor tensor;
  for (int i = 0; i < 4; ++i) {
    tensor = strided(weight_shape, 2, wrong[i]);
    CHECK_ERROR(reprise_run_bind(run, "weight", &tensor, NULL), REPRISE_BAD_INPUT,
                "cannot bind 'weight': the step writes to the tensor", "strides that overlap");
  }
  tensor = strided(weight_shape, 2, padded);
  CHECK_OK(reprise_run_bind(run, "weight", &tensor, NULL), "strides with gaps");
  tensor = strided(x_shape, 2, repeated);
  CHECK_OK(reprise_run_bind(run, "x", &tensor, NULL), "an input whose rows are one row");
  tensor = strided(NULL, 2, padded);
  CHECK_ERROR(reprise_run_bind(run, "weight", &tensor, NULL), REPRISE_BAD_INPUT,
              "the tensor has no shape", "strides without a shape");
}

static void test_empty_plan(reprise_module *module) {
  reprise_options *options = reprise_options_create();
  reprise_compilation *compilation = NULL;
  CHECK_OK(reprise_options_set(options, "plan", ""), "set an empty plan");
  CHECK_ERROR(reprise_compile(module, options, &compilation), REPRISE_BAD_INPUT, "plan",
              "an empty plan");
  reprise_options_destroy(options);
}

static rp_status label(void *self, const rp_host *host, const rp_graph *graph, uint8_t *labels,
                       size_t num_ops) {
  (void)host, (void)graph;
  memset(labels, RP_PREFER_SAVE, num_ops);
  if (self)
    host->fail(host->context, (rp_string){NULL, 4});
  return self ? RP_ERROR : RP_OK;
}

static rp_status explain(void *self, uint32_t op, rp_string *reason) {
  (void)self, (void)op;
  *reason = (rp_string){NULL, 4};
  return RP_OK;
}

static rp_policy make_policy(void) {
  rp_policy policy;
  memset(&policy, 0, sizeof policy);
  policy.struct_size = sizeof policy;
  policy.abi_major = RP_POLICY_ABI_MAJOR;
  policy.abi_minor = RP_POLICY_ABI_MINOR;
  policy.name = (rp_string){"own", 3};
  policy.decide = label;
  policy.explain = explain;
  return policy;
}

static void test_tables(reprise_session *session) {
  static const char *const names[] = {"", "@x", "x.json", "plugin:x", "a(b", "a,b", " a"};
  rp_policy policy = make_policy();
  for (int i = 0; i < 7; ++i)
    CHECK_ERROR(reprise_session_add_policy(session, names[i], &policy, NULL), REPRISE_BAD_USAGE,
                "cannot be the name of a policy", "a name that cannot be used");
  policy.struct_size = 8;
  CHECK_ERROR(reprise_session_add_policy(session, "n", &policy, NULL), REPRISE_BAD_USAGE,
              "policy 'n' has a table of 8 bytes, too short", "a short table");
  policy = make_policy();
  policy.abi_major = 7;
  CHECK_ERROR(reprise_session_add_policy(session, "n", &policy, NULL), REPRISE_BAD_USAGE,
              "policy 'n' is built for policy ABI 7", "a table of another version");
  policy = make_policy();
  policy.decide = NULL;
  CHECK_ERROR(reprise_session_add_policy(session, "n", &policy, NULL), REPRISE_BAD_USAGE,
              "policy 'n' has no function 'decide'", "a table that decides nothing");
}

static void test_null_strings(reprise_session *session, reprise_module *module) {
  static const char *const messages[] = {"gives op 0 a reason that is a null string of 4 bytes",
                                         "failed: the reason given is a null string"};
  rp_policy policy = make_policy();
  int fails = 1;
  CHECK_OK(reprise_session_add_policy(session, "explains", &policy, NULL), "add a policy");
  CHECK_OK(reprise_session_add_policy(session, "fails", &policy, &fails), "add another");
  for (int i = 0; i < 2; ++i) {
    reprise_options *options = reprise_options_create();
    reprise_compilation *compilation = NULL;
    CHECK_OK(reprise_options_set(options, "policy", i ? "fails" : "explains"), "ask for it");
    CHECK_ERROR(reprise_compile(module, options, &compilation), REPRISE_BAD_INPUT, messages[i],
                "a reason that is null");
    reprise_options_destroy(options);
  }
}

void test_refuse(void) {
  reprise_session *session = NULL;
  reprise_run *run = NULL;
  CHECK_OK(reprise_session_create(&session), "make a session");
  reprise_module *module = parse_model(session);
  reprise_bundle *bundle = compile_module(module, "threads", "1", (char *)NULL);
  CHECK_OK(reprise_run_create(bundle, NULL, &run), "make a run");
  test_null_of_session(session);
  test_null_of_compilation(module);
  test_null_objects();
  test_null_of_builder(session);
  test_null_of_run(run);
  test_shapes(run);
  test_strides(run);
  test_empty_plan(module);
  test_tables(session);
  test_null_strings(session, module);
  reprise_run_destroy(run);
  reprise_bundle_destroy(bundle);
  reprise_module_destroy(module);
  reprise_session_destroy(session);
}
