// reprise: loads and stores of tensor elements by emulated libraries
#ifndef REPRISE_GPU_EMULATOR_LIBRARIES_ELEMENTS_H
#define REPRISE_GPU_EMULATOR_LIBRARIES_ELEMENTS_H

#include <cstddef>
#include <cstdint>

namespace reprise::emulator {

/// Numbers of types in cuBLASLt.
constexpr int typeF32 = 0, typeF16 = 2, typeBF16 = 14;
inline uint64_t bytesOfType(int type) { return type == typeF32 ? 4 : 2; }
float loadElement(const void *data, int type, int64_t index);
void storeElement(void *data, int type, int64_t index, float value);
/// Rounds a value as a store and a load would.
float roundElement(float value, int type);

} // namespace reprise::emulator

#endif
