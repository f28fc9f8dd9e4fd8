// reprise: ops that read or write at computed positions in the programs for kernels
#include "KernelGenerator.h"

using namespace mlir;

namespace reprise::fuzz {

Value KernelGenerator::emitIndexing() {
  Shape shape = drawShape(1, 3);
  Type own = random.chance(10) ? Type(b.getI32Type()) : drawFloat();
  auto table = tensor(shape, own);
  int64_t last = shape.back();
  switch (random.below(5)) {
  case 0: {
    Shape at(random.below(3));
    int64_t row = std::max<int64_t>(1, table.getNumElements() / shape[0]),
            left = mostElements / row;
    for (int64_t &size : at)
      left /= size = drawSize(std::max<int64_t>(1, left));
    Shape result(at);
    result.append(shape.begin() + 1, shape.end());
    return emit("gather", tensor(result, own), {operand(table), indices(at, shape[0])});
  }
  case 1:
    shape.back() = drawSize(std::max<int64_t>(1, mostElements * last / table.getNumElements()));
    return emit("take_along", tensor(shape, own), {operand(table), indices(shape, last)});
  case 2: {
    Shape at(shape);
    at.pop_back();
    return emit("one_hot", table, indices(at, last));
  }
  case 3: {
    Shape part(shape);
    for (int64_t &size : part)
      size = random.within(1, size);
    return emit("dynamic_slice", tensor(part, own),
                {operand(table), indices({table.getRank()}, 5)});
  }
  default: {
    Shape part(shape);
    for (int64_t &size : part)
      size = random.within(1, size);
    return emit("dynamic_update", table,
                {operand(table), operand(part, own), indices({table.getRank()}, 5)});
  }
  }
}

Value KernelGenerator::emitScatter() {
  Shape shape = drawShape(1, 3);
  auto table = tensor(shape, drawFloat());
  Type own = table.getElementType();
  Shape at(random.below(3)), updates(shape);
  int64_t left = mostElements / std::max<int64_t>(1, table.getNumElements() / shape[0]);
  if (random.chance(40)) {
    updates.back() = drawSize(std::max<int64_t>(1, left));
    while (ShapedType::getNumElements(updates) > mostElements)
      updates.back() = random.within(1, 4), updates.front() = shape.front() = 1;
    return emit("scatter_add_along", tensor(shape, own),
                {indices(updates, shape.back()), operand(updates, own)});
  }
  for (int64_t &size : at)
    left /= size = drawSize(std::max<int64_t>(1, left));
  updates = at;
  updates.append(shape.begin() + 1, shape.end());
  Value positions = indices(at, shape[0]);
  if (random.chance(50))
    return emit("scatter_add", table, {positions, operand(updates, own)});
  return emit("scatter", table, {operand(table), positions, operand(updates, own)});
}

} // namespace reprise::fuzz
