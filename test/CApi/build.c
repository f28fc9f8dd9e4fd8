/* reprise: the C API: a model that is built op by op, and planning without a model */
#include "check.h"

static reprise_builder *builder;

static reprise_attribute text(const char *name, const char *value) {
  reprise_attribute attribute = {sizeof attribute, name, REPRISE_ATTRIBUTE_TEXT, value, NULL, 0, 0};
  return attribute;
}

static reprise_attribute string(const char *name, const char *value) {
  reprise_attribute attribute = text(name, value);
  attribute.kind = REPRISE_ATTRIBUTE_STRING;
  return attribute;
}

static reprise_attribute integers(const char *name, const int64_t *values, size_t count) {
  reprise_attribute attribute = {
      sizeof attribute, name, REPRISE_ATTRIBUTE_INTEGERS, NULL, values, count, 0};
  return attribute;
}

static reprise_op describe(const char *name, const reprise_value *operands, size_t num_operands,
                           const char *const *types, size_t num_results) {
  reprise_op op;
  memset(&op, 0, sizeof op);
  op.struct_size = sizeof op;
  op.name = name;
  op.operands = operands;
  op.num_operands = num_operands;
  op.result_types = types;
  op.num_results = num_results;
  op.file = "builder.c";
  op.line = 12;
  op.column = 3;
  return op;
}

static reprise_value add(const char *name, reprise_value a, reprise_value b, const char *type) {
  reprise_value operands[2] = {a, b}, result = 0;
  reprise_op op = describe(name, operands, 2, &type, 1);
  CHECK_OK(reprise_builder_add(builder, &op, &result), name);
  return result;
}

static void build_loss(void) {
  static const char *const arguments[] = {"tensor<8x16xf32>", "tensor<16x4xf32>"};
  static const int64_t columns[] = {1}, rows[] = {0}, all[] = {0, 1};
  reprise_value values[2], product = 0, mean = 0;
  CHECK_OK(reprise_builder_begin_function(builder, "loss", arguments, 2, values), "begin @loss");
  const char *type = "tensor<8x4xf32>";
  reprise_attribute contraction[] = {integers("lhs_contracting", columns, 1),
                                     integers("rhs_contracting", rows, 1)};
  reprise_op op = describe("reprise.dot_general", values, 2, &type, 1);
  op.attributes = contraction;
  op.num_attributes = 2;
  CHECK_OK(reprise_builder_add(builder, &op, &product), "reprise.dot_general");
  /* Block of a layer, without a policy. */
  reprise_value squares = 0;
  op = describe("reprise.block", NULL, 0, &type, 1);
  op.scope = "layer/0";
  CHECK_OK(reprise_builder_open(builder, &op, NULL, 0, NULL), "open a block");
  reprise_value inner = add("reprise.mul", product, product, type);
  op = describe("reprise.yield", &inner, 1, NULL, 0);
  CHECK_OK(reprise_builder_add(builder, &op, NULL), "reprise.yield");
  CHECK_OK(reprise_builder_close(builder, &squares), "close the block");
  const char *scalar = "tensor<f32>";
  reprise_attribute dims = integers("dims", all, 2);
  op = describe("reprise.mean", &squares, 1, &scalar, 1);
  op.attributes = &dims;
  op.num_attributes = 1;
  CHECK_OK(reprise_builder_add(builder, &op, &mean), "reprise.mean");
  CHECK_OK(reprise_builder_return(builder, &mean, 1), "end @loss");
}

static void set_argument(size_t index, const char *role, const char *name, const char *init) {
  reprise_attribute attributes[] = {string("reprise.role", role), string("reprise.name", name),
                                    text("reprise.init", init)};
  for (int i = 0; i < 3; ++i)
    CHECK_OK(reprise_builder_set_argument(builder, index, &attributes[i]), "set an argument");
}

static void build_train(void) {
  static const char *const arguments[] = {"tensor<8x16xf32>", "tensor<f32>", "tensor<16x4xf32>"};
  static const char *const results[] = {"tensor<f32>", "tensor<16x4xf32>"};
  static const int64_t wrt[] = {1};
  reprise_value values[3], gradients[2] = {0, 0};
  CHECK_OK(reprise_builder_begin_function(builder, "train", arguments, 3, values), "begin @train");
  set_argument(0, "input", "x", "#reprise.normal<0.0, 1.0>");
  set_argument(1, "input", "learning_rate", "#reprise.fill<0.1>");
  set_argument(2, "parameter", "weight", "#reprise.normal<0.0, 0.5>");
  reprise_value operands[2] = {values[0], values[2]};
  reprise_attribute attributes[] = {string("callee", "loss"), integers("wrt", wrt, 1)};
  attributes[0].kind = REPRISE_ATTRIBUTE_SYMBOL;
  reprise_op op = describe("reprise.value_and_grad", operands, 2, results, 2);
  op.attributes = attributes;
  op.num_attributes = 2;
  /* The op has a region, which is empty if a function is called. */
  op.num_empty_regions = 1;
  CHECK_OK(reprise_builder_add(builder, &op, gradients), "reprise.value_and_grad");
  reprise_value change = add("reprise.mul", gradients[1], values[1], results[1]);
  reprise_value next[2] = {gradients[0], add("reprise.sub", values[2], change, results[1])};
  reprise_attribute names[] = {string("reprise.name", "loss"), string("reprise.name", "weight")};
  for (int i = 0; i < 2; ++i)
    CHECK_OK(reprise_builder_set_result(builder, i, &names[i]), "name a result");
  CHECK_OK(reprise_builder_return(builder, next, 2), "end @train");
}

