// reprise: the interface of cuDNN, as far as bundles call it
//
// Wrong calls are refused with a line that names the fault. Algorithms differ in the number of
// parts of a sum, so that another algorithm has other bits. The first recommendation is one that a
// caller must not use: transformed operands forwards, atomics backwards. If
// REPRISE_EMULATED_ALGORITHM is 1, sums in parts are not recommended.
#include "../Libraries.h"
#include "Convolution.h"

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

using namespace reprise::emulator;

namespace {

enum Status : int {
  Success = 0,
  NotInitialized = 1001,
  BadParameter = 2000,
  NotSupported = 3000,
  ExecutionFailed = 5000
};
constexpr int implicitGemm = 0, precomputedGemm = 1, explicitGemm = 2, winograd = 6; // forwards
constexpr int atomic = 0, ordered = 1;                                               // backwards

struct Handle {
  CUstream stream = nullptr;
};
/// Sizes of a tensor or a filter.
struct Sizes {
  int type = -1;
  int64_t of[4] = {};
};
struct Description {
  int64_t pad[2] = {}, stride[2] = {}, dilation[2] = {}, groups = 1;
  int math = 0;
};
struct Performance {
  int algorithm, status;
  float seconds;
  size_t workspaceBytes;
  int determinism, math;
  int reserved[3];
};

Status refuse(const std::string &why) {
  repriseEmulatorFail(("cuDNN: " + why).c_str());
  return BadParameter;
}

/// HALF and BFLOAT16.
bool setSizes(Sizes &into, int type, int rank, const int *sizes) {
  into.type = type == 2 ? typeF16 : type == 9 ? typeBF16 : -1;
  bool isGood = into.type >= 0 && rank == 4;
  for (int i = 0; i < 4 && isGood; ++i) {
    into.of[i] = sizes[i];
    isGood = sizes[i] > 0;
  }
  return isGood;
}

ConvolutionShape describe(const Sizes &image, const Sizes &filter, const Sizes &output,
                          const Description &description) {
  ConvolutionShape shape;
  shape.type = image.type;
  shape.samples = image.of[0];
  shape.channels = image.of[1];
  shape.outputs = output.of[1];
  shape.groups = description.groups;
  for (int axis = 0; axis < 2; ++axis) {
    shape.image[axis] = image.of[axis + 2];
    shape.window[axis] = filter.of[axis + 2];
    shape.output[axis] = output.of[axis + 2];
    shape.stride[axis] = description.stride[axis];
    shape.pad[axis] = description.pad[axis];
    shape.dilation[axis] = description.dilation[axis];
  }
  return shape;
}

/// Returns the fault of a convolution; empty if it is valid.
std::string faultOf(const Sizes &image, const Sizes &filter, const Sizes &output,
                    const Description &d) {
  if (image.type != filter.type || image.type != output.type)
    return "image, filter and output are of different types";
  if (image.of[1] % d.groups || filter.of[0] % d.groups || filter.of[1] != image.of[1] / d.groups ||
      filter.of[0] != output.of[1] || image.of[0] != output.of[0])
    return "the channels or samples of image, filter and output do not fit";
  for (int axis = 0; axis < 2; ++axis) {
    int64_t reach = (filter.of[axis + 2] - 1) * d.dilation[axis] + 1;
    int64_t room = image.of[axis + 2] + 2 * d.pad[axis] - reach;
    if (room < 0 || room / d.stride[axis] + 1 != output.of[axis + 2])
      return "the sizes of image, filter and output do not fit";
  }
  return "";
}

bool knows(Direction direction, int algorithm) {
  return direction == Direction::Forward
             ? (algorithm >= implicitGemm && algorithm <= explicitGemm) || algorithm == winograd
             : algorithm == atomic || algorithm == ordered;
}

/// Returns the number of parts. Gradients have only one algorithm with a fixed order, which uses as
/// many parts as the workspace holds.
int64_t partsOf(const ConvolutionShape &shape, Direction direction, int algorithm) {
  if (direction == Direction::Forward)
    return algorithm == precomputedGemm ? 2 : 1;
  int64_t all = shape.imageSize() + shape.filterSize() + shape.outputSize();
  return algorithm == ordered && 2 * shape.resultSize(direction) <= all ? 2 : 1;
}

uint64_t workspaceOf(const ConvolutionShape &shape, Direction direction, int algorithm) {
  auto results = uint64_t(shape.resultSize(direction));
  int64_t parts = partsOf(shape, direction, algorithm);
  if (direction == Direction::Forward && algorithm == explicitGemm)
    return 64 * 4 * results;
  return parts == 1 ? 0 : uint64_t(parts) * results * 4;
}

Status recommend(const ConvolutionShape &shape, Direction direction, int wanted, int *count,
                 Performance *found) {
  const char *asked = std::getenv("REPRISE_EMULATED_ALGORITHM");
  bool isForward = direction == Direction::Forward, isWhole = asked && !std::strcmp(asked, "1");
  std::vector<int> all = {atomic, ordered};
  if (isForward && isWhole)
    all = {winograd, explicitGemm, implicitGemm};
  else if (isForward)
    all = {winograd, precomputedGemm, explicitGemm, implicitGemm};
  *count = 0;
  for (int algorithm : all)
    if (*count < wanted)
      found[(*count)++] = {algorithm,
                           Success,
                           1,
                           workspaceOf(shape, direction, algorithm),
                           isForward || algorithm == ordered,
                           1,
                           {}};
  return Success;
}

struct Operands {
  const Sizes *image, *filter, *output;
  const Description *description;
};

Status checkedShape(const Operands &of, ConvolutionShape &shape) {
  std::string fault = faultOf(*of.image, *of.filter, *of.output, *of.description);
  shape = describe(*of.image, *of.filter, *of.output, *of.description);
  return fault.empty() ? Success : refuse(fault);
}

Status find(const Operands &of, Direction direction, int wanted, int *count, Performance *found) {
  ConvolutionShape shape;
  Status status = checkedShape(of, shape);
  return status ? status : recommend(shape, direction, wanted, count, found);
}

Status countWorkspace(const Operands &of, Direction direction, int algorithm, size_t *bytes) {
  ConvolutionShape shape;
  if (Status status = checkedShape(of, shape))
    return status;
  if (!knows(direction, algorithm))
    return NotSupported;
  *bytes = workspaceOf(shape, direction, algorithm);
  return Success;
}

struct Places {
  const void *image, *filter, *output;
  const float *alpha, *beta;
  void *workspace;
  size_t workspaceBytes;
};

Status run(Handle *handle, const char *name, const Operands &of, Direction direction, int algorithm,
           const Places &at) {
  Convolution c;
  if (Status status = checkedShape(of, c.shape))
    return status;
  if (*at.alpha != 1 || *at.beta != 0)
    return refuse("a convolution that is scaled, or added to something");
  if (!knows(direction, algorithm))
    return refuse("an algorithm that it lacks");
  uint64_t needed = workspaceOf(c.shape, direction, algorithm);
  if (needed > at.workspaceBytes || uint64_t(at.workspace) % 16)
    return refuse("a workspace of " + std::to_string(at.workspaceBytes) + " bytes of " +
                  std::to_string(needed) + ", or one that is not aligned");
  for (const void *operand : {at.image, at.filter, at.output})
    if (uint64_t(operand) % 16)
      return refuse("an operand that is not aligned");
  c.direction = direction;
  c.parts = partsOf(c.shape, direction, algorithm);
  c.image = const_cast<void *>(at.image);
  c.filter = const_cast<void *>(at.filter);
  c.output = const_cast<void *>(at.output);
  c.workspace = static_cast<float *>(at.workspace);
  // A library that does not keep to its algorithm.
  c.roundsParts = repriseEmulatorFailsNow("convolution");
  std::vector<RepriseEmulatedRange> ranges = {
      {uint64_t(at.image), uint64_t(2 * c.shape.imageSize()), direction == Direction::Data},
      {uint64_t(at.filter), uint64_t(2 * c.shape.filterSize()), direction == Direction::Filter},
      {uint64_t(at.output), uint64_t(2 * c.shape.outputSize()), direction == Direction::Forward},
      {uint64_t(at.workspace), needed, true}};
  CUresult result = repriseEmulatorCompute(
      handle->stream, name, ranges.data(), ranges.size(),
      [](void *data) { static_cast<Convolution *>(data)->run(); }, new Convolution(c),
      [](void *data) { delete static_cast<Convolution *>(data); });
  return result == CUDA_SUCCESS ? Success : ExecutionFailed;
}

} // namespace

