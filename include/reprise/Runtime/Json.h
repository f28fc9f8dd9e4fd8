// reprise: the little JSON that the runtime writes and reads
#ifndef REPRISE_RUNTIME_JSON_H
#define REPRISE_RUNTIME_JSON_H

#include "reprise/Runtime/Error.h"

#include <cstdint>
#include <vector>

namespace reprise::runtime {

/// Returns the text in quotes, escaped.
std::string jsonString(const std::string &text);
/// Returns the shortest decimal that reads back as `value`. Infinities and NaNs, for which JSON has
/// no numbers, become "inf", "-inf" and "nan" in quotes.
std::string jsonNumber(double value);

struct JsonValue {
  enum Kind { Null, Bool, Number, String, Array, Object };
  Kind kind = Null;
  /// Unescaped text of a string; the written text of any other scalar.
  std::string text;
  std::vector<JsonValue> elements; ///< elements of an array; values of an object
  std::vector<std::string> keys;   ///< keys of an object

  /// Returns the member with the name; null without such a member, or if this is no object.
  const JsonValue *find(const std::string &key) const;
  /// Returns the number if it is an integer in the range of int64_t.
  std::optional<int64_t> integer() const;
};

/// Parses one JSON object. Fails on any other text, on a key that stands twice in one object, and
/// on too many levels. The message has line and column, but no file name.
Expected<JsonValue> parseJson(const std::string &text);

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_JSON_H
