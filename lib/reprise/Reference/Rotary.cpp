// reprise: rotary position embedding in the interpreter.
#include "Models.h"

using namespace mlir;

namespace reprise::reference {

static Results evaluateRotary(RotaryOp op, Operands operands) {
  RankedTensorType type = operands[0]->type;
  return single(withFloat(type.getElementType(), [&](auto zero) {
    using T = decltype(zero);
    Values<T> x(*operands[0]), cosine(*operands[1]), sine(*operands[2]);
    int64_t depth = type.getShape().back(), half = depth / 2, tableSize = operands[1]->size();
    std::vector<T> result(operands[0]->size());
    // Pairs follow the order of the tables, which repeat along all leading dimensions.
    for (int64_t pair = 0; pair < operands[0]->size() / 2; ++pair) {
      int64_t low = pair / half * depth + pair % half, high = low + half, at = pair % tableSize;
      result[low] = x[low] * cosine[at] - x[high] * sine[at];
      result[high] = x[high] * cosine[at] + x[low] * sine[at];
    }
    return round(type, result);
  }));
}

REPRISE_EVALUATE(RotaryOp, evaluateRotary)

} // namespace reprise::reference