REPRISE_CUDA size_t cudnnGetVersion() { return 91900; }
REPRISE_CUDA const char *cudnnGetErrorString(int status) {
  return status == Success           ? "CUDNN_STATUS_SUCCESS"
         : status == NotInitialized  ? "CUDNN_STATUS_NOT_INITIALIZED"
         : status == BadParameter    ? "CUDNN_STATUS_BAD_PARAM"
         : status == ExecutionFailed ? "CUDNN_STATUS_EXECUTION_FAILED"
                                     : "CUDNN_STATUS_NOT_SUPPORTED";
}

REPRISE_CUDA Status cudnnCreate(Handle **handle) {
  if (!repriseEmulatorIsReady())
    return NotInitialized;
  *handle = new Handle();
  return Success;
}
REPRISE_CUDA Status cudnnDestroy(Handle *handle) {
  delete handle;
  return Success;
}
REPRISE_CUDA Status cudnnSetStream(Handle *handle, CUstream stream) {
  handle->stream = stream;
  return Success;
}

REPRISE_CUDA Status cudnnCreateTensorDescriptor(Sizes **made) {
  *made = new Sizes();
  return Success;
}
REPRISE_CUDA Status cudnnDestroyTensorDescriptor(Sizes *sizes) {
  delete sizes;
  return Success;
}
REPRISE_CUDA Status cudnnSetTensorNdDescriptor(Sizes *into, int type, int rank, const int *sizes,
                                               const int *strides) {
  if (!setSizes(*into, type, rank, sizes))
    return refuse("a tensor that it lacks");
  int64_t dense = 1;
  for (int i = 3; i >= 0; --i) {
    if (strides[i] != dense)
      return refuse("a tensor that is not dense");
    dense *= sizes[i];
  }
  return Success;
}

