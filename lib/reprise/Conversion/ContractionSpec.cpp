// reprise: a contraction (general dot product) as dimensions and strides, and its canonical order
#include "reprise/Conversion/ContractionSpec.h"

#include "reprise/Dialect/Reprise/IR/Reprise.h"

using namespace mlir;

namespace reprise {

template <typename OpT>
static ContractionSpec specOf(OpT dot, ArrayRef<int64_t> lhsStrides, ArrayRef<int64_t> rhsStrides) {
  ArrayRef<int64_t> lhsSizes = dot.getLhs().getType().getShape(),
                    rhsSizes = dot.getRhs().getType().getShape();
  ContractionSpec spec;
  spec.lhsType = dot.getLhs().getType().getElementType();
  spec.rhsType = dot.getRhs().getType().getElementType();
  spec.resultType = dot.getType().getElementType();
  for (auto [l, r] : llvm::zip(dot.getLhsBatch(), dot.getRhsBatch()))
    spec.batch.push_back({lhsSizes[l], lhsStrides[l], rhsStrides[r]});
  for (auto [l, r] : llvm::zip(dot.getLhsContracting(), dot.getRhsContracting()))
    spec.contracted.push_back({lhsSizes[l], lhsStrides[l], rhsStrides[r]});
  for (int64_t dim : dot.getLhsFree())
    spec.rows.push_back({lhsSizes[dim], lhsStrides[dim]});
  for (int64_t dim : dot.getRhsFree())
    spec.columns.push_back({rhsSizes[dim], rhsStrides[dim]});
  return spec;
}

Type ContractionSpec::accumulatorType() const { return getComputeType(lhsType); }

ContractionSpec ContractionSpec::of(DotGeneralOp dot, ArrayRef<int64_t> lhsStrides,
                                    ArrayRef<int64_t> rhsStrides) {
  return specOf(dot, lhsStrides, rhsStrides);
}
ContractionSpec ContractionSpec::of(DotAccumulateOp dot, ArrayRef<int64_t> lhsStrides,
                                    ArrayRef<int64_t> rhsStrides) {
  ContractionSpec spec = specOf(dot, lhsStrides, rhsStrides);
  spec.continuesSums = true;
  spec.extraBuffers = 2;
  return spec;
}
ContractionSpec ContractionSpec::of(DotBiasOp dot, ArrayRef<int64_t> lhsStrides,
                                    ArrayRef<int64_t> rhsStrides) {
  return specOf(dot, lhsStrides, rhsStrides);
}

ResultStrides ResultStrides::rowMajor(const ContractionSpec &spec) {
  ResultStrides strides;
  int64_t stride = 1;
  auto fill = [&](const auto &dims, SmallVector<int64_t> &to) {
    to.resize(dims.size());
    for (auto [dim, own] : llvm::reverse(llvm::zip_equal(dims, to))) {
      own = stride;
      stride *= dim.size;
    }
  };
  fill(spec.columns, strides.columns);
  fill(spec.rows, strides.rows);
  fill(spec.batch, strides.batch);
  return strides;
}

} // namespace reprise
