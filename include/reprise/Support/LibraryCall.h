// reprise: the calls of libraries that a bundle can hold, as numbers
//
// The key of a call consists of only its function and these numbers: an original and its replay
// have one key, and therefore the same algorithm.
#ifndef REPRISE_SUPPORT_LIBRARYCALL_H
#define REPRISE_SUPPORT_LIBRARYCALL_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace reprise {

/// Element types in these numbers, equal to those of a bundle (Runtime/Bundle.h).
constexpr int64_t callF32 = 0, callBF16 = 2, callF16 = 3;
inline bool isHalfOfCall(int64_t type) { return type == callBF16 || type == callF16; }
inline int64_t bytesOfCallType(int64_t type) { return isHalfOfCall(type) ? 2 : 4; }

/// Alignment in bytes of every operand of a call in every plan, for which algorithms are chosen.
constexpr int64_t callAlignment = 16;
/// Alignment in bytes of cuBLASLt's workspace, at least on Hopper. Places in the arena have a
/// smaller alignment, so a call can use fewer bytes than its numbers say.
constexpr int64_t workspaceAlignment = 256;
inline int64_t alignWorkspace(int64_t address) {
  return (address + workspaceAlignment - 1) / workspaceAlignment * workspaceAlignment;
}
inline int64_t usableWorkspace(int64_t bytes) {
  return bytes < workspaceAlignment ? 0 : bytes - workspaceAlignment + callAlignment;
}
/// Largest workspace of a call, in bytes of the arena: 32 MiB, aligned.
constexpr int64_t mostCallWorkspace = (int64_t(32) << 20) + workspaceAlignment;
/// Limits within which no product of a size, a stride and a number of bytes overflows.
constexpr int64_t mostCallSize = int64_t(1) << 31, mostCallStride = int64_t(1) << 40;

/// Returns the workspace bytes of a call with so many results: two f32 partial sums per result,
/// aligned.
inline int64_t workspaceOfCall(int64_t results) {
  int64_t bytes = results > mostCallWorkspace ? mostCallWorkspace
                                              : alignWorkspace(results * 8) + workspaceAlignment;
  return bytes > mostCallWorkspace ? mostCallWorkspace : bytes;
}

/// Product `cublasLtMatmul` of operands left, right, result, workspace and, if present, bias: for
/// each of `batch` matrices
///   result[row, column] = Σ over term of left[row, term] · right[column, term] + bias[column],
/// summed in f32 and rounded once. The bias is dense and has the type of the result. The result is
/// dense and row-major. An operand is stored in rows of its terms; a transposed operand is stored
/// in rows of its rows or columns. Stored rows are `pitch` elements apart, matrices `stride`
/// elements.
struct MatrixProduct {
  static constexpr const char *function = "cublasLtMatmul";
  static constexpr size_t count = 13; ///< count of numbers without a bias
  /// Last number if there is a bias: CUBLASLT_EPILOGUE_BIAS.
  static constexpr int64_t epilogueBias = 4;

  int64_t type = callBF16, resultType = callBF16;
  int64_t batch = 1, rows = 0, columns = 0, terms = 0;
  int64_t leftTransposed = 0, leftPitch = 0, leftStride = 0;
  int64_t rightTransposed = 0, rightPitch = 0, rightStride = 0;
  int64_t workspace = 0; ///< bytes at most
  bool hasBias = false;

  std::vector<int64_t> numbers() const {
    std::vector<int64_t> all = {type,       resultType,     batch,     rows,       columns,
                                terms,      leftTransposed, leftPitch, leftStride, rightTransposed,
                                rightPitch, rightStride,    workspace};
    if (hasBias)
      all.push_back(epilogueBias);
    return all;
  }

  /// Reads the numbers; none if they are not those of a product that a library could compute.
  static std::optional<MatrixProduct> from(const std::vector<int64_t> &numbers) {
    MatrixProduct p;
    p.hasBias = numbers.size() == count + 1 && numbers.back() == epilogueBias;
    if (numbers.size() != count && !p.hasBias)
      return std::nullopt;
    int64_t *const fields[count] = {
        &p.type,       &p.resultType,     &p.batch,     &p.rows,       &p.columns,
        &p.terms,      &p.leftTransposed, &p.leftPitch, &p.leftStride, &p.rightTransposed,
        &p.rightPitch, &p.rightStride,    &p.workspace};
    for (size_t i = 0; i < count; ++i)
      *fields[i] = numbers[i];
    return p.isValid() ? std::optional(p) : std::nullopt;
  }

