// reprise: common parts of messages: counts of things, and suggestions for unknown names
#ifndef REPRISE_SUPPORT_WORDING_H
#define REPRISE_SUPPORT_WORDING_H

#include "reprise/Support/Readable.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace reprise {

/// Returns the text without the commas that groupDigits puts into a whole number; unchanged if its
/// commas stand elsewhere.
inline std::string ungroupDigits(std::string_view text) {
  std::string digits;
  for (char c : text)
    if (c != ',')
      digits += c;
  bool isNumber = !digits.empty() && digits.size() <= 18 &&
                  digits.find_first_not_of("0123456789") == std::string::npos;
  return isNumber && groupDigits(std::stoll(digits)) == text ? digits : std::string(text);
}

/// Returns a count of things: "1 step", "2,000 steps".
inline std::string amount(int64_t number, std::string_view thing) {
  return groupDigits(number) + " " + std::string(thing) + (number == 1 ? "" : "s");
}

/// Counts the letters to insert, delete or change, and neighbours to swap. Ignores case, and treats
/// an underscore as a dash.
inline size_t countEdits(std::string_view a, std::string_view b) {
  auto fold = [](char c) { return c == '_' ? '-' : std::tolower(static_cast<unsigned char>(c)); };
  auto isSame = [&](size_t i, size_t j) { return fold(a[i - 1]) == fold(b[j - 1]); };
  std::vector<size_t> before, above, row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(above, row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + !isSame(i, j)});
      if (i > 1 && j > 1 && isSame(i, j - 1) && isSame(i - 1, j))
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
}

/// Returns the most similar name: at most two edits or a third of its letters away, or one edit for
/// four letters or fewer. Empty if no name is so similar.
template <class Names> std::string findNearest(std::string_view given, const Names &names) {
  std::string nearest;
  size_t most = given.size() <= 4 ? 1 : std::max<size_t>(2, given.size() / 3);
  size_t least = std::min(most + 1, given.size());
  for (const auto &name : names) {
    std::string_view text = name;
    size_t apart = text.size() > given.size() + most ? least : countEdits(given, text);
    if (apart < least) {
      least = apart;
      nearest = text;
    }
  }
  return nearest;
}

/// Returns the end of a message about an unknown name: ", did you mean 'NAME'?" or, if no name is
/// near, ", expected one of A, B".
template <class Names> std::string suggest(std::string_view given, const Names &names) {
  if (std::string nearest = findNearest(given, names); !nearest.empty())
    return ", did you mean '" + nearest + "'?";
  std::string text;
  for (const auto &name : names)
    text += (text.empty() ? ", expected one of " : ", ") + std::string(std::string_view(name));
  return text;
}

} // namespace reprise

#endif // REPRISE_SUPPORT_WORDING_H
