// reprise: elements of tensors as emulated libraries read and write them
#ifndef REPRISE_GPU_EMULATOR_LIBRARIES_ELEMENTS_H
#define REPRISE_GPU_EMULATOR_LIBRARIES_ELEMENTS_H

#include <cstddef>
#include <cstdint>

namespace reprise::emulator {

/// As cuBLASLt numbers them.
constexpr int typeF32 = 0, typeF16 = 2, typeBF16 = 14;
inline uint64_t bytesOfType(int type) { return type == typeF32 ? 4 : 2; }
float loadElement(const void *data, int type, int64_t index);
void storeElement(void *data, int type, int64_t index, float value);
/// As if it were stored and loaded.
float roundElement(float value, int type);

} // namespace reprise::emulator

#endif