  bool isValid() const {
    auto isSize = [](int64_t size) { return size >= 1 && size < mostCallSize; };
    auto isFlag = [](int64_t flag) { return flag == 0 || flag == 1; };
    auto isStride = [&](int64_t stride) { return stride >= 0 && stride < mostCallStride / batch; };
    return isHalfOfCall(type) && (resultType == type || resultType == callF32) && isSize(batch) &&
           isSize(rows) && isSize(columns) && isSize(terms) && isFlag(leftTransposed) &&
           isFlag(rightTransposed) && isSize(leftPitch) && isSize(rightPitch) &&
           isStride(leftStride) && isStride(rightStride) &&
           leftPitch >= (leftTransposed ? rows : terms) &&
           rightPitch >= (rightTransposed ? columns : terms) && workspace >= 0 &&
           workspace <= mostCallWorkspace && rows * columns < mostCallStride / batch;
  }

  /// Returns the bytes of each operand from its first element to its last.
  std::vector<uint64_t> bytes() const {
    uint64_t element = uint64_t(bytesOfCallType(type));
    auto span = [&](bool transposed, int64_t pitch, int64_t stride, int64_t side) {
      int64_t lines = transposed ? terms : side, line = transposed ? side : terms;
      return uint64_t((batch - 1) * stride + (lines - 1) * pitch + line) * element;
    };
    auto ofResult = uint64_t(bytesOfCallType(resultType));
    std::vector<uint64_t> all = {span(leftTransposed, leftPitch, leftStride, rows),
                                 span(rightTransposed, rightPitch, rightStride, columns),
                                 uint64_t(batch * rows * columns) * ofResult, uint64_t(workspace)};
    if (hasBias)
      all.push_back(uint64_t(columns) * ofResult);
    return all;
  }
};

/// Convolution, or one of its gradients, by cuDNN. Images are [samples, channels, y, x], filters
/// [outputs, channels / groups, y, x], outputs [samples, outputs, y, x]; all are dense, of one
/// type, summed in f32 and rounded once. If there is one spatial dimension, it is x.
struct LibraryConvolution {
  /// Operands of the functions. Forward: image, filter, output, workspace. Data: output, filter,
  /// image, workspace. Filter: image, output, filter, workspace.
  static constexpr const char *forward = "cudnnConvolutionForward",
                              *data = "cudnnConvolutionBackwardData",
                              *filter = "cudnnConvolutionBackwardFilter";
  static constexpr size_t count = 18;

  int64_t type = callBF16;
  int64_t samples = 0, channels = 0, outputs = 0, groups = 1;
  using Pair = std::array<int64_t, 2>;
  Pair image{1, 1}, window{1, 1}, output{1, 1}, stride{1, 1}, pad{0, 0}, dilation{1, 1};
  int64_t workspace = 0; ///< bytes at most

  static bool isFunction(const std::string &name) {
    return name == forward || name == data || name == filter;
  }

  std::vector<int64_t> numbers() const {
    std::vector<int64_t> all = {type, samples, channels, outputs, groups};
    for (const Pair &pair : {image, window, output, stride, pad, dilation})
      all.insert(all.end(), pair.begin(), pair.end());
    all.push_back(workspace);
    return all;
  }

  /// Reads the numbers; none if they are not those of a convolution that a library could compute.
  static std::optional<LibraryConvolution> from(const std::vector<int64_t> &numbers) {
    if (numbers.size() != count)
      return std::nullopt;
    LibraryConvolution c;
    size_t next = 0;
    for (int64_t *field : {&c.type, &c.samples, &c.channels, &c.outputs, &c.groups})
      *field = numbers[next++];
    for (Pair *pair : {&c.image, &c.window, &c.output, &c.stride, &c.pad, &c.dilation})
      for (int64_t &field : *pair)
        field = numbers[next++];
    c.workspace = numbers[next];
    return c.isValid() ? std::optional(c) : std::nullopt;
  }

  /// Returns the output positions along an axis, from the other sizes, which must be small enough.
  int64_t outputOf(size_t axis) const {
    int64_t reach = (window[axis] - 1) * dilation[axis] + 1;
    int64_t room = image[axis] + 2 * pad[axis] - reach;
    return room < 0 ? 0 : room / stride[axis] + 1;
  }

  bool isValid() const {
    auto isSize = [](int64_t size) { return size >= 1 && size < mostCallSize; };
    bool isGood = isHalfOfCall(type) && isSize(samples) && isSize(channels) && isSize(outputs) &&
                  isSize(groups) && channels % groups == 0 && outputs % groups == 0 &&
                  workspace >= 0 && workspace <= mostCallWorkspace;
    for (size_t axis = 0; axis < 2 && isGood; ++axis)
      isGood = isSize(image[axis]) && isSize(window[axis]) && isSize(output[axis]) &&
               isSize(stride[axis]) && isSize(dilation[axis]) && pad[axis] >= 0 &&
               pad[axis] < mostCallSize && output[axis] == outputOf(axis);
    return isGood && isSmall(samples, channels, image) && isSmall(samples, outputs, output) &&
           isSmall(outputs, channels / groups, window);
  }

