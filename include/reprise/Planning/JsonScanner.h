// reprise: JSON read from its start to its end, without a tree of it
#ifndef REPRISE_PLANNING_JSONSCANNER_H
#define REPRISE_PLANNING_JSONSCANNER_H

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace reprise {

/// Stands before a value, which one of the functions reads. After the first error all of them do
/// nothing. Graphs of a million operations take a hundred times their text as a tree.
class JsonScanner {
public:
  explicit JsonScanner(std::string_view text)
      : begin(text.data()), at(begin), end(begin + text.size()) {}

  /// Reads an object; `member` reads each value. False, and the value is skipped, if it is no
  /// object. Keys and strings are as they are written, escapes included.
  bool readObject(const std::function<void(std::string_view key)> &member);
  bool readArray(const std::function<void()> &element);
  /// None, and the value is skipped, if it is no number (of a double), none that is an integer (of
  /// 64 bits), no string, neither true nor false.
  std::optional<double> readNumber();
  std::optional<int64_t> readInteger();
  std::optional<std::string_view> readString();
  std::optional<bool> readBoolean();
  /// True, and the value is behind us, if it is null.
  bool readNull();
  bool isBeforeObject() { return peek() == '{'; }
  void skip();
  /// Nothing but space follows.
  void finish();
  /// What is wrong with the text, and where; empty if nothing is.
  const std::string &error() const { return wrong; }
  /// Where the last value begins that was read or skipped: " at line 3, column 7".
  std::string place() const { return describePlace(value); }

private:
  static constexpr int deepest = 200;

  void fail(const char *what);
  std::string describePlace(const char *where) const;
  void skipSpace();
  /// The next character behind space; 0 at the end.
  char peek();
  /// The same, of a value.
  char peekValue();
  bool take(char expected);
  bool takeWord(std::string_view word);
  bool readItems(char open, char close, const char *expected, const std::function<void()> &item);
  std::string_view scanString();
  bool scanEscape();
  std::string_view scanNumber();
  void scanWord();

  const char *begin, *at, *end;
  const char *value = begin; ///< the last one
  int depth = 0;
  std::string wrong;
};

} // namespace reprise

#endif // REPRISE_PLANNING_JSONSCANNER_H