static void test_wrong_ops(void) {
  const char *type = "tensor<8x4xf32>", *nonsense = "tensor<";
  reprise_value values[2] = {0, 99}, result = 0;
  CHECK_OK(reprise_builder_begin_function(builder, "wrong", &type, 1, values), "begin @wrong");
  values[1] = 99;
  reprise_op op = describe("reprise.add", values, 2, &type, 1);
  CHECK_ERROR(reprise_builder_add(builder, &op, &result), REPRISE_BAD_USAGE,
              "operand 1 of 'reprise.add' is no value", "a value that is not there");
  op = describe("reprise.plus", values, 1, &type, 1);
  CHECK_ERROR(reprise_builder_add(builder, &op, &result), REPRISE_BAD_USAGE,
              "there is no op 'reprise.plus'", "an op that is not there");
  op = describe("reprise.neg", values, 1, &nonsense, 1);
  CHECK_ERROR(reprise_builder_add(builder, &op, &result), REPRISE_BAD_USAGE, "'tensor<' is no type",
              "a type that is none");
  op = describe("reprise.mean", values, 1, &type, 1);
  op.scope = "layer/1";
  CHECK_ERROR(reprise_builder_add(builder, &op, &result), REPRISE_BAD_USAGE,
              "builder.c:12:3: error: in layer/1: ", "an op that its verifier refuses");
  CHECK_OK(reprise_builder_return(builder, values, 1), "end @wrong");
}

static void hash_module(reprise_module *module, char hash[32]) {
  reprise_bundle *bundle = compile_module(module, "threads", "1", (char *)NULL);
  reprise_run *run = NULL;
  CHECK_OK(reprise_run_create(bundle, NULL, &run), "make a run");
  hash_steps(run, 2, hash);
  reprise_run_destroy(run);
  reprise_bundle_destroy(bundle);
}

void test_build(void) {
  reprise_session *session = NULL;
  reprise_module *built = NULL, *parsed;
  char own[32], of_text[32];
  CHECK_OK(reprise_session_create(&session), "make a session");
  CHECK_OK(reprise_builder_create(session, "built", &builder), "make a builder");
  build_loss();
  build_train();
  CHECK_OK(reprise_builder_finish(builder, &built), "finish the module");
  test_wrong_ops();
  reprise_builder_destroy(builder);
  parsed = parse_model(session);
  hash_module(built, own);
  hash_module(parsed, of_text);
  CHECK(strcmp(own, of_text) == 0, "a built model has the bits of its text");
  reprise_module_destroy(built);
  reprise_module_destroy(parsed);
  reprise_session_destroy(session);
}

static void test_checkpoint_problem(reprise_session *session) {
  static const char problem[] =
      "{\"version\": 1, \"operations\": ["
      "{\"cost\": 1, \"results\": [100]}, {\"cost\": 1, \"operands\": [0], \"results\": [100]},"
      "{\"cost\": 1, \"operands\": [1], \"results\": [100]},"
      "{\"cost\": 2, \"backward\": true, \"operands\": [1, 2], \"results\": [100]},"
      "{\"cost\": 2, \"backward\": true, \"operands\": [0, 3], \"results\": [100]}]}";
  reprise_options *options = reprise_options_create();
  reprise_plan *plan = NULL;
  CHECK_OK(reprise_options_set(options, "budget", "300"), "set a budget");
  CHECK_OK(reprise_options_set(options, "budget", "10"), "set another");
  CHECK_OK(reprise_plan_problem(session, "checkpoint", problem, sizeof problem - 1, options, &plan),
           "plan a problem");
  CHECK(reprise_plan_count(plan) == 2, "a plan per budget");
  CHECK(strstr(reprise_plan_summary(plan), "\"peak\": 300"), "the summary has the peak");
  CHECK(strstr(reprise_plan_solution(plan, 0), "\"executions\""), "the plan");
  CHECK(reprise_plan_solution(plan, 1)[0] == 0, "no plan for a budget that cannot be met");
  reprise_plan_destroy(plan);
  plan = NULL;
  CHECK_ERROR(reprise_plan_problem(session, "checkpoint", "{", 1, options, &plan),
              REPRISE_BAD_INPUT, "problem: ", "a problem that is none");
  CHECK_ERROR(reprise_plan_problem(session, "chess", "{", 1, options, &plan), REPRISE_BAD_USAGE,
              "unknown problem 'chess'", "a kind of problem that is none");
  reprise_options_destroy(options);
}

void test_plan(void) {
  static const char buffers[] = "id,lower,upper,size\na,0,1,100\nb,1,2,50\nc,2,3,100\n";
  reprise_session *session = NULL;
  reprise_plan *plan = NULL;
  CHECK_OK(reprise_session_create(&session), "make a session");
  test_checkpoint_problem(session);
  CHECK_OK(reprise_plan_problem(session, "offsets", buffers, sizeof buffers - 1, NULL, &plan),
           "pack buffers");
  CHECK(strstr(reprise_plan_summary(plan), "\"height\": 100"), "the height of the packing");
  CHECK(strstr(reprise_plan_solution(plan, 0), "id,lower,upper,size,offset"), "the packing");
  reprise_plan_destroy(plan);
  reprise_session_destroy(session);
}