  int64_t imageSize() const { return samples * channels * image[0] * image[1]; }
  int64_t filterSize() const { return outputs * (channels / groups) * window[0] * window[1]; }
  int64_t outputSize() const { return samples * outputs * output[0] * output[1]; }

  /// Returns the bytes for f32 copies of all three operands, which libraries may make.
  int64_t usualWorkspace() const {
    return workspaceOfCall((imageSize() + filterSize() + outputSize()) / 2);
  }

  /// Returns the bytes of each operand of the function.
  std::vector<uint64_t> bytes(const std::string &function) const {
    auto ofImage = uint64_t(2 * imageSize()), ofFilter = uint64_t(2 * filterSize()),
         ofOutput = uint64_t(2 * outputSize()), own = uint64_t(workspace);
    if (function == forward)
      return {ofImage, ofFilter, ofOutput, own};
    if (function == data)
      return {ofOutput, ofFilter, ofImage, own};
    return {ofImage, ofOutput, ofFilter, own};
  }

private:
  /// Returns whether elements and strides fit into the 31 bits of the library.
  static bool isSmall(int64_t outer, int64_t inner, const Pair &plane) {
    int64_t size = outer;
    for (int64_t factor : {inner, plane[0], plane[1]})
      if (size >= mostCallSize || (size *= factor) >= mostCallSize)
        return false;
    return true;
  }
};

/// Call of a function that the host registers for a library of its own: `library:function`.
/// Operands of the command are the operands of the function, and then its results that are present.
struct HostCall {
  struct Tensor {
    bool isPresent = true; ///< false for a result that no command reads
    int64_t type = callF32;
    std::vector<int64_t> shape;

    /// Returns the number of elements; none if it is negative or too large.
    std::optional<uint64_t> size() const {
      uint64_t elements = 1;
      for (int64_t dim : shape) {
        if (dim < 0 || dim >= mostCallStride)
          return std::nullopt;
        if ((elements *= uint64_t(dim)) >= uint64_t(mostCallStride))
          return std::nullopt;
      }
      return elements;
    }
  };
  std::vector<Tensor> operands, results;

  static bool isFunction(const std::string &name) { return name.find(':') != std::string::npos; }
  /// Returns the part of a function's name that names its library.
  static std::string libraryOf(const std::string &name) { return name.substr(0, name.find(':')); }

  /// Lists the number of operands, the number of results, and for each of them whether it is
  /// present, its type, its rank and its shape.
  std::vector<int64_t> numbers() const {
    std::vector<int64_t> all = {int64_t(operands.size()), int64_t(results.size())};
    for (const std::vector<Tensor> *tensors : {&operands, &results})
      for (const Tensor &tensor : *tensors) {
        all.insert(all.end(), {tensor.isPresent, tensor.type, int64_t(tensor.shape.size())});
        all.insert(all.end(), tensor.shape.begin(), tensor.shape.end());
      }
    return all;
  }

  /// Reads the numbers; none if they are malformed.
  static std::optional<HostCall> from(const std::vector<int64_t> &numbers) {
    constexpr int64_t mostTypes = 7, mostRank = 64;
    auto most = int64_t(numbers.size());
    if (most < 2 || numbers[0] < 0 || numbers[0] > most || numbers[1] < 1 || numbers[1] > most)
      return std::nullopt;
    HostCall call;
    int64_t next = 2;
    for (int64_t i = 0; i < numbers[0] + numbers[1]; ++i) {
      if (next + 3 > most)
        return std::nullopt;
      int64_t isPresent = numbers[next], type = numbers[next + 1], rank = numbers[next + 2];
      next += 3;
      bool isValid = isPresent >= (i < numbers[0] ? 1 : 0) && isPresent <= 1 && type >= 0 &&
                     type < mostTypes && rank >= 0 && rank <= mostRank && next + rank <= most;
      if (!isValid)
        return std::nullopt;
      Tensor tensor{isPresent == 1, type, {numbers.begin() + next, numbers.begin() + next + rank}};
      if (!tensor.size())
        return std::nullopt;
      next += rank;
      (i < numbers[0] ? call.operands : call.results).push_back(std::move(tensor));
    }
    return next == most ? std::optional(call) : std::nullopt;
  }
};

} // namespace reprise

#endif // REPRISE_SUPPORT_LIBRARYCALL_H
