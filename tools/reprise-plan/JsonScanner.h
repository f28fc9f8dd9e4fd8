// reprise: JSON read from its start to its end, without a tree of it
#ifndef REPRISE_TOOLS_REPRISE_PLAN_JSONSCANNER_H
#define REPRISE_TOOLS_REPRISE_PLAN_JSONSCANNER_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace reprise::remat {

/// Stands before a value, which one of the functions reads. After the first error all of them do
/// nothing. Graphs of a million operations take a hundred times their text as a tree.
class JsonScanner {
public:
  explicit JsonScanner(llvm::StringRef text) : begin(text.begin()), at(begin), end(text.end()) {}

  /// Reads an object; `member` reads each value. False, and the value is skipped, if it is no
  /// object.
  bool readObject(llvm::function_ref<void(llvm::StringRef key)> member);
  bool readArray(llvm::function_ref<void()> element);
  /// None, and the value is skipped, if it is no number, or none that is an integer.
  std::optional<double> readNumber();
  std::optional<int64_t> readInteger();
  void skip();
  /// Nothing but space follows.
  void finish();
  /// What is wrong with the text; empty if nothing is.
  const std::string &error() const { return wrong; }

private:
  static constexpr int deepest = 200;

  void fail(const char *what);
  void skipSpace();
  /// The next character behind space; 0 at the end.
  char peek();
  bool take(char expected);
  bool descend();
  llvm::StringRef scanString();
  llvm::StringRef scanNumber();
  void scanWord();

  const char *begin, *at, *end;
  int depth = 0;
  std::string wrong;
};

} // namespace reprise::remat

#endif // REPRISE_TOOLS_REPRISE_PLAN_JSONSCANNER_H
