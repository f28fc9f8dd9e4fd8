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
/* Writes the bundle to a temporary file beside `path` and renames the file. */
REPRISE_EXPORT reprise_error *reprise_bundle_save(const reprise_bundle *bundle, const char *path);
/* Returns the content of the bundle's file; `size` is in bytes. */
REPRISE_EXPORT const void *reprise_bundle_bytes(const reprise_bundle *bundle, size_t *size);
/* Describes the bundle as JSON: {"version": 1, "entry", "targets", "devices", "threads",
 * "arena_bytes", "persistent_bytes", "workspace_bytes", "pauses", "arguments": [{"name", "role",
 * "dtype", "shape", "batch_dim", "has_initializer", "late", "used_behind_pause"}], "results":
 * [{"name", "dtype", "shape", "argument", "early"}]}; a missing batch_dim or argument is null. */
REPRISE_EXPORT const char *reprise_bundle_description(const reprise_bundle *bundle);

/* ---- functions of the host ---- */

/* Call of a function that the program registers. Tensors lie on the device of the run, row-major
 * without gaps. The data of a result that nothing reads is NULL. Operands must not be written. The
 * struct lives as long as the call. */
typedef struct reprise_call {
  size_t struct_size;
  const char *callee; /* "library:function", of `reprise.custom_call` */
  const DLTensor *operands;
  size_t num_operands;
  const DLTensor *results;
  size_t num_results;
} reprise_call;

/* Computes the results of a call. Runs in the thread that runs the step. On a GPU, which calls
 * functions only in runs in memory of the caller, it enqueues its work on the stream of
 * reprise_run_set_memory; nobody waits for that work. Returns 0, or another
 * number after it has written a message, up to `size` bytes with the final 0; the step fails with
 * this message. Equal operands must give equal results: a plan may repeat a call. */
typedef int (*reprise_call_callback)(void *user, const reprise_call *call, char *message,
                                     size_t size);

/* Registers the callback for all functions of a library in this process; NULL removes the library.
 * Runs that exist keep the callback that they found. Several runs may call at the same time. */
REPRISE_EXPORT reprise_error *reprise_register_calls(const char *library,
                                                     reprise_call_callback callback, void *user);

/* ---- runs ---- */

/* Position of a run: all numbers that the next step's random words and inputs depend on. */
typedef struct reprise_run_state {
  int64_t seed;
  int64_t offset; /* a multiple of 4 */
  int64_t step;   /* number of the next step */
} reprise_run_state;

/* Creates a run and allocates the memory of the step. Options: threads, device (cpu, cuda, or
 * cuda:NUMBER), check-indices, memory (own, or caller: see reprise_run_set_memory); NULL for none.
 */
REPRISE_EXPORT reprise_error *reprise_run_create(const reprise_bundle *bundle,
                                                 const reprise_options *options, reprise_run **run);
REPRISE_EXPORT void reprise_run_destroy(reprise_run *run);

/* Returns the bytes that a run in memory of the caller needs: those of its arena, and of the seed,
 * the offset and the step. 0 for a run with memory of its own. */
REPRISE_EXPORT uint64_t reprise_run_memory_bytes(const reprise_run *run);
/* Lends a run that was created with memory=caller its memory, which lies on the run's GPU at a
 * multiple of 64 bytes, and a stream, a CUstream. Call it before each step; a step that has begun
 * keeps its memory, and may continue on another stream.
 *
 * The run allocates only constants. All arguments are bound. The functions that run a step return
 * as soon as its work is in the stream, so `memory` and bound tensors must be left as they are
 * until that work is done. The caller orders the streams. The offset of the next step is not read:
 * set the state before each step. reprise_run_loss and reprise_run_hash wait for the stream.
 * Without CUDA it is an error. */
REPRISE_EXPORT reprise_error *reprise_run_set_memory(reprise_run *run, void *memory, uint64_t bytes,
                                                     void *stream);

/* Makes the tensor the memory of the argument `name`: steps read the argument there, and update a
 * parameter or state in place. dtype and shape are those of the argument; i1 is kDLBool of 8 bits,
 * or kDLUInt. The memory must outlive the run.
 *
 * A tensor at a multiple of 64 bytes, row-major without gaps, on the run's device, is not copied.
 * On the CPU any other tensor is copied in before each step, and changes are copied back after the
 * step; `is_copied`, which may be NULL, tells. On a GPU such a tensor is an error.
 *
 * Inputs may overlap. A tensor that the step writes must not have negative strides, or strides that
 * let its own elements overlap. A step fails if it finds that a written tensor overlaps another
 * argument. */
REPRISE_EXPORT reprise_error *reprise_run_bind(reprise_run *run, const char *name,
                                               const DLTensor *tensor, int *is_copied);
