// reprise: relations between the dimensions of an op's operands and results
#include "reprise/Interfaces/Batchable.h"
#include "llvm/ADT/STLExtras.h"

#include "reprise/Interfaces/BatchableInterface.cpp.inc"

using namespace llvm;

namespace reprise {

int64_t OpFactors::findDim(ArrayRef<Dim> dims, int factor) {
  for (auto [number, dim] : llvm::enumerate(dims))
    if (!dim.empty() && dim.front() == factor)
      return static_cast<int64_t>(number);
  return -1;
}

bool OpFactors::canCut(int factor) const {
  auto isFirst = [&](const Dim &dim) {
    return !llvm::is_contained(ArrayRef(dim).drop_front(dim.empty() ? 0 : 1), factor);
  };
  auto isFirstIn = [&](ArrayRef<Dim> dims) { return llvm::all_of(dims, isFirst); };
  return factors[factor].kind != FactorKind::Coupled && llvm::all_of(operands, isFirstIn) &&
         llvm::all_of(results, isFirstIn);
}

int64_t OpFactors::countRows(const Dim &dim) const {
  int64_t rows = 1;
  for (int factor : ArrayRef(dim).drop_front(dim.empty() ? 0 : 1))
    rows *= factors[factor].size;
  return rows;
}

} // namespace reprise
