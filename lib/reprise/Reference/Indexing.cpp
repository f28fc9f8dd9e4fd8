// reprise: reads and writes at computed positions in the interpreter.
#include "Models.h"

using namespace mlir;

namespace reprise::reference {
namespace {

//===-- Rows of a table -----------------------------------------------------------------------===//

int64_t rowSize(RankedTensorType table) { return table.getNumElements() / table.getDimSize(0); }

Results evaluateGather(GatherOp op, Operands operands) {
  RankedTensorType table = operands[0]->type;
  Tensor result(op.getType());
  int64_t bytes = rowSize(table) * elementBytes(table.getElementType());
  for (auto [i, row] : llvm::enumerate(clampedIndices(*operands[1], table.getDimSize(0))))
    if (bytes != 0)
      std::memcpy(&result.bytes[i * bytes], &operands[0]->bytes[row * bytes], bytes);
  return single(std::move(result));
}

Results evaluateScatterAdd(ScatterAddOp op, Operands operands) {
  RankedTensorType table = op.getType();
  int64_t width = rowSize(table);
  return single(withFloat(table.getElementType(), [&](auto zero) {
    using T = decltype(zero);
    Values<T> updates(*operands[1]);
    std::vector<T> sums(table.getNumElements(), T(0));
    for (auto [i, row] : llvm::enumerate(clampedIndices(*operands[0], table.getDimSize(0))))
      for (int64_t d = 0; d < width; ++d)
        sums[row * width + d] += updates[i * width + d];
    return round(table, sums);
  }));
}

Results evaluateScatter(ScatterOp op, Operands operands) {
  Tensor result = *operands[0];
  int64_t bytes = rowSize(result.type) * elementBytes(result.type.getElementType());
  for (auto [i, row] : llvm::enumerate(clampedIndices(*operands[1], result.type.getDimSize(0))))
    if (bytes != 0)
      std::memcpy(&result.bytes[row * bytes], &operands[2]->bytes[i * bytes], bytes);
  return single(std::move(result));
}

//===-- Elements of each row ------------------------------------------------------------------===//

/// Returns, for every index of [b…, k], the position of its element in rows of n elements.
std::vector<int64_t> placesInRows(const Tensor &indices, int64_t n) {
  std::vector<int64_t> places = clampedIndices(indices, n);
  for (auto [i, place] : llvm::enumerate(places))
    place += static_cast<int64_t>(i) / indices.type.getShape().back() * n;
  return places;
}

Results evaluateTakeAlong(TakeAlongOp op, Operands operands) {
  std::vector<int64_t> places = placesInRows(*operands[1], operands[0]->type.getShape().back());
  return single(gatherElements(op.getType(), *operands[0], places));
}

Results evaluateScatterAddAlong(ScatterAddAlongOp op, Operands operands) {
  RankedTensorType type = op.getType();
  return single(withFloat(type.getElementType(), [&](auto zero) {
    using T = decltype(zero);
    Values<T> updates(*operands[1]);
    std::vector<T> sums(type.getNumElements(), T(0));
    for (auto [i, place] : llvm::enumerate(placesInRows(*operands[0], type.getShape().back())))
      sums[place] += updates[i];
    return round(type, sums);
  }));
}

Results evaluateOneHot(OneHotOp op, Operands operands) {
  Tensor result(op.getType());
  int64_t depth = op.getType().getShape().back();
  withNumber(operands[0]->type.getElementType(), [&](auto zero) {
    Values<decltype(zero)> indices(*operands[0]);
    for (int64_t i = 0; i < operands[0]->size(); ++i)
      for (int64_t j = 0; j < depth; ++j)
        store(result, i * depth + j, static_cast<int64_t>(indices[i] == j));
  });
  return single(std::move(result));
}

//===-- Windows at computed positions ---------------------------------------------------------===//

/// Returns the positions of the elements of a window in `whole`, in row-major order.
std::vector<int64_t> placesOfWindow(RankedTensorType whole, RankedTensorType window,
                                    const Tensor &starts) {
  SmallVector<int64_t> strides = stridesOf(whole.getShape());
  int64_t offset = 0;
  withNumber(starts.type.getElementType(), [&](auto zero) {
    Values<decltype(zero)> wanted(starts);
    for (int64_t d = 0; d < whole.getRank(); ++d)
      offset += strides[d] * clampIndex(wanted[d], whole.getDimSize(d) - window.getDimSize(d) + 1);
  });
  return positions(window.getShape(), strides, offset);
}

Results evaluateDynamicSlice(DynamicSliceOp op, Operands operands) {
  std::vector<int64_t> places = placesOfWindow(operands[0]->type, op.getType(), *operands[1]);
  return single(gatherElements(op.getType(), *operands[0], places));
}

Results evaluateDynamicUpdate(DynamicUpdateOp op, Operands operands) {
  Tensor result = *operands[0];
  int64_t width = elementBytes(result.type.getElementType());
  std::vector<int64_t> places = placesOfWindow(result.type, operands[1]->type, *operands[2]);
  for (auto [i, place] : llvm::enumerate(places))
    std::memcpy(&result.bytes[place * width], &operands[1]->bytes[i * width], width);
  return single(std::move(result));
}

} // namespace

REPRISE_EVALUATE(GatherOp, evaluateGather)
REPRISE_EVALUATE(ScatterAddOp, evaluateScatterAdd)
REPRISE_EVALUATE(ScatterOp, evaluateScatter)
REPRISE_EVALUATE(TakeAlongOp, evaluateTakeAlong)
REPRISE_EVALUATE(ScatterAddAlongOp, evaluateScatterAddAlong)
REPRISE_EVALUATE(OneHotOp, evaluateOneHot)
REPRISE_EVALUATE(DynamicSliceOp, evaluateDynamicSlice)
REPRISE_EVALUATE(DynamicUpdateOp, evaluateDynamicUpdate)

} // namespace reprise::reference
