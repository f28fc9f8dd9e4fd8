// reprise: bytes, counts and long texts in readable form
#ifndef REPRISE_SUPPORT_READABLE_H
#define REPRISE_SUPPORT_READABLE_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <string>
#include <string_view>

namespace reprise {

/// Returns digits in groups of three: "129,284,176".
inline std::string groupDigits(int64_t number) {
  std::string digits = std::to_string(number);
  size_t first = number < 0;
  for (size_t at = digits.size(); at > first + 3;)
    digits.insert(at -= 3, ",");
  return digits;
}

/// Returns bytes in the largest unit with a value of at least one: "123.3 MiB", "512 B".
inline std::string showBytes(int64_t bytes) {
  static constexpr const char *units[] = {"KiB", "MiB", "GiB", "TiB"};
  double size = static_cast<double>(bytes) / 1024;
  if (size < 1)
    return std::to_string(bytes) + " B";
  const char *const *unit = units;
  for (; size >= 1024 && unit != std::end(units) - 1; size /= 1024)
    ++unit;
  char text[48];
  std::snprintf(text, sizeof text, "%.1f %s", size, *unit);
  return text;
}

/// Returns bytes for people and for programs: "123.3 MiB (129,284,176 bytes)", "512 bytes".
inline std::string showBytesExactly(int64_t bytes) {
  std::string exact = groupDigits(bytes) + (bytes == 1 ? " byte" : " bytes");
  return bytes < 1024 ? exact : showBytes(bytes) + " (" + exact + ")";
}

/// Returns percent with a sign: "+2.31 %", never "-0.00 %".
inline std::string showPercent(double percent) {
  char text[48];
  double rounded = std::round(100 * percent) / 100;
  std::snprintf(text, sizeof text, "%+.2f %%", rounded == 0 ? 0.0 : rounded);
  return text;
}

/// Returns the part of a cost that is not proven necessary; both numbers in percent, `bound` is at
/// most `cost`.
inline std::string showGap(double cost, double bound) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", cost - bound);
  if (std::string_view(text) == "0.00" || std::string_view(text) == "-0.00")
    return "no plan within the budget costs less";
  return std::string(text) +
         " percentage points of the cost are not proven necessary (lower bound " +
         showPercent(bound) + ")";
}

/// Returns the text without its middle if it is longer than `most` bytes, with the number of
/// omitted bytes. Characters of several bytes stay whole.
inline std::string cutMiddle(std::string_view text, size_t most) {
  if (text.size() <= most)
    return std::string(text);
  auto isInside = [&](size_t at) { return (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80; };
  size_t kept = most - 40; // 40 bytes are for the note about omitted bytes
  size_t head = kept * 2 / 3, tail = text.size() - kept / 3;
  for (int i = 0; i < 3 && isInside(head); ++i)
    --head;
  for (int i = 0; i < 3 && tail < text.size() && isInside(tail); ++i)
    ++tail;
  return std::string(text.substr(0, head)) + "[… " +
         groupDigits(static_cast<int64_t>(tail - head)) + " bytes …]" +
         std::string(text.substr(tail));
}

/// Returns the text with control characters as escapes, such as "\x07" for a bell.
inline std::string escapeControls(std::string_view text) {
  std::string shown;
  for (char c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\x%02x", static_cast<unsigned char>(c));
      shown += escape;
    } else {
      shown += c;
    }
  return shown;
}

/// Shortens a message to a screen: words longer than a few lines, such as names, lose their middle,
/// and then the message does. Control characters, as in raw binary data, become escapes.
inline std::string shortenMessage(std::string_view message) {
  constexpr size_t longestWord = 500, longest = 4000;
  std::string text;
  while (!message.empty()) {
    size_t end = std::min(message.find_first_of(" \n\t"), message.size());
    text += escapeControls(cutMiddle(message.substr(0, end), longestWord));
    message.remove_prefix(end);
    size_t next = std::min(message.find_first_not_of(" \n\t"), message.size());
    text += message.substr(0, next);
    message.remove_prefix(next);
  }
  return cutMiddle(text, longest);
}

} // namespace reprise

#endif // REPRISE_SUPPORT_READABLE_H
