// reprise: names of element types in .safetensors files
#ifndef REPRISE_LIB_RUNTIME_SAFETENSORSTYPES_H
#define REPRISE_LIB_RUNTIME_SAFETENSORSTYPES_H

#include "reprise/Runtime/Bundle.h"

#include <string_view>

namespace reprise::runtime {

inline const char *safetensorsType(DType dtype) {
  static const char *const names[numDTypes] = {"F32", "F64", "BF16", "F16", "I32", "I64", "BOOL"};
  return names[unsigned(dtype)];
}

/// Returns the bits of an element; none for an unknown type.
inline std::optional<uint64_t> bitsOfType(std::string_view type) {
  static constexpr std::pair<std::string_view, uint64_t> types[] = {
      {"F64", 64},        {"F32", 32},       {"BF16", 16}, {"F16", 16},    {"I64", 64},
      {"I32", 32},        {"I16", 16},       {"I8", 8},    {"U64", 64},    {"U32", 32},
      {"U16", 16},        {"U8", 8},         {"BOOL", 8},  {"F8_E5M2", 8}, {"F8_E4M3", 8},
      {"C64", 64},        {"F8_E8M0", 8},    {"F4", 4},    {"F6_E2M3", 6}, {"F6_E3M2", 6},
      {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}};
  for (auto [name, bits] : types)
    if (name == type)
      return bits;
  return std::nullopt;
}

} // namespace reprise::runtime

#endif // REPRISE_LIB_RUNTIME_SAFETENSORSTYPES_H