/* Copies the tensor, which is on the CPU and row-major without gaps, into the argument. An input
 * with one more leading dimension, of 1 or more, holds one value per step number. Another shape is
 * an error.
 *
 * An input is the whole batch, also for replicas: micro-batch m of M has the samples from
 * m * (B / M) + min(m, B % M) on, for any number of replicas. */
REPRISE_EXPORT reprise_error *reprise_run_give(reprise_run *run, const char *name,
                                               const DLTensor *tensor);
/* Reads names of tensors in .safetensors files, as --names does, for later calls. */
REPRISE_EXPORT reprise_error *reprise_run_set_names(reprise_run *run, const char *path);
/* Reads all arrays of a folder, a .safetensors file or its index that are arguments, and run.json,
 * as --input-dir does. */
REPRISE_EXPORT reprise_error *reprise_run_give_folder(reprise_run *run, const char *path);
/* Writes the results of the last step and run.json, as --output-dir does: a folder of .npy files;
 * one file, if the path ends with .safetensors; or a folder of .safetensors files of at most
 * `shard_bytes` bytes each, if that is not 0.
 *
 * If `is_behind` is not 0, the results are copied, and a thread writes the copy while steps run.
 * One such save is outstanding at most; a second one waits for the first one. The folder appears
 * when a later call of this run finds it written: a step, a save, reprise_run_finish_save or
 * reprise_run_destroy. The first three return the error of the thread. */
REPRISE_EXPORT reprise_error *reprise_run_save_folder(reprise_run *run, const char *path,
                                                      uint64_t shard_bytes, int is_behind);
/* Waits for a save behind the steps; without one, returns no error. */
REPRISE_EXPORT reprise_error *reprise_run_finish_save(reprise_run *run);

REPRISE_EXPORT reprise_error *reprise_run_set_state(reprise_run *run,
                                                    const reprise_run_state *state);
REPRISE_EXPORT void reprise_run_get_state(const reprise_run *run, reprise_run_state *state);

/* Initializes parameters and state that were neither bound nor given, and checks that all arguments
 * have values for `steps` steps. */
REPRISE_EXPORT reprise_error *reprise_run_start(reprise_run *run, int64_t steps);
/* Runs a step. A call before reprise_run_start is an error. */
REPRISE_EXPORT reprise_error *reprise_run_step(reprise_run *run);

/* Runs a step with a `reprise.pause` ("pauses" in the description) in two parts; other steps are an
 * error. After the first part the results that the description calls early are complete. Late
 * inputs and late states may be bound or given between the parts, and need no value before.
 *
 * Any argument may be bound again between the parts if its memory has moved: the second part reads
 * the new memory. The memory of an argument that is not used behind the pause may be freed at the
 * pause. The values that the step has kept stay in the arena. reprise_run_step runs both parts.
 * reprise_run_step and the next reprise_run_begin_step drop a step that was begun. */
REPRISE_EXPORT reprise_error *reprise_run_begin_step(reprise_run *run);
REPRISE_EXPORT reprise_error *reprise_run_end_step(reprise_run *run);

/* Returns the result `loss` if it is one floating-point number; otherwise, and before the first
 * step, returns an error. */
REPRISE_EXPORT reprise_error *reprise_run_loss(const reprise_run *run, double *loss);
/* Returns the hash of all results that reprise-run prints, 16 digits, valid until the next call. A
 * call before the first step is an error. */
REPRISE_EXPORT reprise_error *reprise_run_hash(reprise_run *run, const char **hash);
/* Returns the result `name` without a copy, on the run's device. Shape and data are valid until the
 * next step and must not be written. Between the parts of a step only early results are available.
 * If an argument takes the result, the tensor is the argument's memory. An array whose rows lie on
 * several devices is joined by a copy on the CPU, and is an error on GPUs. */
REPRISE_EXPORT reprise_error *reprise_run_result(reprise_run *run, const char *name,
                                                 DLTensor *tensor);

/* Memory of a result that a run has given to the caller. */
typedef struct reprise_memory reprise_memory;

/* Gives the result `name` of a run on the CPU to the caller, who may read and write the data until
 * reprise_memory_destroy, also after reprise_run_destroy; the shape is valid as long. The pages of
 * a large result that lies in the arena move to the caller without a copy, any other result is
 * copied. The run has the result again after the next step; until then requests for the result or
 * the hash are errors. */
REPRISE_EXPORT reprise_error *reprise_run_take_result(reprise_run *run, const char *name,
                                                      DLTensor *tensor, reprise_memory **memory);
REPRISE_EXPORT void reprise_memory_destroy(reprise_memory *memory);

#ifdef __cplusplus
}
#endif

#endif /* REPRISE_C_RUN_H */
