// reprise: the iteration space of a loop nest
#include "reprise/Dialect/Nest/IR/Shape.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace reprise::nests {

SmallVector<int64_t> rowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0; stride *= shape[d])
    strides[d] = stride;
  return strides;
}

Strided mergeDims(ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides) {
  Strided merged;
  for (auto [size, stride] : zip_equal(sizes, strides)) {
    if (size == 1)
      continue;
    if (!merged.sizes.empty() && merged.strides.back() == stride * size) {
      merged.sizes.back() *= size;
      merged.strides.back() = stride;
      continue;
    }
    merged.sizes.push_back(size);
    merged.strides.push_back(stride);
  }
  return merged;
}

int64_t Shape::product(ArrayRef<int64_t> factors) {
  int64_t result = 1;
  for (int64_t factor : factors)
    result *= factor;
  return result;
}

SmallVector<int64_t> Shape::factors() const {
  SmallVector<int64_t> all(outer);
  llvm::append_range(all, rows);
  llvm::append_range(all, columns);
  return all;
}

void Shape::addDims(SmallVector<int64_t> Shape::*group, ArrayRef<int64_t> sizes,
                    ArrayRef<int64_t> dimStrides) {
  Strided merged = mergeDims(sizes, dimStrides);
  if (merged.sizes.empty())
    merged = {{1}, {0}};
  llvm::append_range(this->*group, merged.sizes);
  llvm::append_range(strides, merged.strides);
}

void Shape::split(unsigned factor, int64_t divisor) {
  if (!strides.empty()) {
    int64_t stride = strides[factor];
    strides[factor] = stride * divisor;
    strides.insert(strides.begin() + factor + 1, stride);
  }
  for (SmallVector<int64_t> *group : {&outer, &rows, &columns}) {
    if (factor < group->size()) {
      (*group)[factor] /= divisor;
      group->insert(group->begin() + factor + 1, divisor);
      return;
    }
    factor -= group->size();
  }
}

} // namespace reprise::nests
