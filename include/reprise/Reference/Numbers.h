// reprise: conversions between element types and integer arithmetic, as the interpreter computes
// them.
//
// bf16 and f16 values are held as their bits. A conversion rounds once, to nearest, ties to even,
// subnormals included, whatever the types are; a NaN becomes the quiet NaN without sign or payload
// (0x7FC0, 0x7E00).

#ifndef REPRISE_REFERENCE_NUMBERS_H
#define REPRISE_REFERENCE_NUMBERS_H

#include <cstdint>

namespace reprise::reference {

float fromBf16(uint16_t bits);
float fromF16(uint16_t bits);

uint16_t toBf16(float value);
uint16_t toBf16(double value);
uint16_t toBf16(int64_t value);
uint16_t toF16(float value);
uint16_t toF16(double value);
uint16_t toF16(int64_t value);

/// Converts towards zero; saturates at the limits of the type, and NaN gives 0.
int32_t toInt32(double value);
int64_t toInt64(double value);

/// Returns the signed quotient towards zero: x/0 is -1, and the least integer over -1 is itself.
int32_t divide(int32_t a, int32_t b);
int64_t divide(int64_t a, int64_t b);

/// Returns a - divide(a, b)·b with the sign of a: x % 0 is x.
int32_t remainder(int32_t a, int32_t b);
int64_t remainder(int64_t a, int64_t b);

} // namespace reprise::reference

#endif // REPRISE_REFERENCE_NUMBERS_H
