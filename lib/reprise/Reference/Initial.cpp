// reprise: initial values of parameters, state and inputs that the user does not give.
#include "reprise/Reference/Initial.h"

#include "Draws.h"

using namespace mlir;

namespace reprise {

uint64_t initialStream(StringRef name) {
  // FNV-1a, 64 bits: http://www.isthe.com/chongo/tech/comp/fnv/
  uint64_t hash = 0xcbf29ce484222325u;
  for (char c : name)
    hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
  return hash | uint64_t(1) << 63;
}

/// `value` everywhere.
static Tensor fill(RankedTensorType type, double value) {
  Tensor result(type);
  for (int64_t i = 0; i < result.size(); ++i)
    reference::store(result, i, value);
  return result;
}

Tensor initialValue(RankedTensorType type, StringRef name, Attribute init, int64_t seed,
                    int64_t step, bool isInput, RowsOf rows) {
  // Elements of a row, and of the rows of this argument, in each run of consecutive elements.
  int64_t perRow = 1, run = type.getNumElements();
  if (rows.of) {
    for (int64_t size : type.getShape().drop_front(rows.dim + 1))
      perRow *= size;
    run = perRow * type.getDimSize(rows.dim);
  }
  int64_t size =
      rows.of ? type.getNumElements() / type.getDimSize(rows.dim) * rows.of : type.getNumElements();
  uint64_t blocks = (static_cast<uint64_t>(size) + 3) / 4;
  uint64_t offset = isInput ? 4 * static_cast<uint64_t>(step) * blocks : 0;
  reference::Draw draw = {static_cast<uint64_t>(seed), initialStream(name), offset};
  if (auto constant = dyn_cast<FillInitAttr>(init))
    return fill(type, constant.getValue().getValueAsDouble());
  // We use no SmallVector, which holds at most 2^32 elements.
  std::vector<int64_t> indices(type.getNumElements());
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    indices[i] = i / run * perRow * rows.of + rows.first * perRow + i % run;
  if (auto normal = dyn_cast<NormalInitAttr>(init))
    return reference::drawNormal(type, draw, indices, normal.getMean().getValueAsDouble(),
                                 normal.getStd().getValueAsDouble());
  if (auto uniform = dyn_cast<UniformInitAttr>(init))
    return reference::drawUniform(type, draw, indices, uniform.getLow().getValueAsDouble(),
                                  uniform.getHigh().getValueAsDouble());
  auto uniform = cast<UniformIntInitAttr>(init);
  return reference::drawUniformInt(type, draw, indices, uniform.getLow(), uniform.getHigh());
}

} // namespace reprise
