// reprise: how the threads of a block load an operand for tensor cores
#include "OperandAccess.h"

#include "ContractionIndex.h"
#include "reprise/Conversion/Elements.h"

using namespace mlir;

namespace reprise {

int64_t findCommonPower(ArrayRef<int64_t> numbers, int64_t most) {
  int64_t all = most;
  for (int64_t number : numbers)
    all |= number;
  return all & -all;
}

/// Neighbours along one side that always lie at a multiple of their number.
static int64_t chooseUnit(const GlobalMatrix &matrix, Type type, bool terms) {
  const SmallVector<FreeDim> &along = terms ? matrix.terms : matrix.rows,
                             &across = terms ? matrix.rows : matrix.terms;
  if (along.empty() || along.back().stride != 1)
    return 1;
  SmallVector<int64_t> whole = {matrix.aligned, along.back().size};
  for (const FreeDim &dim : ArrayRef(along).drop_back())
    whole.push_back(dim.stride);
  for (const FreeDim &dim : across)
    whole.push_back(dim.stride);
  return findCommonPower(whole, 16 / bytesOf(type));
}

cuda::OperandShape GlobalMatrix::shapeOf(Type type) const {
  auto isDense = [](const SmallVector<FreeDim> &dims) {
    return !dims.empty() && dims.back().stride == 1;
  };
  int64_t ofRows = chooseUnit(*this, type, false), ofTerms = chooseUnit(*this, type, true);
  bool alongTerms = ofTerms > ofRows || (ofTerms == ofRows && isDense(terms) && !isDense(rows));
  return {countOf(rows), countOf(terms), alongTerms, alongTerms ? ofTerms : ofRows};
}

bool GlobalMatrix::isCopied(Type type) const { return shapeOf(type).unit * bytesOf(type) >= 4; }

} // namespace reprise