REPRISE_CUDA Status cudnnCreateFilterDescriptor(Sizes **made) {
  *made = new Sizes();
  return Success;
}
REPRISE_CUDA Status cudnnDestroyFilterDescriptor(Sizes *sizes) {
  delete sizes;
  return Success;
}
REPRISE_CUDA Status cudnnSetFilterNdDescriptor(Sizes *into, int type, int format, int rank,
                                               const int *sizes) {
  return format == 0 && setSizes(*into, type, rank, sizes) ? Success
                                                           : refuse("a filter that it lacks");
}

REPRISE_CUDA Status cudnnCreateConvolutionDescriptor(Description **made) {
  *made = new Description();
  return Success;
}
REPRISE_CUDA Status cudnnDestroyConvolutionDescriptor(Description *description) {
  delete description;
  return Success;
}
REPRISE_CUDA Status cudnnSetConvolutionNdDescriptor(Description *into, int rank, const int *pad,
                                                    const int *stride, const int *dilation,
                                                    int mode, int computeType) {
  if (rank != 2 || mode != 1 || computeType != 0)
    return refuse("a convolution that it lacks");
  for (int axis = 0; axis < 2; ++axis) {
    if (pad[axis] < 0 || stride[axis] < 1 || dilation[axis] < 1)
      return refuse("a window that it lacks");
    into->pad[axis] = pad[axis];
    into->stride[axis] = stride[axis];
    into->dilation[axis] = dilation[axis];
  }
  return Success;
}
REPRISE_CUDA Status cudnnSetConvolutionGroupCount(Description *into, int groups) {
  into->groups = groups;
  return groups > 0 ? Success : refuse("no groups");
}
REPRISE_CUDA Status cudnnSetConvolutionMathType(Description *into, int math) {
  into->math = math;
  return math >= 0 && math <= 3 ? Success : refuse("a kind of arithmetic that it lacks");
}

