// reprise: ops that read or write at computed positions in the programs for kernels
#include "KernelValues.h"

using namespace mlir;

namespace reprise::fuzz {

using Shape = KernelValues::Shape;

Value emitIndexing(KernelValues &v) {
  Shape shape = v.drawShape(1, 3);
  Type own = v.random.chance(10) ? Type(v.b.getI32Type()) : v.drawFloat();
  auto table = tensor(shape, own);
  int64_t last = shape.back();
  switch (v.random.below(5)) {
  case 0: {
    Shape at(v.random.below(3));
    int64_t row = std::max<int64_t>(1, table.getNumElements() / shape[0]),
            left = v.mostElements / row;
    for (int64_t &size : at)
      left /= size = v.drawSize(std::max<int64_t>(1, left));
    Shape result(at);
    result.append(shape.begin() + 1, shape.end());
    return v.emit("gather", tensor(result, own), {v.operand(table), v.indices(at, shape[0])});
  }
  case 1:
    shape.back() = v.drawSize(std::max<int64_t>(1, v.mostElements * last / table.getNumElements()));
    return v.emit("take_along", tensor(shape, own), {v.operand(table), v.indices(shape, last)});
  case 2: {
    Shape at(shape);
    at.pop_back();
    return v.emit("one_hot", table, v.indices(at, last));
  }
  case 3: {
    Shape part(shape);
    for (int64_t &size : part)
      size = v.random.within(1, size);
    return v.emit("dynamic_slice", tensor(part, own),
                  {v.operand(table), v.indices({table.getRank()}, 5)});
  }
  default: {
    Shape part(shape);
    for (int64_t &size : part)
      size = v.random.within(1, size);
    return v.emit("dynamic_update", table,
                  {v.operand(table), v.operand(part, own), v.indices({table.getRank()}, 5)});
  }
  }
}

Value emitScatter(KernelValues &v) {
  Shape shape = v.drawShape(1, 3);
  auto table = tensor(shape, v.drawFloat());
  Type own = table.getElementType();
  Shape at(v.random.below(3)), updates(shape);
  int64_t left = v.mostElements / std::max<int64_t>(1, table.getNumElements() / shape[0]);
  if (v.random.chance(40)) {
    updates.back() = v.drawSize(std::max<int64_t>(1, left));
    while (ShapedType::getNumElements(updates) > v.mostElements)
      updates.back() = v.random.within(1, 4), updates.front() = shape.front() = 1;
    return v.emit("scatter_add_along", tensor(shape, own),
                  {v.indices(updates, shape.back()), v.operand(updates, own)});
  }
  for (int64_t &size : at)
    left /= size = v.drawSize(std::max<int64_t>(1, left));
  updates = at;
  updates.append(shape.begin() + 1, shape.end());
  Value positions = v.indices(at, shape[0]);
  if (v.random.chance(50))
    return v.emit("scatter_add", table, {positions, v.operand(updates, own)});
  return v.emit("scatter", table, {v.operand(table), positions, v.operand(updates, own)});
}

} // namespace reprise::fuzz
