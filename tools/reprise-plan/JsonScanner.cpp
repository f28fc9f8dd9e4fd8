// reprise: JSON read from its start to its end, without a tree of it
#include "JsonScanner.h"

#include "llvm/ADT/StringExtras.h"
#include <cmath>

namespace reprise::remat {

void JsonScanner::fail(const char *what) {
  if (wrong.empty())
    wrong = std::string(what) + " at byte " + std::to_string(at - begin);
  at = end;
}

void JsonScanner::skipSpace() {
  while (at != end && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r'))
    ++at;
}

char JsonScanner::peek() {
  skipSpace();
  return at != end ? *at : '\0';
}

bool JsonScanner::take(char expected) {
  if (peek() != expected)
    return false;
  ++at;
  return true;
}

bool JsonScanner::descend() {
  if (depth == deepest)
    fail("too many nested values");
  return wrong.empty();
}

bool JsonScanner::readObject(llvm::function_ref<void(llvm::StringRef key)> member) {
  if (peek() != '{') {
    skip();
    return false;
  }
  if (!descend())
    return false;
  ++at;
  ++depth;
  for (bool isFirst = true; wrong.empty() && !take('}'); isFirst = false) {
    if (!isFirst && !take(','))
      fail("expected ',' or '}'");
    skipSpace();
    llvm::StringRef key = scanString();
    if (wrong.empty() && !take(':'))
      fail("expected ':'");
    if (wrong.empty())
      member(key);
  }
  --depth;
  return wrong.empty();
}

bool JsonScanner::readArray(llvm::function_ref<void()> element) {
  if (peek() != '[') {
    skip();
    return false;
  }
  if (!descend())
    return false;
  ++at;
  ++depth;
  for (bool isFirst = true; wrong.empty() && !take(']'); isFirst = false) {
    if (!isFirst && !take(','))
      fail("expected ',' or ']'");
    if (wrong.empty())
      element();
  }
  --depth;
  return wrong.empty();
}

std::optional<double> JsonScanner::readNumber() {
  char first = peek();
  double number = 0;
  if (first != '-' && !llvm::isDigit(first)) {
    skip();
    return std::nullopt;
  }
  llvm::StringRef text = scanNumber();
  if (!wrong.empty() || text.getAsDouble(number))
    return std::nullopt;
  return number;
}

std::optional<int64_t> JsonScanner::readInteger() {
  char first = peek();
  int64_t number = 0;
  if (first != '-' && !llvm::isDigit(first)) {
    skip();
    return std::nullopt;
  }
  llvm::StringRef text = scanNumber();
  if (!wrong.empty())
    return std::nullopt;
  if (!text.getAsInteger(10, number))
    return number;
  double real = 0; // such as 1e6 or 4.0
  if (text.getAsDouble(real) || !(std::abs(real) < 0x1p53) || std::floor(real) != real)
    return std::nullopt;
  return static_cast<int64_t>(real);
}

void JsonScanner::skip() {
  char first = peek();
  if (first == '{')
    readObject([&](llvm::StringRef) { skip(); });
  else if (first == '[')
    readArray([&] { skip(); });
  else if (first == '"')
    scanString();
  else if (first == '-' || llvm::isDigit(first))
    scanNumber();
  else
    scanWord();
}

void JsonScanner::finish() {
  if (wrong.empty() && peek())
    fail("expected the end");
}

/// What is between the quotes, as it is written.
llvm::StringRef JsonScanner::scanString() {
  if (at == end || *at != '"') {
    fail("expected a string");
    return {};
  }
  const char *first = ++at;
  while (at != end && *at != '"') {
    if (static_cast<unsigned char>(*at) < ' ') {
      fail("a control character in a string");
      return {};
    }
    at += *at == '\\' && at + 1 != end ? 2 : 1;
  }
  if (at == end) {
    fail("expected '\"'");
    return {};
  }
  return {first, static_cast<size_t>(at++ - first)};
}

llvm::StringRef JsonScanner::scanNumber() {
  const char *first = at;
  auto digits = [&] {
    const char *from = at;
    while (at != end && llvm::isDigit(*at))
      ++at;
    return at != from;
  };
  at += *at == '-';
  bool isZero = at != end && *at == '0'; // which no digit follows
  at += isZero;
  bool isNumber = isZero || digits();
  if (isNumber && at != end && *at == '.') {
    ++at;
    isNumber = digits();
  }
  if (isNumber && at != end && (*at == 'e' || *at == 'E')) {
    ++at;
    at += at != end && (*at == '+' || *at == '-');
    isNumber = digits();
  }
  llvm::StringRef text(first, static_cast<size_t>(at - first));
  if (!isNumber)
    fail("expected a digit");
  return text;
}

void JsonScanner::scanWord() {
  llvm::StringRef rest(at, static_cast<size_t>(end - at));
  for (llvm::StringRef word : {"true", "false", "null"})
    if (rest.starts_with(word)) {
      at += word.size();
      return;
    }
  fail("expected a value");
}

} // namespace reprise::remat
