/* reprise: the compiler, its planners and its runtime in C, without LLVM types and C++.
 *
 * docs/reference/Embedding.md is the guide. In short:
 *
 * - A session holds a compiler; all other objects are created with a session. Objects may be
 *   destroyed in any order; destroying NULL has no effect. A session and its objects are for one
 *   thread at a time; sessions are independent.
 * - A function that can fail returns an error, which the caller destroys, or NULL. On an error the
 *   outputs of the function are unchanged. NULL in place of a required object, text, struct or
 *   output is such an error, REPRISE_BAD_USAGE; an array without elements may be NULL. Functions
 *   that cannot fail ignore NULL, and return 0, NULL or an empty text.
 * - Returned texts end with a zero, and live as long as their object unless the function says
 *   otherwise.
 * - The host's process stays as it is: no fork, no signal handler, no exit, no output, no locale.
 *   Running out of memory ends the process. Models and bundles must come from a trusted source: the
 *   parsers of MLIR crash on some hostile inputs. Deeply nested models need a stack of 8 MiB.
 *
 * Versions: functions and fields are only added, at the end of structs, which state their size. */
#ifndef REPRISE_C_REPRISE_H
#define REPRISE_C_REPRISE_H

#include "reprise-c/Policy.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this header: major in the thousands, minor below. A library of another major version,
 * or of a lower minor version, does not match. */
#define REPRISE_API_VERSION 1005

#if defined(_WIN32)
#define REPRISE_EXPORT
#else
#define REPRISE_EXPORT __attribute__((visibility("default")))
#endif

typedef struct reprise_error reprise_error;
typedef struct reprise_session reprise_session;
typedef struct reprise_options reprise_options;
typedef struct reprise_module reprise_module;
typedef struct reprise_builder reprise_builder;
typedef struct reprise_compilation reprise_compilation;
typedef struct reprise_plan reprise_plan;
typedef struct reprise_bundle reprise_bundle;
typedef struct reprise_run reprise_run;

/* Returns REPRISE_API_VERSION of the library. */
REPRISE_EXPORT int reprise_version(void);
/* Returns the version of the compiler, such as "0.1.0". */
REPRISE_EXPORT const char *reprise_compiler_version(void);

/* ---- errors and messages ---- */

typedef enum reprise_severity {
  REPRISE_NOTE = 0, /* belongs to the message before it */
  REPRISE_REMARK = 1,
  REPRISE_WARNING = 2,
  REPRISE_ERROR = 3
} reprise_severity;

typedef enum reprise_error_code {
  REPRISE_BAD_INPUT = 1, /* the model, a file or a value; reprise-compile would end with 1 */
  REPRISE_BAD_USAGE = 2, /* an option, an argument of a function */
  REPRISE_CANCELLED = 3  /* by the progress callback */
} reprise_error_code;

/* Message to a callback. The struct and its texts live as long as the call of the callback. */
typedef struct reprise_diagnostic {
  size_t struct_size;
  reprise_severity severity;
  const char *message;   /* lower case, no full stop; starts with "in SCOPE: " if it has a scope */
  const char *file;      /* empty: unknown */
  unsigned line, column; /* from 1; 0: unknown */
} reprise_diagnostic;

/* Returns the first message. */
REPRISE_EXPORT const char *reprise_error_message(const reprise_error *error);
REPRISE_EXPORT reprise_error_code reprise_error_get_code(const reprise_error *error);
/* Returns the place of the first message; "", 0 and 0 if the place is unknown. */
REPRISE_EXPORT const char *reprise_error_file(const reprise_error *error);
REPRISE_EXPORT unsigned reprise_error_line(const reprise_error *error);
REPRISE_EXPORT unsigned reprise_error_column(const reprise_error *error);
/* Returns all messages as a compiler prints them: "FILE:LINE:COLUMN: error: MESSAGE", and so on. */
REPRISE_EXPORT const char *reprise_error_text(const reprise_error *error);
/* Returns the smallest budget, in bytes, for which a plan is known, if no plan met the given
 * budget; otherwise 0. */
REPRISE_EXPORT int64_t reprise_error_least_budget(const reprise_error *error);
REPRISE_EXPORT void reprise_error_destroy(reprise_error *error);

/* ---- sessions ---- */

REPRISE_EXPORT reprise_error *reprise_session_create(reprise_session **session);
REPRISE_EXPORT void reprise_session_destroy(reprise_session *session);

/* Receives every message: errors, warnings, notes, remarks. The callback runs in the thread that
 * calls the session, or in a worker thread of the session, one call at a time. */
typedef void (*reprise_diagnostic_callback)(void *user, const reprise_diagnostic *diagnostic);
REPRISE_EXPORT void reprise_session_set_diagnostics(reprise_session *session,
                                                    reprise_diagnostic_callback callback,
                                                    void *user);

