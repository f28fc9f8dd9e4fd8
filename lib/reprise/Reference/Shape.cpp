// reprise: constants and data movement in the interpreter.
#include "Models.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "reprise/Dialect/Reprise/IR/Pause.h"

using namespace mlir;

namespace reprise::reference {
namespace {

Results evaluateConstant(ConstantOp op, Operands) {
  auto type = cast<RankedTensorType>(op.getType());
  Tensor result(type);
  auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!dense) {
    // The verifier has checked that the bytes exist.
    ArrayRef<char> data =
        cast<DenseResourceElementsAttr>(op.getValue()).getRawHandle().getBlob()->getData();
    std::memcpy(result.bytes.data(), data.data(), result.bytes.size());
  } else if (type.getElementType().isInteger(1)) {
    for (auto [i, value] : llvm::enumerate(dense.getValues<bool>()))
      result.bytes[i] = value;
  } else if (type.getNumElements() != 0) {
    size_t given = dense.getRawData().size();
    for (size_t at = 0; at < result.bytes.size(); at += given)
      std::memcpy(&result.bytes[at], dense.getRawData().data(), given);
  }
  return single(std::move(result));
}

Results evaluateIota(IotaOp op, Operands) {
  RankedTensorType type = op.getType();
  SmallVector<int64_t> strides(type.getRank(), 0);
  strides[op.getDim()] = 1;
  std::vector<int64_t> indices = positions(type.getShape(), strides);
  return single(withNumber(type.getElementType(), [&](auto zero) {
    using T = decltype(zero);
    if (type.getElementType().isBF16() || type.getElementType().isF16()) {
      Tensor result(type);
      for (auto [i, index] : llvm::enumerate(indices))
        result.data<uint16_t>()[i] = type.getElementType().isBF16() ? toBf16(index) : toF16(index);
      return result;
    }
    return round(type, std::vector<T>(indices.begin(), indices.end()));
  }));
}

Results evaluateBroadcast(BroadcastOp op, Operands operands) {
  SmallVector<int64_t> own = stridesOf(operands[0]->type.getShape());
  SmallVector<int64_t> strides(op.getType().getRank(), 0);
  for (auto [d, dim] : llvm::enumerate(op.getDims()))
    strides[dim] = own[d];
  return single(
      gatherElements(op.getType(), *operands[0], positions(op.getType().getShape(), strides)));
}

Results evaluateReshape(ReshapeOp op, Operands operands) {
  Tensor result = *operands[0];
  result.type = op.getType();
  return single(std::move(result));
}

Results evaluateName(NameOp op, Operands operands) { return single(*operands[0]); }
Results evaluatePause(PauseOp op, Operands operands) {
  Results results;
  for (const Tensor *late : operands.drop_front(op.getEarly().size()))
    results.push_back(*late);
  return results;
}
/// The machine receives the value instead.
Results evaluatePull(PullOp, Operands) { llvm_unreachable("a transfer is no op of one program"); }
Results evaluateOffload(OffloadOp op, Operands operands) { return single(*operands[0]); }
Results evaluateCustomVjp(CustomVjpOp op, Operands operands) {
  Results results;
  for (const Tensor *primal : operands.take_front(op.getPrimals().size()))
    results.push_back(*primal);
  return results;
}

Results evaluateTranspose(TransposeOp op, Operands operands) {
  SmallVector<int64_t> own = stridesOf(operands[0]->type.getShape()), strides;
  for (int64_t dim : op.getPermutation())
    strides.push_back(own[dim]);
  return single(
      gatherElements(op.getType(), *operands[0], positions(op.getType().getShape(), strides)));
}

Results evaluateSlice(SliceOp op, Operands operands) {
  SmallVector<int64_t> strides = stridesOf(operands[0]->type.getShape());
  int64_t offset = 0;
  for (auto [d, stride] : llvm::enumerate(strides)) {
    offset += op.getStarts()[d] * stride;
    stride *= op.getStrides()[d];
  }
  return single(gatherElements(op.getType(), *operands[0],
                               positions(op.getType().getShape(), strides, offset)));
}

/// Writes the elements of `part`, in row-major order, to `places` of `whole`.
void scatterElements(Tensor &whole, const Tensor &part, ArrayRef<int64_t> places) {
  int64_t width = elementBytes(part.type.getElementType());
  for (auto [i, place] : llvm::enumerate(places))
    std::memcpy(&whole.bytes[place * width], &part.bytes[i * width], width);
}

Results evaluatePad(PadOp op, Operands operands) {
  SmallVector<int64_t> strides = stridesOf(op.getType().getShape());
  int64_t offset = 0;
  for (auto [d, stride] : llvm::enumerate(strides)) {
    offset += op.getLow()[d] * stride;
    stride *= op.getInterior()[d] + 1;
  }
  Tensor result = splatOf(op.getType(), op.getValue());
  scatterElements(result, *operands[0], positions(operands[0]->type.getShape(), strides, offset));
  return single(std::move(result));
}

Results evaluateConcatenate(ConcatenateOp op, Operands operands) {
  Tensor result(op.getType());
  SmallVector<int64_t> strides = stridesOf(op.getType().getShape());
  int64_t offset = 0;
  for (const Tensor *part : operands) {
    scatterElements(result, *part, positions(part->type.getShape(), strides, offset));
    offset += part->type.getDimSize(op.getDim()) * strides[op.getDim()];
  }
  return single(std::move(result));
}

} // namespace

REPRISE_EVALUATE(ConstantOp, evaluateConstant)
REPRISE_EVALUATE(IotaOp, evaluateIota)
REPRISE_EVALUATE(BroadcastOp, evaluateBroadcast)
REPRISE_EVALUATE(ReshapeOp, evaluateReshape)
REPRISE_EVALUATE(NameOp, evaluateName)
REPRISE_EVALUATE(OffloadOp, evaluateOffload)
REPRISE_EVALUATE(CustomVjpOp, evaluateCustomVjp)
REPRISE_EVALUATE(PauseOp, evaluatePause)
REPRISE_EVALUATE(PullOp, evaluatePull)
REPRISE_EVALUATE(TransposeOp, evaluateTranspose)
REPRISE_EVALUATE(SliceOp, evaluateSlice)
REPRISE_EVALUATE(PadOp, evaluatePad)
REPRISE_EVALUATE(ConcatenateOp, evaluateConcatenate)

} // namespace reprise::reference
