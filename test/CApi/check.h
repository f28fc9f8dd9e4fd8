/* reprise: what the programs of this folder share: checks, errors, models */
#ifndef REPRISE_TEST_CAPI_CHECK_H
#define REPRISE_TEST_CAPI_CHECK_H

#include "reprise-c/Reprise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Prints "ok: WHAT" or "failed: WHAT", and counts. */
#define CHECK(condition, what) check((condition) != 0, what, __FILE__, __LINE__)
/* The error is NULL; else it is printed and destroyed. */
#define CHECK_OK(error, what) check_ok(error, what, __FILE__, __LINE__)
/* The error holds the text, and is destroyed. */
#define CHECK_ERROR(error, code, text, what)                                                       \
  check_error(error, code, text, what, __FILE__, __LINE__)

int check(int good, const char *what, const char *file, int line);
int check_ok(reprise_error *error, const char *what, const char *file, int line);
int check_error(reprise_error *error, reprise_error_code code, const char *text, const char *what,
                const char *file, int line);

/* The model of the consumers' test, read once. */
extern char *model_text;

/* The model's module, or NULL after a failed check. */
reprise_module *parse_model(reprise_session *session);
/* A bundle of a module, with options as key, value, ..., NULL. */
reprise_bundle *compile_module(reprise_module *module, ...);
/* A row-major tensor of f32 in the CPU's memory. */
DLTensor float_tensor(void *data, int64_t *shape, int rank);
/* The hash of the results of so many steps of a run. */
void hash_steps(reprise_run *run, int steps, char hash[32]);

void test_errors(void);
void test_compile(void);
void test_build(void);
void test_plan(void);
void test_run(void);
void test_calls(void);
void test_pause(void);
void test_policy(void);
void test_threads(void);
void test_refuse(void);
void test_cuda(void);

#endif
