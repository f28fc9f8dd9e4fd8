// reprise: common code of the interpreter's op implementations.
#ifndef REPRISE_LIB_REFERENCE_MODELS_H
#define REPRISE_LIB_REFERENCE_MODELS_H

#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Reference/Numbers.h"
#include "reprise/Reference/Reference.h"
#include "llvm/Support/ErrorHandling.h"
#include <cstring>

namespace reprise::reference {

using Operands = llvm::ArrayRef<const Tensor *>;
using Results = llvm::SmallVector<Tensor>;

//===-- Elements ------------------------------------------------------------------------------===//

/// A tensor's elements in T, the compute type of its element type: 16-bit floats are widened to
/// f32, an i1 is a uint8_t.
template <typename T> class Values {
public:
  explicit Values(const Tensor &tensor) : begin(tensor.data<T>()) {
    mlir::Type type = tensor.type.getElementType();
    if (!type.isBF16() && !type.isF16())
      return;
    const uint16_t *bits = tensor.data<uint16_t>();
    for (int64_t i = 0; i < tensor.size(); ++i)
      widened.push_back(static_cast<T>(type.isBF16() ? fromBf16(bits[i]) : fromF16(bits[i])));
    begin = widened.data();
  }
  Values(const Values &) = delete;
  const T &operator[](int64_t i) const { return begin[i]; }

private:
  std::vector<T> widened;
  const T *begin;
};

/// The tensor of `values`; 16-bit elements are rounded here, once.
template <typename T> Tensor round(mlir::RankedTensorType type, const std::vector<T> &values) {
  Tensor tensor(type);
  mlir::Type element = type.getElementType();
  if (!element.isBF16() && !element.isF16()) {
    if (!values.empty())
      std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
    return tensor;
  }
  // T is float here; the cast serves the other instantiations.
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.data<uint16_t>()[i] = element.isBF16() ? toBf16(static_cast<float>(values[i]))
                                                  : toF16(static_cast<float>(values[i]));
  return tensor;
}

/// Rounds once from any compute type to the storage of any element type.
template <typename T> void store(Tensor &to, int64_t i, T x) {
  // The widest type holds x exactly; the conversions round from it, once.
  using Wide = std::conditional_t<std::is_integral_v<T>, int64_t, double>;
  mlir::Type type = to.type.getElementType();
  if (type.isF64())
    to.data<double>()[i] = static_cast<double>(x);
  else if (type.isF32())
    to.data<float>()[i] = static_cast<float>(x);
  else if (type.isBF16())
    to.data<uint16_t>()[i] = toBf16(static_cast<Wide>(x));
  else if (type.isF16())
    to.data<uint16_t>()[i] = toF16(static_cast<Wide>(x));
  else if (type.isInteger(1))
    to.bytes[i] = x != 0;
  else if constexpr (std::is_integral_v<T>)
    type.isInteger(32) ? void(to.data<int32_t>()[i] = static_cast<int32_t>(x))
                       : void(to.data<int64_t>()[i] = static_cast<int64_t>(x));
  else
    type.isInteger(32) ? void(to.data<int32_t>()[i] = toInt32(x))
                       : void(to.data<int64_t>()[i] = toInt64(x));
}

/// Calls `fn` with a zero of the compute type of floats.
template <typename Fn> auto withFloat(mlir::Type elementType, Fn fn) {
  return elementType.isF64() ? fn(double()) : fn(float());
}

/// Calls `fn` with a zero of the compute type of floats, i32 or i64.
template <typename Fn> auto withNumber(mlir::Type elementType, Fn fn) {
  if (elementType.isInteger(32))
    return fn(int32_t());
  if (elementType.isInteger(64))
    return fn(int64_t());
  return withFloat(elementType, fn);
}

/// Calls `fn` with a zero of the compute type of any element type.
template <typename Fn> auto withElement(mlir::Type elementType, Fn fn) {
  if (elementType.isInteger(1))
    return fn(uint8_t());
  return withNumber(elementType, fn);
}

/// Compute a + b, a - b, a * b: integers wrap.
template <typename T> T wrappingAdd(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else
    return a + b;
}

//===-- Indices -------------------------------------------------------------------------------===//

/// Returns offset + Σ strides[d]·index[d] for every index below `sizes`, in row-major order.
std::vector<int64_t> positions(llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> strides,
                               int64_t offset = 0);

/// Row-major strides.
llvm::SmallVector<int64_t> stridesOf(llvm::ArrayRef<int64_t> sizes);

/// Element i of the result is element positions[i] of `source`.
Tensor gatherElements(mlir::RankedTensorType type, const Tensor &source,
                      llvm::ArrayRef<int64_t> positions);

/// `index` moved into [0, size - 1].
inline int64_t clampIndex(int64_t index, int64_t size) {
  return std::max<int64_t>(0, std::min<int64_t>(index, size - 1));
}

/// The elements of i32 or i64 indices, clamped to [0, size - 1].
std::vector<int64_t> clampedIndices(const Tensor &indices, int64_t size);

/// Returns `value` in every element, for iota, pad and fill.
Tensor splatOf(mlir::RankedTensorType type, mlir::Attribute value);

//===-- Attaching -----------------------------------------------------------------------------===//

/// Evaluates an op. If an op of the dialect has no specialization, nothing links.
template <typename OpT> Results evaluate(OpT op, Operands operands);

/// Specializes it by a function on the op and its operands.
#define REPRISE_EVALUATE(OP, ...)                                                                  \
  template <> Results evaluate(OP op, Operands operands) { return __VA_ARGS__(op, operands); }

inline mlir::RankedTensorType resultType(mlir::Operation *op, unsigned result = 0) {
  return mlir::cast<mlir::RankedTensorType>(op->getResult(result).getType());
}

/// Returns the results of an op, each rounded once.
template <typename... Vectors> Results roundResults(mlir::Operation *op, const Vectors &...values) {
  Results results;
  unsigned number = 0;
  (results.push_back(round(resultType(op, number++), values)), ...);
  return results;
}

inline Results single(Tensor tensor) {
  Results results;
  results.push_back(std::move(tensor));
  return results;
}

void attachCommands(mlir::MLIRContext *context);
/// Attaches the interface of transfers to `reprise.pull`.
void attachPulls(mlir::MLIRContext *context);

} // namespace reprise::reference

#endif