REPRISE_CUDA Status cudnnGetConvolutionForwardAlgorithm_v7(Handle *, Sizes *x, Sizes *w,
                                                           Description *d, Sizes *y, int wanted,
                                                           int *count, Performance *found) {
  return find({x, w, y, d}, Direction::Forward, wanted, count, found);
}
REPRISE_CUDA Status cudnnGetConvolutionBackwardDataAlgorithm_v7(Handle *, Sizes *w, Sizes *dy,
                                                                Description *d, Sizes *dx,
                                                                int wanted, int *count,
                                                                Performance *found) {
  return find({dx, w, dy, d}, Direction::Data, wanted, count, found);
}
REPRISE_CUDA Status cudnnGetConvolutionBackwardFilterAlgorithm_v7(Handle *, Sizes *x, Sizes *dy,
                                                                  Description *d, Sizes *dw,
                                                                  int wanted, int *count,
                                                                  Performance *found) {
  return find({x, dw, dy, d}, Direction::Filter, wanted, count, found);
}

REPRISE_CUDA Status cudnnGetConvolutionForwardWorkspaceSize(Handle *, Sizes *x, Sizes *w,
                                                            Description *d, Sizes *y, int algorithm,
                                                            size_t *bytes) {
  return countWorkspace({x, w, y, d}, Direction::Forward, algorithm, bytes);
}
REPRISE_CUDA Status cudnnGetConvolutionBackwardDataWorkspaceSize(Handle *, Sizes *w, Sizes *dy,
                                                                 Description *d, Sizes *dx,
                                                                 int algorithm, size_t *bytes) {
  return countWorkspace({dx, w, dy, d}, Direction::Data, algorithm, bytes);
}
REPRISE_CUDA Status cudnnGetConvolutionBackwardFilterWorkspaceSize(Handle *, Sizes *x, Sizes *dy,
                                                                   Description *d, Sizes *dw,
                                                                   int algorithm, size_t *bytes) {
  return countWorkspace({x, dw, dy, d}, Direction::Filter, algorithm, bytes);
}

REPRISE_CUDA Status cudnnConvolutionForward(Handle *handle, const float *alpha, Sizes *x,
                                            const void *atX, Sizes *w, const void *atW,
                                            Description *d, int algorithm, void *workspace,
                                            size_t bytes, const float *beta, Sizes *y, void *atY) {
  return run(handle, "cudnnConvolutionForward", {x, w, y, d}, Direction::Forward, algorithm,
             {atX, atW, atY, alpha, beta, workspace, bytes});
}
REPRISE_CUDA Status cudnnConvolutionBackwardData(Handle *handle, const float *alpha, Sizes *w,
                                                 const void *atW, Sizes *dy, const void *atDy,
                                                 Description *d, int algorithm, void *workspace,
                                                 size_t bytes, const float *beta, Sizes *dx,
                                                 void *atDx) {
  return run(handle, "cudnnConvolutionBackwardData", {dx, w, dy, d}, Direction::Data, algorithm,
             {atDx, atW, atDy, alpha, beta, workspace, bytes});
}
REPRISE_CUDA Status cudnnConvolutionBackwardFilter(Handle *handle, const float *alpha, Sizes *x,
                                                   const void *atX, Sizes *dy, const void *atDy,
                                                   Description *d, int algorithm, void *workspace,
                                                   size_t bytes, const float *beta, Sizes *dw,
                                                   void *atDw) {
  return run(handle, "cudnnConvolutionBackwardFilter", {x, dw, dy, d}, Direction::Filter, algorithm,
             {atX, atDw, atDy, alpha, beta, workspace, bytes});
}
