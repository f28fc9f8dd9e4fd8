// reprise: the little JSON that the runtime writes and reads
#ifndef REPRISE_RUNTIME_JSON_H
#define REPRISE_RUNTIME_JSON_H

#include "reprise/Runtime/Error.h"

#include <cstdint>
#include <map>
#include <vector>

namespace reprise::runtime {

/// The text in quotes, escaped.
std::string jsonString(const std::string &text);
/// The shortest decimal that reads back as `value`; infinities and NaNs, which JSON has no numbers
/// for, as "inf", "-inf" and "nan" in quotes.
std::string jsonNumber(double value);

struct JsonValue {
  enum Kind { Null, Bool, Number, String, Array, Object };
  Kind kind = Null;
  std::string text;                ///< of a string, unescaped; of all other scalars, as written
  std::vector<JsonValue> elements; ///< of an array; the values of an object
  std::vector<std::string> keys;   ///< of an object

  /// The member of that name; null if there is none or this is no object.
  const JsonValue *find(const std::string &key) const;
  /// The number if it is an integer in the range of int64_t.
  std::optional<int64_t> integer() const;
};

/// Fails on anything that is not one JSON object, has a key twice in one object, or is nested
/// deeper than 64 levels. The message has line and column, and no file's name.
Expected<JsonValue> parseJson(const std::string &text);

/// The members of an object that are integers in the range of int64_t; other members are skipped.
/// Fails as parseJson does.
Expected<std::map<std::string, int64_t>> parseJsonIntegers(const std::string &text);

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_JSON_H
