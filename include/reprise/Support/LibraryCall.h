// reprise: the calls of libraries that a bundle can hold, as numbers
//
// A call is keyed by its function and these numbers, and by nothing else: an original and its
// replay have one key, and so the same algorithm.
#ifndef REPRISE_SUPPORT_LIBRARYCALL_H
#define REPRISE_SUPPORT_LIBRARYCALL_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace reprise {

/// Types of elements in these numbers, which are those of a bundle's (Runtime/Bundle.h).
constexpr int64_t callF32 = 0, callBF16 = 2, callF16 = 3;
inline bool isHalfOfCall(int64_t type) { return type == callBF16 || type == callF16; }
inline int64_t bytesOfCallType(int64_t type) { return isHalfOfCall(type) ? 2 : 4; }

/// Every operand of a call begins at a multiple of this, whatever the plan: algorithms are chosen
/// for it.
constexpr int64_t callAlignment = 16;
/// What a call may have for itself at most, in bytes of the arena.
constexpr int64_t mostCallWorkspace = int64_t(32) << 20;
/// Within these, no product of a size, a stride and a number of bytes overflows.
constexpr int64_t mostCallSize = int64_t(1) << 31, mostCallStride = int64_t(1) << 40;

/// For so many results of a call: two partial sums of each, in f32.
inline int64_t workspaceOfCall(int64_t results) {
  int64_t bytes = results > mostCallWorkspace ? mostCallWorkspace : (results * 8 + 255) / 256 * 256;
  return bytes > mostCallWorkspace ? mostCallWorkspace : bytes;
}

/// `cublasLtMatmul` of operands left, right, result and workspace: for each of `batch` matrices
///   result[row, column] = Σ over term of left[row, term] · right[column, term],
/// summed in f32 and rounded once. The result is dense and row-major. An operand is stored by rows
/// of its terms, or, if it is transposed, of its rows or columns; such rows are `pitch` elements
/// apart, and its matrices `stride` elements.
struct MatrixProduct {
  static constexpr const char *function = "cublasLtMatmul";
  static constexpr size_t count = 13;

  int64_t type = callBF16, resultType = callBF16;
  int64_t batch = 1, rows = 0, columns = 0, terms = 0;
  int64_t leftTransposed = 0, leftPitch = 0, leftStride = 0;
  int64_t rightTransposed = 0, rightPitch = 0, rightStride = 0;
  int64_t workspace = 0; ///< bytes at most

  std::vector<int64_t> numbers() const {
    return {type,       resultType,     batch,     rows,       columns,
            terms,      leftTransposed, leftPitch, leftStride, rightTransposed,
            rightPitch, rightStride,    workspace};
  }

  /// Nothing if they are not those of a product that a library could do.
  static std::optional<MatrixProduct> from(const std::vector<int64_t> &numbers) {
    if (numbers.size() != count)
      return std::nullopt;
    MatrixProduct p;
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

  /// The bytes that each operand takes from its first element to its last.
  std::array<uint64_t, 4> bytes() const {
    uint64_t element = uint64_t(bytesOfCallType(type));
    auto span = [&](bool transposed, int64_t pitch, int64_t stride, int64_t side) {
      int64_t lines = transposed ? terms : side, line = transposed ? side : terms;
      return uint64_t((batch - 1) * stride + (lines - 1) * pitch + line) * element;
    };
    return {span(leftTransposed, leftPitch, leftStride, rows),
            span(rightTransposed, rightPitch, rightStride, columns),
            uint64_t(batch * rows * columns * bytesOfCallType(resultType)), uint64_t(workspace)};
  }
};

} // namespace reprise

#endif // REPRISE_SUPPORT_LIBRARYCALL_H
