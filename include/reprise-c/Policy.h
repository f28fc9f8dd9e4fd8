/* reprise: policy plugins in C. The interface has no LLVM types and no C++, so that a plugin
 * outlives upgrades of the compiler.
 *
 * A plugin is a shared library that exports one function, rpGetPolicy. It is loaded by
 * --policy=plugin:PATH or --policy=plugin:PATH{JSON}, with options for its `create`.
 *
 * The compiler calls `decide` once per graph, with one slot per op; the plugin writes a requested
 * label for each op. The compiler validates the requests: docs/reference/Policies.md. describes how
 * they combine with other sources. All calls come from one thread.
 *
 * Versions: the compiler refuses a plugin of another major version. A minor version only appends
 * fields: compare `struct_size` (RP_HAS) before reading a field that is newer than 1.0. Strings are
 * not terminated by a zero, and live as long as the call that passes them. */
#ifndef REPRISE_C_POLICY_H
#define REPRISE_C_POLICY_H

#include "reprise-c/Labels.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RP_POLICY_ABI_MAJOR 1u
#define RP_POLICY_ABI_MINOR 1u

/* True if the struct that `pointer` points to is long enough to hold `field`. */
#define RP_HAS(pointer, type, field)                                                               \
  ((pointer)->struct_size >= offsetof(type, field) + sizeof((pointer)->field))

typedef struct rp_string {
  const char *data;
  size_t size; /* bytes */
} rp_string;

typedef enum rp_status { RP_OK = 0, RP_ERROR = 1 } rp_status;

/* Kinds of ops; an op may have several kinds. */
enum {
  RP_KIND_ATTENTION = 1,
  RP_KIND_CONTRACTION = 2,
  RP_KIND_BATCHED = 4, /* a contraction with batch dimensions */
  RP_KIND_CONVOLUTION = 8,
  RP_KIND_ELEMENTWISE = 16,
  RP_KIND_NORMALIZATION = 32,
  RP_KIND_RANDOM = 64,
  RP_KIND_REDUCTION = 128,
  /* View of the memory of the first operand, such as a reshape. Operand and result share their
   * labels, and different MUSTs are an error. */
  RP_KIND_VIEW = 256
};

/* Number in place of an op for values that no op defines: arguments and constants. */
#define RP_NO_OP UINT32_MAX

/* The forward graph. Ops have the numbers 0 to num_ops - 1, in program order; values have a
 * numbering of their own. */
typedef struct rp_graph rp_graph;

typedef struct rp_op_info {
  size_t struct_size; /* set by the caller; the host fills no further fields */
  rp_string op;       /* such as reprise.dot_general */
  rp_string scope;    /* such as layer/3/attention; empty: none */
  rp_string location; /* FILE:LINE:COLUMN; empty: unknown */
  uint64_t bytes;     /* of all results */
  uint64_t flops;     /* of one execution */
  uint32_t kinds;     /* RP_KIND_ bits */
  uint32_t num_operands, num_results;
} rp_op_info;

typedef struct rp_value_info {
  size_t struct_size;
  rp_string dtype;      /* f32, bf16, ... */
  const int64_t *shape; /* `rank` sizes */
  uint32_t rank;
  uint32_t op; /* op that defines the value, or RP_NO_OP */
  uint64_t bytes;
  uint32_t num_users; /* ops that read the value, each counted once */
  uint32_t num_names; /* names that reprise.name gives the value */
} rp_value_info;

/* Functions that the compiler offers to plugins. Each function returns RP_ERROR, and writes
 * nothing, for a number that is out of range. */
typedef struct rp_host {
  size_t struct_size;
  void *context;
  /* Explains a failure; the last message before RP_ERROR is shown. */
  void (*fail)(void *context, rp_string message);
  size_t (*num_ops)(const rp_graph *graph);
  rp_status (*op_info)(const rp_graph *graph, uint32_t op, rp_op_info *info);
  rp_status (*operand)(const rp_graph *graph, uint32_t op, uint32_t index, uint32_t *value);
  rp_status (*result)(const rp_graph *graph, uint32_t op, uint32_t index, uint32_t *value);
  rp_status (*value_info)(const rp_graph *graph, uint32_t value, rp_value_info *info);
  rp_status (*user)(const rp_graph *graph, uint32_t value, uint32_t index, uint32_t *op);
  rp_status (*name)(const rp_graph *graph, uint32_t value, uint32_t index, rp_string *name);
} rp_host;

typedef struct rp_policy {
  size_t struct_size;
  uint32_t abi_major, abi_minor; /* versions of the header that the plugin was built with */
  rp_string name, version;
  /* Creates an instance from the options, a JSON text, which is empty if no options were given. May
   * be null. */
  rp_status (*create)(const rp_host *host, rp_string options, void **self);
  /* Frees an instance. May be null. */
  void (*destroy)(void *self);
  /* Writes one label per op; all labels are RP_NO_LABEL before the call. Must not be null. */
  rp_status (*decide)(void *self, const rp_host *host, const rp_graph *graph, uint8_t *labels,
                      size_t num_ops);
  /* Explains for reports why an op got its label. May be null. A reason that is a null string with
   * a size is an error. Since 1.1. */
  rp_status (*explain)(void *self, uint32_t op, rp_string *reason);
} rp_policy;

#if defined(_WIN32)
#define RP_EXPORT __declspec(dllexport)
#else
#define RP_EXPORT __attribute__((visibility("default")))
#endif

/* The plugin's only export. Returns a table that lives as long as the library, or null if the
 * plugin cannot work with a compiler of this ABI. */
typedef const rp_policy *(*rp_get_policy)(uint32_t host_major, uint32_t host_minor);
RP_EXPORT const rp_policy *rpGetPolicy(uint32_t host_major, uint32_t host_minor);

#ifdef __cplusplus
}
#endif

#endif /* REPRISE_C_POLICY_H */
