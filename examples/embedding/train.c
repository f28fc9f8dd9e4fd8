/* Compiles a model within a budget, and trains it, in C11.
 *
 * Usage: train-c MODEL.mlir BUDGET STEPS      such as: train-c gpt2.mlir 60% 10 */
#include <reprise-c/Reprise.h>

#include <stdio.h>
#include <stdlib.h>

/* Prints the error, if there is one, and returns whether there was. */
static int failed(reprise_error *error) {
  if (error)
    fputs(reprise_error_text(error), stderr);
  reprise_error_destroy(error);
  return error != NULL;
}

static int train(const reprise_bundle *bundle, long steps) {
  reprise_run *run = NULL;
  double loss = 0;
  int bad = failed(reprise_run_create(bundle, NULL, &run)) ||
            failed(reprise_run_start(run, (uint64_t)steps));
  for (long step = 0; step < steps && !bad; ++step) {
    bad = failed(reprise_run_step(run)) || failed(reprise_run_loss(run, &loss));
    if (!bad)
      printf("step %ld: loss %.6f\n", step, loss);
  }
  reprise_run_destroy(run);
  return bad;
}

static int compile_and_train(const char *text, size_t size, char **argv) {
  reprise_session *session = NULL;
  reprise_module *module = NULL;
  reprise_compilation *compilation = NULL;
  reprise_bundle *bundle = NULL;
  reprise_options *options = reprise_options_create();
  int bad = failed(reprise_options_set(options, "budget", argv[2])) ||
            failed(reprise_session_create(&session)) ||
            failed(reprise_module_parse(session, text, size, argv[1], &module)) ||
            failed(reprise_compile(module, options, &compilation)) ||
            failed(reprise_compilation_get_bundle(compilation, &bundle)) ||
            train(bundle, strtol(argv[3], NULL, 10));
  reprise_options_destroy(options);
  reprise_bundle_destroy(bundle);
  reprise_compilation_destroy(compilation);
  reprise_module_destroy(module);
  reprise_session_destroy(session);
  return bad;
}

int main(int argc, char **argv) {
  static char text[1 << 20];
  FILE *file = argc == 4 ? fopen(argv[1], "rb") : NULL;
  if (!file) {
    fputs("usage: train-c MODEL.mlir BUDGET STEPS\n", stderr);
    return 2;
  }
  size_t size = fread(text, 1, sizeof text, file);
  fclose(file);
  return compile_and_train(text, size, argv);
}
