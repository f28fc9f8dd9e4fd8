/* reprise: bundles and their runs on memory of the caller, the second half of Reprise.h */
#ifndef REPRISE_C_RUN_H
#define REPRISE_C_RUN_H

#include "reprise-c/Reprise.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- DLPack, as dlpack.h 1.0 has it; that header may be included before this one ---- */

#ifndef DLPACK_DLPACK_H_
typedef enum { kDLCPU = 1, kDLCUDA = 2 } DLDeviceType;

typedef struct {
  DLDeviceType device_type;
  int32_t device_id;
} DLDevice;

typedef enum { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLBfloat = 4, kDLBool = 6 } DLDataTypeCode;

typedef struct {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
} DLDataType;

typedef struct {
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape;
  int64_t *strides; /* in elements; NULL: row-major without gaps */
  uint64_t byte_offset;
} DLTensor;
#endif

/* ---- bundles ---- */

REPRISE_EXPORT reprise_error *reprise_bundle_load(reprise_session *session, const char *path,
                                                  reprise_bundle **bundle);
REPRISE_EXPORT reprise_error *reprise_bundle_read(reprise_session *session, const void *data,
                                                  size_t size, reprise_bundle **bundle);
REPRISE_EXPORT void reprise_bundle_destroy(reprise_bundle *bundle);
/* Writes the file beside `path` and renames it. */
REPRISE_EXPORT reprise_error *reprise_bundle_save(const reprise_bundle *bundle, const char *path);
/* What the file holds. */
REPRISE_EXPORT const void *reprise_bundle_bytes(const reprise_bundle *bundle, size_t *size);
/* {"version": 1, "entry", "targets", "devices", "threads", "arena_bytes", "persistent_bytes",
 * "workspace_bytes", "pauses", "arguments": [{"name", "role", "dtype", "shape", "batch_dim",
 * "has_initializer", "late", "used_behind_pause"}], "results": [{"name", "dtype", "shape",
 * "argument", "early"}]}; batch_dim and argument are null where there is none. */
REPRISE_EXPORT const char *reprise_bundle_description(const reprise_bundle *bundle);

/* ---- runs ---- */

/* Where a run stands: all that the next step's random words and inputs depend on. */
typedef struct reprise_run_state {
  int64_t seed;
  int64_t offset; /* a multiple of 4 */
  int64_t step;   /* number of the next step */
} reprise_run_state;

/* Allocates what the step needs. Options: threads, device, check-indices; NULL for none. */
REPRISE_EXPORT reprise_error *reprise_run_create(const reprise_bundle *bundle,
                                                 const reprise_options *options, reprise_run **run);
REPRISE_EXPORT void reprise_run_destroy(reprise_run *run);

/* Makes the tensor the memory of the argument `name`: steps read it there, and update a parameter
 * or state in place. Nothing is copied if it lies at a multiple of 64 bytes, row-major without
 * gaps, on the run's device. Otherwise, on the CPU, it is copied in before each step, and what the
 * step has changed is copied back after it. `is_copied`, which may be NULL, tells. On a GPU such a
 * tensor is an error. The memory outlives the run; dtype and shape are the argument's. Inputs may
 * overlap; the tensor of what the step writes must not have negative strides, or strides that let
 * its own elements overlap; a step fails that finds what it writes in another argument. i1 is
 * kDLBool of 8 bits, or kDLUInt. */
REPRISE_EXPORT reprise_error *reprise_run_bind(reprise_run *run, const char *name,
                                               const DLTensor *tensor, int *is_copied);
/* Gives the argument a copy of the tensor, which is on the CPU and row-major without gaps. An input
 * with one more leading dimension, of 1 or more, holds one value per step, by its number. Another
 * shape is an error. */
REPRISE_EXPORT reprise_error *reprise_run_give(reprise_run *run, const char *name,
                                               const DLTensor *tensor);
/* Takes all arrays of a folder that are arguments, and its run.json, as --input-dir does. */
REPRISE_EXPORT reprise_error *reprise_run_give_folder(reprise_run *run, const char *path);

REPRISE_EXPORT reprise_error *reprise_run_set_state(reprise_run *run,
                                                    const reprise_run_state *state);
REPRISE_EXPORT void reprise_run_get_state(const reprise_run *run, reprise_run_state *state);

/* Makes parameters and state that were neither bound nor given, and sees that all arguments have
 * values for that many steps. */
REPRISE_EXPORT reprise_error *reprise_run_start(reprise_run *run, int64_t steps);
/* An error before the run was started. */
REPRISE_EXPORT reprise_error *reprise_run_step(reprise_run *run);

/* A step in two parts, where the step has a `reprise.pause` ("pauses" in the description); else an
 * error. Behind the first part there are the results that the description calls early; late inputs
 * may be bound or given between the parts, and need no value before. So may a state that is late.
 * Any argument may be bound again between the parts, since its memory has moved: the second part
 * reads it there. Memory of an argument that is not used behind the pause need not be there by
 * then. What the step has kept waits in the arena. reprise_run_step does both parts, and gives up a
 * step that was begun, as the next reprise_run_begin_step does. */
REPRISE_EXPORT reprise_error *reprise_run_begin_step(reprise_run *run);
REPRISE_EXPORT reprise_error *reprise_run_end_step(reprise_run *run);

/* The result `loss`, if it is one floating-point number; else, and before the first step, an error.
 */
REPRISE_EXPORT reprise_error *reprise_run_loss(const reprise_run *run, double *loss);
/* The hash of all results that reprise-run prints, 16 digits; a later call replaces the text. An
 * error before the first step. */
REPRISE_EXPORT reprise_error *reprise_run_hash(reprise_run *run, const char **hash);
/* The result `name` where it lies, on the run's device: nothing is copied. Shape and data are valid
 * until the next step, and are not to be written to. Between the parts of a step only early ones.
 * Of a result that an argument takes, this is the argument's memory. An error for an array whose
 * rows lie on several devices. */
REPRISE_EXPORT reprise_error *reprise_run_result(reprise_run *run, const char *name,
                                                 DLTensor *tensor);

#ifdef __cplusplus
}
#endif

#endif /* REPRISE_C_RUN_H */
