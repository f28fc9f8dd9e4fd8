// reprise: JSON read from start to end, without a tree
#ifndef REPRISE_JSON_JSONSCANNER_H
#define REPRISE_JSON_JSONSCANNER_H

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace reprise {

/// Returns whether a text begins with a UTF-8 byte-order mark, which neither JSON nor CSV of this
/// project has.
inline bool hasByteOrderMark(std::string_view text) { return text.substr(0, 3) == "\xEF\xBB\xBF"; }
inline constexpr const char *kByteOrderMark =
    "unexpected byte-order mark (save the file as UTF-8 without it)";

/// Returns a valid string with its escapes replaced. Half of a surrogate pair becomes U+FFFD.
std::string unescapeJson(std::string_view text);

/// Scanner before a value, which the next call reads. After the first error all calls do nothing. A
/// tree of a graph with a million operations would need a hundred times the memory of its text.
class JsonScanner {
public:
  /// Line and column from 1, in bytes.
  struct Place {
    int64_t line = 1, column = 1;
  };

  explicit JsonScanner(std::string_view text);

  /// Reads an object; `member` reads each value. If the value is no object, skips it and returns
  /// false. Keys and strings are the written text, escapes included. A key that stands twice in one
  /// object is an error at the second.
  bool readObject(const std::function<void(std::string_view key)> &member);
  bool readArray(const std::function<void()> &element);
  /// Read a value of one type. If the value has another type, they skip it and return none: no
  /// number (of a double), no integer (of 64 bits), no string, neither true nor false.
  std::optional<double> readNumber();
  std::optional<int64_t> readInteger();
  std::optional<std::string_view> readString();
  std::optional<bool> readBoolean();
  /// Skips null and returns true if the value is null.
  bool readNull();
  /// Returns the first character of the next value; 0 at the end.
  char peek();
  /// Returns how many bytes stand before the next value.
  size_t offset();
  /// Skips a value and returns its text.
  std::string_view skip();
  /// Fails unless only space follows.
  void finish();
  /// Returns the error with its place; empty if there is none.
  const std::string &error() const { return wrong; }
  /// Returns the error without its place, and the place.
  const std::string &errorText() const { return wrongText; }
  Place errorPlace() const { return wrongPlace; }
  /// Returns where the last value begins that was read or skipped: " at line 3, column 7".
  std::string place() const;

private:
  /// Files of this project nest at most ten values, but readers of trees recurse.
  static constexpr int deepest = 200;

  void fail(std::string what);
  void skipSpace();
  /// Returns the first character of the next value.
  char peekValue();
  bool take(char expected);
  bool takeWord(std::string_view word);
  bool readItems(char open, char close, const char *expected, const std::function<void()> &item);
  std::string_view scanString();
  std::string_view scanNumber();
  std::string_view readDigits();

  const char *begin, *at, *end;
  const char *value = begin; ///< begin of the last value
  int depth = 0;
  std::string wrong, wrongText;
  Place wrongPlace;
};

} // namespace reprise

#endif // REPRISE_JSON_JSONSCANNER_H