/* Receives, often, the current phase of a compilation: "import" to "memory", "plan", "target". A
 * result other than 0 cancels the compilation, which then fails with REPRISE_CANCELLED. The
 * callback runs in the same threads as the diagnostic callback. */
typedef int (*reprise_progress_callback)(void *user, const char *phase);
REPRISE_EXPORT void reprise_session_set_progress(reprise_session *session,
                                                 reprise_progress_callback callback, void *user);

/* Adds a policy of the host under a name for the option "policy". The policy is a table as plugins
 * have it: `decide` and `explain` receive `self`; `create` and `destroy` are not called. The table
 * and `self` must outlive the session. Errors are:
 * - a name that is taken, or that "policy" reads as something else (empty, @NAME, PATH.json,
 *   plugin:PATH, with parentheses, braces, brackets or commas);
 * - a table that is too short, is of another major version, or has no name or no `decide`. */
REPRISE_EXPORT reprise_error *reprise_session_add_policy(reprise_session *session, const char *name,
                                                         const rp_policy *policy, void *self);

/* ---- options ---- */

/* Creates an empty set of options. The keys of a compilation are the flags of reprise-compile
 * without dashes: entry, target, threads, microbatches, lanes, mesh, gathers, model-lanes, shards,
 * stages, schedule, chunks, checkpoint, unroll, contractions, policy, allow-unmatched-rules,
 * ignore-checkpoints, budget, time-limit, plan-in, device-file, profile, verify-replays, estimate;
 * and "plan", the text of a plan instead of its file. The keys of a run are threads, device (cpu,
 * cuda, cuda:NUMBER), memory (own, caller) and check-indices. Switches have the values "true" and
 * "false". */
REPRISE_EXPORT reprise_options *reprise_options_create(void);
REPRISE_EXPORT void reprise_options_destroy(reprise_options *options);
/* Sets an option. Values of a key that may be repeated, such as policy, are appended; for all other
 * keys the last value counts. An unknown key and an invalid value are errors. */
REPRISE_EXPORT reprise_error *reprise_options_set(reprise_options *options, const char *key,
                                                  const char *value);

/* ---- modules: from a text or bytecode ---- */

/* Parses and verifies a module. `name` is the file name in messages. */
REPRISE_EXPORT reprise_error *reprise_module_parse(reprise_session *session, const void *data,
                                                   size_t size, const char *name,
                                                   reprise_module **module);
/* Parses a text of StableHLO, such as JAX writes, and converts it to a model, as the pass
 * import-stablehlo does. The entries are "forward" and, if the first `parameters` arguments are
 * parameters, "grad". Since 1001. */
REPRISE_EXPORT reprise_error *reprise_module_import_stablehlo(reprise_session *session,
                                                              const void *data, size_t size,
                                                              const char *name, size_t parameters,
                                                              reprise_module **module);
REPRISE_EXPORT void reprise_module_destroy(reprise_module *module);
/* Verifies the module again; parsing has verified it already. */
REPRISE_EXPORT reprise_error *reprise_module_verify(reprise_module *module);
/* Returns the module as text, which is valid until the next call. */
REPRISE_EXPORT const char *reprise_module_text(reprise_module *module);

/* ---- modules: op by op, without a text ---- */

/* Number of a value in a function that is being built. */
typedef uint32_t reprise_value;

typedef enum reprise_attribute_kind {
  REPRISE_ATTRIBUTE_TEXT = 0,     /* `text`, as MLIR writes attributes: "0.1 : f32" */
  REPRISE_ATTRIBUTE_STRING = 1,   /* `text`, a string as it is */
  REPRISE_ATTRIBUTE_SYMBOL = 2,   /* `text`, the name of a function */
  REPRISE_ATTRIBUTE_INTEGER = 3,  /* `integers[0]`, an i64 */
  REPRISE_ATTRIBUTE_FLOAT = 4,    /* `number`, an f32 */
  REPRISE_ATTRIBUTE_INTEGERS = 5, /* `integers`, an array of i64 */
  REPRISE_ATTRIBUTE_UNIT = 6      /* no value: the attribute is present or not */
} reprise_attribute_kind;

typedef struct reprise_attribute {
  size_t struct_size;
  const char *name;
  reprise_attribute_kind kind;
  const char *text;
  const int64_t *integers;
  size_t num_integers;
  double number;
} reprise_attribute;

typedef struct reprise_op {
  size_t struct_size;
  const char *name; /* such as "reprise.add" */
  const reprise_value *operands;
  size_t num_operands;
  const char *const *result_types; /* such as "tensor<8x16xf32>" */
  size_t num_results;
  const reprise_attribute *attributes;
  size_t num_attributes;
  const char *scope; /* such as "layer/3/attention", or NULL */
  const char *file;  /* place in the user's source, or NULL */
  unsigned line, column;
  size_t num_empty_regions; /* 1 for reprise.value_and_grad of a function */
} reprise_op;

