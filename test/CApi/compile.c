/* reprise: the C API: errors with their places, options, compilations, reports, cancelling */
#include "check.h"

struct seen {
  int errors, notes;
  unsigned line;
};

static void note(void *user, const reprise_diagnostic *diagnostic) {
  struct seen *seen = user;
  seen->errors += diagnostic->severity == REPRISE_ERROR;
  seen->notes += diagnostic->severity == REPRISE_NOTE;
  if (diagnostic->severity == REPRISE_ERROR)
    seen->line = diagnostic->line;
}

static void test_bad_model(reprise_session *session) {
  static const char text[] = "func.func @train(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
                             "  %y = reprise.add %x, %z : tensor<4xf32>\n"
                             "  return %y : tensor<4xf32>\n}\n";
  struct seen seen = {0, 0, 0};
  reprise_module *module = NULL;
  reprise_session_set_diagnostics(session, note, &seen);
  reprise_error *error = reprise_module_parse(session, text, sizeof text - 1, "bad.mlir", &module);
  CHECK(error && !module, "an undeclared value is an error");
  CHECK(error && reprise_error_line(error) == 2 && reprise_error_column(error) == 24,
        "the error has line and column");
  CHECK(error && strcmp(reprise_error_file(error), "bad.mlir") == 0, "the error has the file");
  CHECK(error && strstr(reprise_error_text(error), "bad.mlir:2:24: error: ") != NULL,
        "the error's text is as compilers print it");
  CHECK(seen.errors == 1 && seen.line == 2, "the callback heard it once");
  reprise_error_destroy(error);
  CHECK_ERROR(reprise_module_parse(session, "\x4d\x4c\xef\x52nonsense", 12, "bad.mlirbc", &module),
              REPRISE_BAD_INPUT, "error: ", "broken bytecode is an error");
  reprise_session_set_diagnostics(session, NULL, NULL);
}

static void test_stablehlo(reprise_session *session) {
  static const char text[] = "func.func public @main(%x: tensor<4xf32>) -> tensor<f32> {\n"
                             "  %c = stablehlo.constant dense<0.0> : tensor<f32>\n"
                             "  %y = stablehlo.reduce(%x init: %c) applies stablehlo.add across "
                             "dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>\n"
                             "  return %y : tensor<f32>\n}\n";
  static const char bad[] = "func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
                            "  %y = stablehlo.imag %x : tensor<4xf32>\n"
                            "  return %y : tensor<4xf32>\n}\n";
  reprise_module *module = NULL;
  CHECK_OK(reprise_module_import_stablehlo(session, text, sizeof text - 1, "m.mlir", 1, &module),
           "import StableHLO");
  CHECK(module && strstr(reprise_module_text(module), "gradient/argument0"),
        "the gradient by the parameter is a result");
  reprise_module_destroy(module);
  CHECK_ERROR(reprise_module_import_stablehlo(session, bad, sizeof bad - 1, "m.mlir", 0, &module),
              REPRISE_BAD_INPUT, "m.mlir:2:8: error: not imported from StableHLO: 'stablehlo.imag'",
              "an op that is missing");
  CHECK_ERROR(reprise_module_import_stablehlo(session, text, sizeof text - 1, "m.mlir", 2, &module),
              REPRISE_BAD_INPUT, "expected up to 1 parameters, got 2", "too many parameters");
}

static void test_options(void) {
  reprise_options *options = reprise_options_create();
  CHECK_ERROR(reprise_options_set(options, "bugdet", "1GiB"), REPRISE_BAD_USAGE,
              "unknown option 'bugdet', did you mean 'budget'?", "an unknown option");
  CHECK_ERROR(reprise_options_set(options, "threads", "many"), REPRISE_BAD_USAGE,
              "expected an integer from 1 to 4096", "an option that is no number");
  CHECK_ERROR(reprise_options_set(options, "unroll", "yes"), REPRISE_BAD_USAGE,
              "expected true or false", "a switch that is neither");
  reprise_options_destroy(options);
}

static reprise_error *compile_with(reprise_module *module, const char *key, const char *value) {
  reprise_options *options = reprise_options_create();
  reprise_compilation *compilation = NULL;
  CHECK_OK(reprise_options_set(options, key, value), "set an option");
  reprise_error *error = reprise_compile(module, options, &compilation);
  CHECK(error && !compilation, "no compilation comes of an error");
  reprise_options_destroy(options);
  return error;
}

/* Checks that an error names a budget that compiles. */
static void test_least_budget(reprise_module *module) {
  char least[32];
  reprise_compilation *compilation = NULL;
  reprise_error *error = compile_with(module, "budget", "8");
  snprintf(least, sizeof least, "%lld", (long long)reprise_error_least_budget(error));
  CHECK(reprise_error_least_budget(error) > 8, "the error has the least budget");
  reprise_error_destroy(error);
  reprise_options *options = reprise_options_create();
  CHECK_OK(reprise_options_set(options, "budget", least), "set the least budget");
  CHECK_OK(reprise_compile(module, options, &compilation), "which is met");
  reprise_compilation_destroy(compilation);
  reprise_options_destroy(options);
  error = compile_with(module, "entry", "tarin");
  CHECK(reprise_error_least_budget(error) == 0, "other errors have none");
  reprise_error_destroy(error);
}

