/* A user of the C API: compiles a model and runs two steps. Usage: embed MODEL */
#include <reprise-c/Reprise.h>

#include <stdio.h>

/* Prints the error, if there is one, and returns whether there was. */
static int failed(reprise_error *error) {
  if (error)
    fputs(reprise_error_text(error), stderr);
  reprise_error_destroy(error);
  return error != NULL;
}

static int run_steps(const reprise_bundle *bundle) {
  reprise_run *run = NULL;
  double loss = 0;
  int bad = failed(reprise_run_create(bundle, NULL, &run)) || failed(reprise_run_start(run, 2));
  for (int step = 0; step < 2 && !bad; ++step) {
    bad = failed(reprise_run_step(run)) || failed(reprise_run_loss(run, &loss));
    if (!bad)
      printf("loss %a\n", loss);
  }
  reprise_run_destroy(run);
  return bad;
}

static int compile(const char *text, size_t size, const char *name) {
  reprise_session *session = NULL;
  reprise_module *module = NULL;
  reprise_compilation *compilation = NULL;
  reprise_bundle *bundle = NULL;
  reprise_options *options = reprise_options_create();
  int bad = failed(reprise_options_set(options, "threads", "1")) ||
            failed(reprise_session_create(&session)) ||
            failed(reprise_module_parse(session, text, size, name, &module)) ||
            failed(reprise_compile(module, options, &compilation)) ||
            failed(reprise_compilation_get_bundle(compilation, &bundle)) || run_steps(bundle);
  reprise_options_destroy(options);
  reprise_bundle_destroy(bundle);
  reprise_compilation_destroy(compilation);
  reprise_module_destroy(module);
  reprise_session_destroy(session);
  return bad;
}

int main(int argc, char **argv) {
  static char text[1 << 16];
  FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
  if (!file)
    return 2;
  size_t size = fread(text, 1, sizeof text, file);
  fclose(file);
  return compile(text, size, argv[1]);
}
