// reprise: contractions that a library of the GPU computes
#include "LibraryProduct.h"

#include "ContractionIndex.h"
#include "TensorContraction.h"
#include "reprise/Support/ByteSize.h"
#include "reprise/Support/LibraryCall.h"

using namespace mlir;

namespace reprise {
namespace {

/// Operand as rows, or columns, by terms, for each batch entry.
struct Sides {
  FreeDim side, terms, batch;
};

/// Several dimensions as one, where a step of an outer one is the whole of the next inner one.
std::optional<FreeDim> joinDims(ArrayRef<FreeDim> dims) {
  FreeDim joined{1, 0};
  for (const FreeDim &dim : llvm::reverse(dims)) {
    if (dim.size == 1)
      continue;
    if (joined.size != 1 && dim.stride != joined.stride * joined.size)
      return std::nullopt;
    joined = {joined.size * dim.size, joined.size == 1 ? dim.stride : joined.stride};
  }
  return joined;
}

SmallVector<FreeDim> ofOperand(ArrayRef<SharedDim> dims, bool isLhs) {
  return llvm::map_to_vector(dims, [&](const SharedDim &dim) {
    return FreeDim{dim.size, isLhs ? dim.lhsStride : dim.rhsStride};
  });
}

std::optional<Sides> joinSides(const ContractionSpec &spec, bool isLhs) {
  auto side = joinDims(isLhs ? spec.rows : spec.columns);
  auto terms = joinDims(ofOperand(spec.contracted, isLhs));
  auto batch = joinDims(ofOperand(spec.batch, isLhs));
  if (!side || !terms || !batch)
    return std::nullopt;
  return Sides{*side, *terms, *batch};
}

/// Describes the storage of an operand; returns false if no dimension is dense.
bool describe(const Sides &sides, int64_t &transposed, int64_t &pitch, int64_t &stride) {
  stride = sides.batch.stride;
  transposed = sides.terms.stride != 1;
  pitch = transposed ? sides.terms.stride : sides.side.stride;
  int64_t line = transposed ? sides.side.size : sides.terms.size;
  return (!transposed || sides.side.stride == 1) && pitch >= line;
}

/// Returns whether an operand is aligned. The sizes of the buffers around a launch determine the
/// alignment of rows of arrays in loops.
bool isAligned(const LaunchOperand &operand, Block &body) {
  if (operand.slot.offset % callAlignment != 0)
    return false;
  return operand.slot.kind == BufferSlot::Shared ||
         getByteSize(body.getArgument(operand.slot.index).getType()) % callAlignment == 0;
}

int64_t typeOfCall(Type type) {
  return type.isF32() ? callF32 : type.isBF16() ? callBF16 : callF16;
}

/// Returns whether rows and matrices are at multiples of 16 bytes. The library supports other
/// distances at a fifth of its rate, where our kernels are faster.
bool hasAlignedRows(const MatrixProduct &product) {
  int64_t ofTerms = callAlignment / bytesOfCallType(product.type);
  int64_t ofResult = callAlignment / bytesOfCallType(product.resultType);
  return product.leftPitch % ofTerms == 0 && product.rightPitch % ofTerms == 0 &&
         product.leftStride % ofTerms == 0 && product.rightStride % ofTerms == 0 &&
         product.columns % ofResult == 0;
}

/// Returns the product; or the reason in `why` if the library cannot compute it.
std::optional<MatrixProduct> findProduct(Operation *dot, const ContractionSpec &spec,
                                         const LaunchOperand &lhs, const LaunchOperand &rhs,
                                         const std::optional<LaunchOperand> &bias, StringRef &why) {
  Block &body = *dot->getBlock();
  if (spec.resultType != spec.lhsType && !spec.resultType.isF32())
    return why = "its result has another type", std::nullopt;
  if (!isAligned(lhs, body) || !isAligned(rhs, body) || (bias && !isAligned(*bias, body)) ||
      getByteSize(dot->getResult(0).getType()) % callAlignment)
    return why = "a buffer is no multiple of 16 bytes", std::nullopt;
  std::optional<Sides> left = joinSides(spec, true), right = joinSides(spec, false);
  MatrixProduct product;
  product.hasBias = bias.has_value();
  product.type = typeOfCall(spec.lhsType);
  product.resultType = typeOfCall(spec.resultType);
  product.batch = countOf(spec.batch);
  product.rows = left->side.size;
  product.columns = right->side.size;
  product.terms = left->terms.size;
  if (!describe(*left, product.leftTransposed, product.leftPitch, product.leftStride) ||
      !describe(*right, product.rightTransposed, product.rightPitch, product.rightStride))
    return why = "neighbours of an operand lie apart", std::nullopt;
  if (!hasAlignedRows(product))
    return why = "its rows are no multiple of 16 bytes", std::nullopt;
  product.workspace = workspaceOfCall(product.batch * product.rows * product.columns);
  if (!product.isValid())
    return why = "it is too large", std::nullopt;
  return product;
}

} // namespace

bool isMatrix(const ContractionSpec &spec, bool isLhs) {
  return joinSides(spec, isLhs).has_value();
}

bool emitLibraryProduct(Operation *dot, const ContractionSpec &spec, const LaunchOperand &lhs,
                        const LaunchOperand &rhs, const std::optional<LaunchOperand> &bias,
                        EmittedLaunch &launch) {
  // Smaller contractions, and those of two types, are always exact.
  if (!suitsTensorCores(spec, Contractions::Library))
    return false;
  StringRef why;
  std::optional<MatrixProduct> product = findProduct(dot, spec, lhs, rhs, bias, why);
  if (!product) {
    launch.whyOwn = why;
    return false;
  }
  int64_t workspace = launch.addShared(product->workspace);
  EmittedCommand call;
  call.buffers = {
      lhs.slot, rhs.slot, {BufferSlot::Output, 0, 0}, {BufferSlot::Shared, 0, workspace}};
  if (bias)
    call.buffers.push_back(bias->slot);
  call.function = MatrixProduct::function;
  call.numbers = product->numbers();
  launch.commands.push_back(call);
  return true;
}

} // namespace reprise
