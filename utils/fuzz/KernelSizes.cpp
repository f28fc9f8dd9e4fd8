// reprise: sizes and element types of the programs for kernels
#include "KernelValues.h"

using namespace mlir;

namespace reprise::fuzz {

KernelValues::KernelValues(MLIRContext *context, uint64_t seed)
    : context(context), random(seed * 0x2545f4914f6cdd1du + 7),
      b(UnknownLoc::get(context), context) {
  SmallVector<Type> floats = {b.getBF16Type(), b.getBF16Type(), b.getBF16Type(),
                              b.getF16Type(),  b.getF16Type(),  b.getF32Type(),
                              b.getF32Type(),  b.getF32Type(),  b.getF64Type()};
  element = random.pick(floats);
  // Most programs are cheap to interpret; some fill several blocks, and data packed for all
  // workers.
  int64_t size = random.below(100);
  mostElements = size < 65 ? 3000 : size < 92 ? 12000 : 40000;
  mostFlops = size < 65 ? 100000 : size < 92 ? 1000000 : size < 99 ? 5000000 : 20000000;
}

/// Small, or around one vector, one strip, one block, one chain, or whole vectors.
int64_t KernelValues::drawSize(int64_t most) {
  static constexpr int64_t vectors[] = {4, 8, 16, 32}, blocks[] = {64, 72, 96, 128, 192};
  static constexpr int64_t large[] = {255, 257, 384, 385, 512, 1000, 2049, 4095, 4096, 4097, 8200};
  int64_t kind = random.below(100), size;
  if (kind < 36)
    size = random.within(1, 9);
  else if (kind < 60)
    size = random.pick(vectors) + random.within(-1, 1);
  else if (kind < 73)
    size = 8 * random.within(1, 12);
  else if (kind < 87)
    size = random.within(1, 70);
  else if (kind < 96)
    size = random.pick(blocks) + random.within(-2, 2);
  else
    size = random.pick(large);
  if (size > most)
    size = random.within(1, std::clamp<int64_t>(most, 1, 40));
  if (granule > 1 && most >= granule && random.chance(75))
    size = std::max(size / granule, int64_t(1)) * granule;
  return size;
}

/// Draws sizes whose product is at most `most`, in any order: later ones are smaller.
void KernelValues::draw(ArrayRef<int64_t *> sizes, int64_t most) {
  SmallVector<int64_t *> order(sizes);
  for (size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[random.below(i)]);
  for (int64_t *size : order) {
    *size = drawSize(most);
    most = std::max<int64_t>(1, most / *size);
  }
}

KernelValues::Shape KernelValues::drawShape(int64_t minRank, int64_t maxRank) {
  Shape shape(random.within(minRank, maxRank));
  SmallVector<int64_t *> sizes;
  for (int64_t &size : shape)
    sizes.push_back(&size);
  draw(sizes, mostElements);
  return shape;
}

RankedTensorType KernelValues::drawType(int64_t minRank, int64_t maxRank) {
  SmallVector<TensorType> types;
  for (Value value : pool) {
    auto type = cast<TensorType>(value.getType());
    if (isa<FloatType>(type.getElementType()) && type.getRank() >= minRank &&
        type.getRank() <= maxRank && type.getNumElements() <= mostElements)
      types.push_back(type);
  }
  if (!types.empty() && random.chance(60))
    return random.pickLate(types);
  return tensor(drawShape(minRank, maxRank), drawFloat());
}

Type KernelValues::drawFloat() {
  Type floats[] = {b.getBF16Type(), b.getF16Type(), b.getF32Type(), b.getF64Type()};
  return random.chance(85) ? element : random.pick(floats);
}

} // namespace reprise::fuzz
