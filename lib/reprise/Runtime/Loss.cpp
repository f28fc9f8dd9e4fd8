// reprise: the loss among the results of a step
#include "Loss.h"

#include <cmath>
#include <cstring>

using namespace reprise::runtime;

/// Converts an f16's bits to the same number in f64, since the runtime has no kernels for that.
static double halfToDouble(uint16_t bits) {
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double magnitude = exponent == 31  ? (fraction ? NAN : INFINITY)
                     : exponent == 0 ? std::ldexp(fraction, -24)
                                     : std::ldexp(1024 + fraction, exponent - 25);
  return bits >> 15 ? -magnitude : magnitude;
}

static std::optional<double> toDouble(DType dtype, const void *data) {
  double wide = 0;
  float narrow = 0;
  uint16_t half = 0;
  switch (dtype) {
  case DType::F64:
    std::memcpy(&wide, data, 8);
    return wide;
  case DType::F32:
    std::memcpy(&narrow, data, 4);
    return narrow;
  case DType::BF16:
    std::memcpy(reinterpret_cast<char *>(&narrow) + 2, data, 2);
    return narrow;
  case DType::F16:
    std::memcpy(&half, data, 2);
    return halfToDouble(half);
  default:
    return std::nullopt;
  }
}

std::optional<double> reprise::runtime::findLoss(const std::vector<ArrayRef> &arrays,
                                                 const std::vector<ResultSource> &sources) {
  for (size_t i = 0; i < arrays.size(); ++i) {
    const ArrayRef &array = arrays[i];
    if (array.name != "loss" || array.bytes() != elementBytes(array.dtype))
      continue;
    const void *data = sources[i].part->read(sources[i].array);
    return data ? toDouble(array.dtype, data) : std::nullopt;
  }
  return std::nullopt;
}
