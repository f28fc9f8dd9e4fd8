// reprise: loads and stores of tensor elements by emulated libraries
#include "Elements.h"

#include "../FloatBits.h"

using namespace reprise::emulator;

float reprise::emulator::loadElement(const void *data, int type, int64_t index) {
  if (type == typeF32)
    return static_cast<const float *>(data)[index];
  uint16_t bits = static_cast<const uint16_t *>(data)[index];
  return type == typeF16 ? fromHalf(bits) : fromBfloat(bits);
}

void reprise::emulator::storeElement(void *data, int type, int64_t index, float value) {
  if (type == typeF32)
    static_cast<float *>(data)[index] = canonical(value);
  else
    static_cast<uint16_t *>(data)[index] = type == typeF16 ? toHalf(value) : toBfloat(value);
}

float reprise::emulator::roundElement(float value, int type) {
  float stored = 0;
  storeElement(&stored, type, 0, value);
  return loadElement(&stored, type, 0);
}
