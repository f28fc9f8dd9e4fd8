// reprise: JSON read from its start to its end, without a tree of it
#ifndef REPRISE_PLANNING_JSONSCANNER_H
#define REPRISE_PLANNING_JSONSCANNER_H

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace reprise {

/// Whether a text begins with a UTF-8 byte-order mark, which neither JSON nor CSV of ours has.
inline bool hasByteOrderMark(std::string_view text) { return text.substr(0, 3) == "\xEF\xBB\xBF"; }
inline constexpr const char *kByteOrderMark =
    "unexpected byte-order mark (save the file as UTF-8 without it)";

/// Stands before a value, which one of the functions reads. After the first error all of them do
/// nothing. Graphs of a million operations take a hundred times their text as a tree.
class JsonScanner {
public:
  /// From 1, in bytes.
  struct Place {
    int64_t line = 1, column = 1;
  };

  explicit JsonScanner(std::string_view text);

  /// Reads an object; `member` reads each value. False, and the value is skipped, if it is no
  /// object. Keys and strings are as they are written, escapes included. A key that stands twice in
  /// one object is an error at the second.
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
  /// The error without its place, and its place.
  const std::string &errorText() const { return wrongText; }
  Place errorPlace() const { return wrongPlace; }
  /// Where the last value begins that was read or skipped: " at line 3, column 7".
  std::string place() const;

private:
  static constexpr int deepest = 200;

  void fail(std::string what);
  void skipSpace();
  /// The next character behind space; 0 at the end.
  char peek();
  /// The same, of a value.
  char peekValue();
  bool take(char expected);
  bool takeWord(std::string_view word);
  bool readItems(char open, char close, const char *expected, const std::function<void()> &item);
  std::string_view scanString();
  std::string_view scanNumber();
  void scanWord();

  const char *begin, *at, *end;
  const char *value = begin; ///< the last one
  int depth = 0;
  std::string wrong, wrongText;
  Place wrongPlace;
};

} // namespace reprise

#endif // REPRISE_PLANNING_JSONSCANNER_H