void test_errors(void) {
  reprise_session *session = NULL;
  CHECK_OK(reprise_session_create(&session), "make a session");
  test_bad_model(session);
  test_stablehlo(session);
  test_options();
  reprise_module *module = parse_model(session);
  CHECK_ERROR(compile_with(module, "entry", "tarin"), REPRISE_BAD_USAGE, "tarin",
              "an entry that is not there");
  CHECK_ERROR(compile_with(module, "policy", "save-most"), REPRISE_BAD_USAGE, "save-most",
              "a policy that is not there");
  CHECK_ERROR(compile_with(module, "budget", "lots"), REPRISE_BAD_USAGE, "expected budget",
              "a budget that is no number");
  CHECK_ERROR(compile_with(module, "budget", "8"), REPRISE_BAD_INPUT, "does not fit in 8 bytes",
              "a budget that cannot be met");
  test_least_budget(module);
  CHECK_ERROR(compile_with(module, "device", "cpu"), REPRISE_BAD_USAGE,
              "option 'device' is not one of a compilation", "an option of another call");
  CHECK_ERROR(compile_with(module, "stages", "0"), REPRISE_BAD_USAGE, "expected --stages from 1",
              "no stages");
  reprise_session_destroy(session);
  /* The module keeps the data of the session that it needs. */
  CHECK_OK(reprise_module_verify(module), "a module outlives its session's handle");
  reprise_module_destroy(module);
}

struct follower {
  int calls, end;
  char phases[256];
};

static int follow(void *user, const char *phase) {
  struct follower *follower = user;
  ++follower->calls;
  if (!strstr(follower->phases, phase) && strlen(follower->phases) < 200)
    strcat(strcat(follower->phases, phase), " ");
  return follower->end;
}

static void test_progress(reprise_session *session, reprise_module *module) {
  struct follower follower = {0, 0, ""};
  reprise_compilation *compilation = NULL;
  reprise_session_set_progress(session, follow, &follower);
  CHECK_OK(reprise_compile(module, NULL, &compilation), "a compilation that is followed");
  CHECK(strstr(follower.phases, "autodiff") && strstr(follower.phases, "partition") &&
            strstr(follower.phases, "memory"),
        "progress names the phases");
  reprise_compilation_destroy(compilation);
  compilation = NULL;
  follower.end = 1;
  CHECK_ERROR(reprise_compile(module, NULL, &compilation), REPRISE_CANCELLED, "cancelled",
              "progress cancels");
  CHECK(!compilation, "nothing comes of a cancelled compilation");
  reprise_session_set_progress(session, NULL, NULL);
  CHECK_OK(reprise_compile(module, NULL, &compilation), "the session goes on");
  reprise_compilation_destroy(compilation);
}

static void test_plans(reprise_module *module) {
  reprise_options *options = reprise_options_create();
  reprise_compilation *first = NULL, *second = NULL;
  CHECK_OK(reprise_options_set(options, "policy", "recompute-all"), "set a policy");
  CHECK_OK(reprise_compile(module, options, &first), "compile with a policy");
  reprise_options_destroy(options);
  const char *report = reprise_compilation_report(first, "json");
  CHECK(report && strstr(report, "\"recompute-all\""), "the report as JSON");
  CHECK(strstr(reprise_compilation_report(first, "html"), "<html"), "the report as a page");
  CHECK(reprise_compilation_report(first, "pdf") == NULL, "a format that is not there");
  CHECK(strstr(reprise_compilation_plan(first), "\"values\""), "the plan");
  CHECK(reprise_compilation_explain(first, "nonsense") == NULL, "a value that is not there");
  options = reprise_options_create();
  CHECK_OK(reprise_options_set(options, "plan", reprise_compilation_plan(first)), "set a plan");
  CHECK_OK(reprise_options_set(options, "estimate", "true"), "ask for an estimate");
  CHECK_OK(reprise_compile(module, options, &second), "apply the plan");
  CHECK(reprise_compilation_fits(second), "an estimate without a budget fits");
  reprise_bundle *bundle = NULL;
  CHECK_ERROR(reprise_compilation_get_bundle(second, &bundle), REPRISE_BAD_USAGE, "estimate",
              "an estimate has no bundle");
  reprise_options_destroy(options);
  reprise_compilation_destroy(first);
  reprise_compilation_destroy(second);
}

void test_compile(void) {
  reprise_session *session = NULL;
  CHECK_OK(reprise_session_create(&session), "make a session");
  reprise_module *module = parse_model(session);
  CHECK(strstr(reprise_module_text(module), "reprise.value_and_grad"), "print the module");
  test_progress(session, module);
  test_plans(module);
  reprise_module_destroy(module);
  reprise_session_destroy(session);
}
