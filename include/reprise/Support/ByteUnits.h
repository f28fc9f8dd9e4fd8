// reprise: units of bytes for all options and files
#ifndef REPRISE_SUPPORT_BYTEUNITS_H
#define REPRISE_SUPPORT_BYTEUNITS_H

#include <optional>
#include <string_view>
#include <utility>

namespace reprise {

/// Names of the units, for messages.
inline constexpr std::string_view kByteUnits = "B, kB, MB, GB, TB, KiB, MiB, GiB, TiB";

/// Removes a unit from the end of `text` and returns its bytes; leaves text without a unit
/// unchanged.
inline std::optional<double> consumeByteUnit(std::string_view &text) {
  static constexpr std::pair<std::string_view, double> units[] = {
      {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}, {"kB", 1e3},
      {"MB", 1e6},     {"GB", 1e9},     {"TB", 1e12},    {"B", 1}};
  for (auto [unit, bytes] : units)
    if (text.size() >= unit.size() && text.substr(text.size() - unit.size()) == unit) {
      text.remove_suffix(unit.size());
      return bytes;
    }
  return std::nullopt;
}

} // namespace reprise

#endif // REPRISE_SUPPORT_BYTEUNITS_H
