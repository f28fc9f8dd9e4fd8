// reprise: emits products of small matrices on the tensor cores of a GPU
#include "TensorCore.h"
#include "reprise/Conversion/Elements.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace reprise {

TensorCore::TensorCore(ThreadKernel &k, Type type) : k(k), b(k.b), type(type) {
  lane = k.rem(k.numberInBlock(), 32);
  ofEight = k.div(lane, 4);
  ofFour = k.rem(lane, 4);
}

TensorCore::Sums TensorCore::multiply(const Fragment &lhs, const Fragment &rhs, bool second,
                                      ValueRange sums) {
  Type operand = b.getI32Type(), sum = b.getF32Type();
  if (type.isF16())
    operand = VectorType::get({2}, type);
  auto cast = [&](Value word) -> Value {
    return operand == word.getType() ? word : LLVM::BitcastOp::create(b, operand, word);
  };
  SmallVector<Value> x, y;
  for (Value word : lhs)
    x.push_back(cast(word));
  for (size_t i : {0, 1})
    y.push_back(cast(rhs[2 * second + i]));
  auto kind = type.isF16() ? NVVM::MMATypes::f16 : NVVM::MMATypes::bf16;
  auto result = LLVM::LLVMStructType::getLiteral(b.getContext(), {sum, sum, sum, sum});
  Value product = NVVM::MmaOp::create(
      b, result, x, y, sums, ArrayRef<int64_t>{rows, columns, depth}, std::nullopt, std::nullopt,
      std::array<NVVM::MMATypes, 2>{kind, kind},
      std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row, NVVM::MMALayout::col});
  Sums added;
  for (int64_t i = 0; i < sumsPerLane; ++i)
    added.push_back(LLVM::ExtractValueOp::create(b, product, i));
  return added;
}

TensorCore::Sums TensorCore::multiplyAll(ArrayRef<Fragment> lhs, ArrayRef<Fragment> rhs,
                                         ValueRange sums) {
  Sums added;
  for (const Fragment &x : lhs)
    for (const Fragment &y : rhs)
      for (bool second : {false, true})
        added.append(multiply(x, y, second, sums.slice(added.size(), sumsPerLane)));
  return added;
}

Value TensorCore::pack(Value low, Value high) {
  auto nearest = NVVM::FPRoundingModeAttr::get(b.getContext(), NVVM::FPRoundingMode::RN);
  Type pair = VectorType::get({2}, type);
  Value rounded =
      type.isF16()
          ? NVVM::ConvertF32x2ToF16x2Op::create(b, pair, high, low, Value(), nearest).getResult()
          : NVVM::ConvertF32x2ToBF16x2Op::create(b, pair, high, low, Value(), nearest).getResult();
  return LLVM::BitcastOp::create(b, b.getI32Type(), rounded);
}

TensorCore::Fragment TensorCore::round(ValueRange left, ValueRange right) {
  return {pack(left[0], left[1]), pack(left[2], left[3]), pack(right[0], right[1]),
          pack(right[2], right[3])};
}

/// Loads matrices of 8 × 8: each group of eight lanes gives the addresses of the eight lines of a
/// matrix.
TensorCore::Fragment TensorCore::load(Value memory, bool isByRows, Lines at) {
  Value inMatrix = k.rem(lane, 8), odd = k.mul(k.rem(k.div(lane, 8), 2), 8),
        second = k.mul(k.div(lane, 16), 8);
  bool isOddByLine = !isByRows;
  Value line = k.add(inMatrix, isOddByLine ? odd : second), column = isOddByLine ? second : odd;
  Value from = emitAddress(b, type, memory, at(line, column));
  Type i32 = b.getI32Type();
  auto result = LLVM::LLVMStructType::getLiteral(b.getContext(), {i32, i32, i32, i32});
  auto layout = isByRows ? NVVM::MMALayout::row : NVVM::MMALayout::col;
  auto shape = NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8);
  Value loaded =
      NVVM::LdMatrixOp::create(b, result, from, 4, layout, shape, NVVM::LdStMatrixEltType::B16);
  Fragment fragment;
  for (int64_t i = 0; i < 4; ++i)
    fragment[i] = LLVM::ExtractValueOp::create(b, loaded, i);
  return fragment;
}

} // namespace reprise
