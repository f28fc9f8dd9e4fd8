// reprise: the functions of cuBLASLt, opened at the first call of a bundle
//
// Names, types and numbers are those of the library's binary interface (cuBLASLt, versions 12 and
// 13); utils/gpu-check/library-headers.py compares them with its headers.
#ifndef REPRISE_LIB_RUNTIME_CUBLASLT_H
#define REPRISE_LIB_RUNTIME_CUBLASLT_H

#include "CudaDriver.h"

namespace reprise::runtime::cublaslt {

using Handle = struct HandleTag *;
using Description = struct DescriptionTag *;
using Layout = struct LayoutTag *;
using Preference = struct PreferenceTag *;

struct Algorithm {
  uint64_t data[8];
};
struct Heuristic {
  Algorithm algorithm;
  size_t workspaceBytes;
  int state;
  float waves;
  int reserved[4];
};

constexpr int compute32F = 68;                         // CUBLAS_COMPUTE_32F
constexpr int typeF32 = 0, typeF16 = 2, typeBF16 = 14; // CUDA_R_32F, CUDA_R_16F, CUDA_R_16BF
constexpr int transA = 3, transB = 4;                  // CUBLASLT_MATMUL_DESC_TRANSA, …
constexpr int epilogue = 7, biasPointer = 8;           // CUBLASLT_MATMUL_DESC_EPILOGUE, …
constexpr uint32_t epilogueBias = 4;                   // CUBLASLT_EPILOGUE_BIAS
constexpr int32_t operationN = 0, operationT = 1;      // CUBLAS_OP_N, CUBLAS_OP_T
constexpr int layoutBatch = 5, layoutStride = 6;       // CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, …
constexpr int preferWorkspace = 1, preferReductions = 3,
              preferAlignmentA = 5; // CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, …; B, C, D follow
constexpr int configReduction = 3;  // CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME
/// Parts of a sum are stored and added in one order, in the type of the computation. The other
/// schemes count with atomics or round parts.
constexpr uint32_t reductionNone = 0, reductionComputeType = 2;

/// X(member, name in the library, result, parameters)
#define REPRISE_CUBLASLT_FUNCTIONS(X)                                                              \
  X(getVersion, cublasLtGetVersion, size_t, ())                                                    \
  X(getStatusName, cublasLtGetStatusName, const char *, (int))                                     \
  X(create, cublasLtCreate, int, (Handle *))                                                       \
  X(destroy, cublasLtDestroy, int, (Handle))                                                       \
  X(makeDescription, cublasLtMatmulDescCreate, int, (Description *, int, int))                     \
  X(freeDescription, cublasLtMatmulDescDestroy, int, (Description))                                \
  X(setDescription, cublasLtMatmulDescSetAttribute, int, (Description, int, const void *, size_t)) \
  X(makeLayout, cublasLtMatrixLayoutCreate, int, (Layout *, int, uint64_t, uint64_t, int64_t))     \
  X(freeLayout, cublasLtMatrixLayoutDestroy, int, (Layout))                                        \
  X(setLayout, cublasLtMatrixLayoutSetAttribute, int, (Layout, int, const void *, size_t))         \
  X(makePreference, cublasLtMatmulPreferenceCreate, int, (Preference *))                           \
  X(freePreference, cublasLtMatmulPreferenceDestroy, int, (Preference))                            \
  X(setPreference, cublasLtMatmulPreferenceSetAttribute, int,                                      \
    (Preference, int, const void *, size_t))                                                       \
  X(findAlgorithms, cublasLtMatmulAlgoGetHeuristic, int,                                           \
    (Handle, Description, Layout, Layout, Layout, Layout, Preference, int, Heuristic *, int *))    \
  X(checkAlgorithm, cublasLtMatmulAlgoCheck, int,                                                  \
    (Handle, Description, Layout, Layout, Layout, Layout, const Algorithm *, Heuristic *))         \
  X(getConfig, cublasLtMatmulAlgoConfigGetAttribute, int,                                          \
    (const Algorithm *, int, void *, size_t, size_t *))                                            \
  X(multiply, cublasLtMatmul, int,                                                                 \
    (Handle, Description, const void *, const void *, Layout, const void *, Layout, const void *,  \
     const void *, Layout, void *, Layout, const Algorithm *, void *, size_t, cuda::Stream))

struct Library {
#define REPRISE_DECLARE(member, name, result, parameters) result(*member) parameters = nullptr;
  REPRISE_CUBLASLT_FUNCTIONS(REPRISE_DECLARE)
#undef REPRISE_DECLARE

  /// Opens libcublasLt.so.13, or .12, once. Errors: neither is found, or lacks a function.
  static Expected<const Library *> get();
  /// "cannot WHAT: cuBLASLt says NAME", or success.
  Error check(int status, const std::string &what) const;
};

} // namespace reprise::runtime::cublaslt

#endif // REPRISE_LIB_RUNTIME_CUBLASLT_H
