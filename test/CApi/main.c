/* reprise: the C API, used from C11. Usage: c-api-tests MODEL.mlir [cuda]. The last line is
 * "N passed, N failed". */
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>

char *model_text;
static int passed, failed;

int check(int good, const char *what, const char *file, int line) {
  if (good) {
    ++passed;
    printf("ok: %s\n", what);
  } else {
    ++failed;
    printf("failed: %s (%s:%d)\n", what, file, line);
  }
  return good;
}

int check_ok(reprise_error *error, const char *what, const char *file, int line) {
  if (error)
    printf("%s", reprise_error_text(error));
  check(!error, what, file, line);
  reprise_error_destroy(error);
  return !error;
}

int check_error(reprise_error *error, reprise_error_code code, const char *text, const char *what,
                const char *file, int line) {
  int good = error && reprise_error_get_code(error) == code &&
             strstr(reprise_error_text(error), text) != NULL;
  if (error && !good)
    printf("code %d: %s", (int)reprise_error_get_code(error), reprise_error_text(error));
  check(good, what, file, line);
  reprise_error_destroy(error);
  return good;
}

reprise_module *parse_model(reprise_session *session) {
  reprise_module *module = NULL;
  CHECK_OK(reprise_module_parse(session, model_text, strlen(model_text), "model.mlir", &module),
           "parse");
  return module;
}

reprise_bundle *compile_module(reprise_module *module, ...) {
  reprise_options *options = reprise_options_create();
  va_list list;
  va_start(list, module);
  for (const char *key; (key = va_arg(list, const char *)) != NULL;)
    CHECK_OK(reprise_options_set(options, key, va_arg(list, const char *)), "set an option");
  va_end(list);
  reprise_compilation *compilation = NULL;
  reprise_bundle *bundle = NULL;
  if (CHECK_OK(reprise_compile(module, options, &compilation), "compile"))
    CHECK_OK(reprise_compilation_get_bundle(compilation, &bundle), "take the bundle");
  reprise_compilation_destroy(compilation);
  reprise_options_destroy(options);
  return bundle;
}

DLTensor float_tensor(void *data, int64_t *shape, int rank) {
  DLTensor tensor;
  memset(&tensor, 0, sizeof tensor);
  tensor.data = data;
  tensor.device.device_type = kDLCPU;
  tensor.ndim = rank;
  tensor.dtype.code = kDLFloat;
  tensor.dtype.bits = 32;
  tensor.dtype.lanes = 1;
  tensor.shape = shape;
  return tensor;
}

void hash_steps(reprise_run *run, int steps, char hash[32]) {
  reprise_run_state state = {7, 0, 0};
  const char *text = "";
  CHECK_OK(reprise_run_set_state(run, &state), "set the seed");
  CHECK_OK(reprise_run_start(run, steps), "start");
  for (int i = 0; i < steps; ++i)
    CHECK_OK(reprise_run_step(run), "step");
  CHECK_OK(reprise_run_hash(run, &text), "hash");
  snprintf(hash, 32, "%s", text);
}

static char *read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file)
    return NULL;
  char *text = calloc(1, 1 << 16);
  size_t size = fread(text, 1, (1 << 16) - 1, file);
  fclose(file);
  text[size] = 0;
  return text;
}

static int forks;
static void count_fork(void) { ++forks; }

/* Collects the handlers of the signals that programs handle. */
static void get_handlers(void (*handlers[])(int)) {
  static const int numbers[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGINT, SIGTERM, SIGHUP, SIGPIPE};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
    struct sigaction action;
    sigaction(numbers[i], NULL, &action);
    handlers[i] = action.sa_handler;
  }
}

int main(int argc, char **argv) {
  if (argc < 2 || !(model_text = read_file(argv[1])))
    return 2;
  void (*before[8])(int), (*after[8])(int);
  pthread_atfork(count_fork, NULL, NULL);
  get_handlers(before);
  CHECK(reprise_version() == REPRISE_API_VERSION, "the library is that of the header");
  if (argc > 2) {
    test_cuda();
  } else {
    test_errors();
    test_compile();
    test_build();
    test_plan();
    test_run();
    test_pause();
    test_calls();
    test_policy();
    test_threads();
    test_refuse();
  }
  free(model_text);
  get_handlers(after);
  CHECK(forks == 0, "the process was never forked");
  CHECK(memcmp(before, after, sizeof before) == 0, "all signals have their handlers");
  printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}
