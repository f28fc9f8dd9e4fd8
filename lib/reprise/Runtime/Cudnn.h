// reprise: the functions of cuDNN, opened at the first call of a bundle
//
// Names, types and numbers are those of the library's binary interface (cuDNN, versions 8 and 9);
// utils/gpu-check/library-headers.py compares them with its headers.
#ifndef REPRISE_LIB_RUNTIME_CUDNN_H
#define REPRISE_LIB_RUNTIME_CUDNN_H

#include "CudaDriver.h"

namespace reprise::runtime::cudnn {

using Handle = struct HandleTag *;
using Tensor = struct TensorTag *; ///< tensor or filter; the library has a type for each
using Convolution = struct ConvolutionTag *;

/// Measurement of an algorithm by the library.
struct Performance {
  int algorithm, status;
  float seconds;
  size_t workspaceBytes;
  int determinism, math;
  int reserved[3];
};

constexpr int typeF16 = 2, typeBF16 = 9, typeF32 = 0; // CUDNN_DATA_HALF, _BFLOAT16, _FLOAT
constexpr int formatRows = 0;                         // CUDNN_TENSOR_NCHW
constexpr int crossCorrelation = 1;                   // CUDNN_CROSS_CORRELATION
constexpr int mathDefault = 0, mathTensor = 1;        // CUDNN_DEFAULT_MATH, CUDNN_TENSOR_OP_MATH
constexpr int isDeterministic = 1;                    // CUDNN_DETERMINISTIC
/// Algorithms with one order of sums: CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM,
/// _IMPLICIT_PRECOMP_GEMM and _GEMM, and the gradients' ALGO_1. Others use atomics, or transform
/// operands, which rounds once more.
constexpr int forwardImplicit = 0, forwardPrecomputed = 1, forwardProduct = 2, dataOrdered = 1,
              filterOrdered = 1;

/// X(member, name in the library, result, parameters)
#define REPRISE_CUDNN_FUNCTIONS(X)                                                                 \
  X(getVersion, cudnnGetVersion, size_t, ())                                                       \
  X(getErrorString, cudnnGetErrorString, const char *, (int))                                      \
  X(create, cudnnCreate, int, (Handle *))                                                          \
  X(destroy, cudnnDestroy, int, (Handle))                                                          \
  X(setStream, cudnnSetStream, int, (Handle, cuda::Stream))                                        \
  X(makeTensor, cudnnCreateTensorDescriptor, int, (Tensor *))                                      \
  X(freeTensor, cudnnDestroyTensorDescriptor, int, (Tensor))                                       \
  X(setTensor, cudnnSetTensorNdDescriptor, int, (Tensor, int, int, const int *, const int *))      \
  X(makeFilter, cudnnCreateFilterDescriptor, int, (Tensor *))                                      \
  X(freeFilter, cudnnDestroyFilterDescriptor, int, (Tensor))                                       \
  X(setFilter, cudnnSetFilterNdDescriptor, int, (Tensor, int, int, int, const int *))              \
  X(makeConvolution, cudnnCreateConvolutionDescriptor, int, (Convolution *))                       \
  X(freeConvolution, cudnnDestroyConvolutionDescriptor, int, (Convolution))                        \
  X(setConvolution, cudnnSetConvolutionNdDescriptor, int,                                          \
    (Convolution, int, const int *, const int *, const int *, int, int))                           \
  X(setGroups, cudnnSetConvolutionGroupCount, int, (Convolution, int))                             \
  X(setMath, cudnnSetConvolutionMathType, int, (Convolution, int))                                 \
  X(findForward, cudnnGetConvolutionForwardAlgorithm_v7, int,                                      \
    (Handle, Tensor, Tensor, Convolution, Tensor, int, int *, Performance *))                      \
  X(findData, cudnnGetConvolutionBackwardDataAlgorithm_v7, int,                                    \
    (Handle, Tensor, Tensor, Convolution, Tensor, int, int *, Performance *))                      \
  X(findFilter, cudnnGetConvolutionBackwardFilterAlgorithm_v7, int,                                \
    (Handle, Tensor, Tensor, Convolution, Tensor, int, int *, Performance *))                      \
  X(sizeForward, cudnnGetConvolutionForwardWorkspaceSize, int,                                     \
    (Handle, Tensor, Tensor, Convolution, Tensor, int, size_t *))                                  \
  X(sizeData, cudnnGetConvolutionBackwardDataWorkspaceSize, int,                                   \
    (Handle, Tensor, Tensor, Convolution, Tensor, int, size_t *))                                  \
  X(sizeFilter, cudnnGetConvolutionBackwardFilterWorkspaceSize, int,                               \
    (Handle, Tensor, Tensor, Convolution, Tensor, int, size_t *))                                  \
  X(runForward, cudnnConvolutionForward, int,                                                      \
    (Handle, const void *, Tensor, const void *, Tensor, const void *, Convolution, int, void *,   \
     size_t, const void *, Tensor, void *))                                                        \
  X(runData, cudnnConvolutionBackwardData, int,                                                    \
    (Handle, const void *, Tensor, const void *, Tensor, const void *, Convolution, int, void *,   \
     size_t, const void *, Tensor, void *))                                                        \
  X(runFilter, cudnnConvolutionBackwardFilter, int,                                                \
    (Handle, const void *, Tensor, const void *, Tensor, const void *, Convolution, int, void *,   \
     size_t, const void *, Tensor, void *))

struct Library {
#define REPRISE_DECLARE(member, name, result, parameters) result(*member) parameters = nullptr;
  REPRISE_CUDNN_FUNCTIONS(REPRISE_DECLARE)
#undef REPRISE_DECLARE

  /// Opens libcudnn.so.9, or .8, once. Errors: neither is found, or lacks a function.
  static Expected<const Library *> get();
  /// "cannot WHAT: cuDNN says NAME", or success.
  Error check(int status, const std::string &what) const;
};

} // namespace reprise::runtime::cudnn

#endif // REPRISE_LIB_RUNTIME_CUDNN_H