/* Creates a builder with an empty module. `name` stands for its file in reports and messages. */
REPRISE_EXPORT reprise_error *reprise_builder_create(reprise_session *session, const char *name,
                                                     reprise_builder **builder);
REPRISE_EXPORT void reprise_builder_destroy(reprise_builder *builder);
/* Begins a function; the following ops are its body. Arguments get the first values, from 0 on. */
REPRISE_EXPORT reprise_error *reprise_builder_begin_function(reprise_builder *builder,
                                                             const char *name,
                                                             const char *const *argument_types,
                                                             size_t num_arguments,
                                                             reprise_value *arguments);
/* Sets an attribute of an argument or, before the function's end, of a future result:
 * "reprise.role", … */
REPRISE_EXPORT reprise_error *reprise_builder_set_argument(reprise_builder *builder, size_t index,
                                                           const reprise_attribute *attribute);
REPRISE_EXPORT reprise_error *reprise_builder_set_result(reprise_builder *builder, size_t index,
                                                         const reprise_attribute *attribute);
/* Adds an op without regions; `results` has room for num_results values. */
REPRISE_EXPORT reprise_error *reprise_builder_add(reprise_builder *builder, const reprise_op *op,
                                                  reprise_value *results);
/* Begins an op with one region, such as reprise.checkpoint. The following ops are in the region, up
 * to reprise_builder_close, which returns the op's results. The last op of the region is
 * reprise.yield. */
REPRISE_EXPORT reprise_error *reprise_builder_open(reprise_builder *builder, const reprise_op *op,
                                                   const char *const *argument_types,
                                                   size_t num_arguments, reprise_value *arguments);
REPRISE_EXPORT reprise_error *reprise_builder_close(reprise_builder *builder,
                                                    reprise_value *results);
/* Ends the function, which returns `values`. */
REPRISE_EXPORT reprise_error *
reprise_builder_return(reprise_builder *builder, const reprise_value *values, size_t num_values);
/* Verifies and returns the module; the builder is empty afterwards. */
REPRISE_EXPORT reprise_error *reprise_builder_finish(reprise_builder *builder,
                                                     reprise_module **module);

/* ---- compiling ---- */

/* Compiles a copy of the module. `options` may be NULL. */
REPRISE_EXPORT reprise_error *reprise_compile(reprise_module *module,
                                              const reprise_options *options,
                                              reprise_compilation **compilation);
REPRISE_EXPORT void reprise_compilation_destroy(reprise_compilation *compilation);
/* Returns the bundle as an object of its own. An estimate has no bundle, which is an error. */
REPRISE_EXPORT reprise_error *reprise_compilation_get_bundle(reprise_compilation *compilation,
                                                             reprise_bundle **bundle);
/* Returns the report: "json" (docs/reference/schemas/report.schema.json), "html" or "txt"; NULL for
 * another format. */
REPRISE_EXPORT const char *reprise_compilation_report(reprise_compilation *compilation,
                                                      const char *format);
/* Returns the plan as --plan-out writes it (docs/reference/schemas/plan.schema.json). */
REPRISE_EXPORT const char *reprise_compilation_plan(reprise_compilation *compilation);
/* Explains the plan's decision about a value and its reason; NULL if no value has this id or name.
 * The text is valid until the next call. */
REPRISE_EXPORT const char *reprise_compilation_explain(reprise_compilation *compilation,
                                                       const char *value);
/* Returns 1 if the compilation fits its budget; only an estimate can return 0. */
REPRISE_EXPORT int reprise_compilation_fits(const reprise_compilation *compilation);

/* ---- planning without IR ---- */

/* Plans a problem as reprise-plan does. `kind` is "checkpoint"
 * (docs/reference/schemas/planning-problem.schema.json, or a graph of networkx), "offsets" (CSV) or
 * "pipeline" (docs/reference/schemas/pipeline-problem.schema.json). `options` are the flags of
 * reprise-plan: budget (repeated), time-limit, or-least; capacity; schedule (repeated). A budget
 * that no plan meets is not an error: the summary reports it. */
REPRISE_EXPORT reprise_error *reprise_plan_problem(reprise_session *session, const char *kind,
                                                   const char *problem, size_t size,
                                                   const reprise_options *options,
                                                   reprise_plan **plan);
REPRISE_EXPORT void reprise_plan_destroy(reprise_plan *plan);
/* Returns the text that `reprise-plan --json` prints. */
REPRISE_EXPORT const char *reprise_plan_summary(const reprise_plan *plan);
/* Returns the number of plans, one per budget or schedule, and the text that `reprise-plan -o`
 * writes for a plan; the text is empty if no plan was found. */
REPRISE_EXPORT size_t reprise_plan_count(const reprise_plan *plan);
REPRISE_EXPORT const char *reprise_plan_solution(const reprise_plan *plan, size_t index);

#ifdef __cplusplus
}
#endif

/* Functions for bundles and their runs. */
#include "reprise-c/Run.h"

#endif /* REPRISE_C_REPRISE_H */
