/* reprise: policy plugins in C. No LLVM types, no C++: a plugin outlives upgrades of the compiler.
 *
 * A plugin is a shared library that exports one function, rpGetPolicy. It is used by
 * --policy=plugin:PATH or --policy=plugin:PATH{JSON}, with options for its `create`.
 *
 * The compiler calls `decide` once per graph, with one slot per op; the plugin writes what it wants
 * for the results of each op. It requests, and the compiler validates: what a request means beside
 * other sources is in docs/reference/Policies.md. All calls come from one thread.
 *
 * Versions: another major breaks, and the compiler refuses it. A minor only appends fields: look at
 * `struct_size` (RP_HAS) before reading one that came later than 1.0. Strings are not terminated by
 * a zero, and live as long as the call in which they are given. */
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

/* Whether the struct that `pointer` points to is long enough to hold `field`. */
#define RP_HAS(pointer, type, field)                                                               \
  ((pointer)->struct_size >= offsetof(type, field) + sizeof((pointer)->field))

typedef struct rp_string {
  const char *data;
  size_t size; /* bytes */
} rp_string;

typedef enum rp_status { RP_OK = 0, RP_ERROR = 1 } rp_status;

/* What an op does; an op may do several things. */
enum {
  RP_KIND_ATTENTION = 1,
  RP_KIND_CONTRACTION = 2,
  RP_KIND_BATCHED = 4, /* a contraction with batch dimensions */
  RP_KIND_CONVOLUTION = 8,
  RP_KIND_ELEMENTWISE = 16,
  RP_KIND_NORMALIZATION = 32,
  RP_KIND_RANDOM = 64,
  RP_KIND_REDUCTION = 128,
  /* Shows the memory of its first operand, such as a reshape: labels of both are labels of one
   * memory, and different MUSTs are an error. */
  RP_KIND_VIEW = 256
};

/* Of a value that no op of the graph defines: an argument, a constant. */
#define RP_NO_OP UINT32_MAX

/* The forward graph. Ops have the numbers 0 to num_ops - 1, in program order; values have numbers
 * of their own. */
typedef struct rp_graph rp_graph;

typedef struct rp_op_info {
  size_t struct_size; /* set by the caller; the host fills no more than that */
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
  uint32_t op; /* that defines it, or RP_NO_OP */
  uint64_t bytes;
  uint32_t num_users; /* ops that read it, each once */
  uint32_t num_names; /* that reprise.name gives it */
} rp_value_info;

/* What the compiler offers. All functions return RP_ERROR, and write nothing, for a number that is
 * out of range. */
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
  uint32_t abi_major, abi_minor; /* of the header that the plugin was built with */
  rp_string name, version;
  /* Makes an instance from the options, a JSON text, empty if none were given. May be null. */
  rp_status (*create)(const rp_host *host, rp_string options, void **self);
  /* Frees an instance. May be null. */
  void (*destroy)(void *self);
  /* Writes one label per op; all are RP_NO_LABEL before. Must not be null. */
  rp_status (*decide)(void *self, const rp_host *host, const rp_graph *graph, uint8_t *labels,
                      size_t num_ops);
  /* Since 1.1: why an op got its label, for reports. May be null. A reason that is a null string
   * with a size is an error. */
  rp_status (*explain)(void *self, uint32_t op, rp_string *reason);
} rp_policy;

#if defined(_WIN32)
#define RP_EXPORT __declspec(dllexport)
#else
#define RP_EXPORT __attribute__((visibility("default")))
#endif

/* The plugin's one export. Returns a table that lives as long as the library, or null if it cannot
 * work with a compiler of this ABI. */
typedef const rp_policy *(*rp_get_policy)(uint32_t host_major, uint32_t host_minor);
RP_EXPORT const rp_policy *rpGetPolicy(uint32_t host_major, uint32_t host_minor);

#ifdef __cplusplus
}
#endif

#endif /* REPRISE_C_POLICY_H */
