// reprise: JSON read from its start to its end, without a tree of it
#include "reprise/Planning/JsonScanner.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace reprise {

static bool isDigit(char c) { return c >= '0' && c <= '9'; }

static bool isHexDigit(char c) {
  return isDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

void JsonScanner::fail(const char *what) {
  if (wrong.empty())
    wrong = what + describePlace(at);
  at = end;
}

std::string JsonScanner::describePlace(const char *where) const {
  const char *lineBegin = where;
  while (lineBegin != begin && lineBegin[-1] != '\n')
    --lineBegin;
  return " at line " + std::to_string(1 + std::count(begin, where, '\n')) + ", column " +
         std::to_string(1 + (where - lineBegin));
}

void JsonScanner::skipSpace() {
  while (at != end && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r'))
    ++at;
}

char JsonScanner::peek() {
  skipSpace();
  return at != end ? *at : '\0';
}

char JsonScanner::peekValue() {
  char first = peek();
  value = at;
  return first;
}

bool JsonScanner::take(char expected) {
  if (peek() != expected)
    return false;
  ++at;
  return true;
}

bool JsonScanner::takeWord(std::string_view word) {
  peekValue();
  if (std::string_view(at, static_cast<size_t>(end - at)).substr(0, word.size()) != word)
    return false;
  at += word.size();
  return true;
}

bool JsonScanner::readItems(char open, char close, const char *expected,
                            const std::function<void()> &item) {
  if (peekValue() != open) {
    skip();
    return false;
  }
  if (depth == deepest)
    fail("too many nested values");
  if (!wrong.empty())
    return false;
  ++at;
  ++depth;
  for (bool isFirst = true; wrong.empty() && !take(close); isFirst = false) {
    if (!isFirst && !take(','))
      fail(expected);
    item();
  }
  --depth;
  return wrong.empty();
}

bool JsonScanner::readObject(const std::function<void(std::string_view key)> &member) {
  return readItems('{', '}', "expected ',' or '}'", [&] {
    skipSpace();
    std::string_view key = scanString();
    if (wrong.empty() && !take(':'))
      fail("expected ':'");
    if (wrong.empty())
      member(key);
  });
}

bool JsonScanner::readArray(const std::function<void()> &element) {
  return readItems('[', ']', "expected ',' or ']'", [&] {
    if (wrong.empty())
      element();
  });
}

std::optional<double> JsonScanner::readNumber() {
  char first = peekValue();
  double number = 0;
  if (first != '-' && !isDigit(first)) {
    skip();
    return std::nullopt;
  }
  std::string_view text = scanNumber();
  auto [rest, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (!wrong.empty() || code != std::errc())
    return std::nullopt;
  return number;
}

std::optional<int64_t> JsonScanner::readInteger() {
  char first = peekValue();
  int64_t number = 0;
  if (first != '-' && !isDigit(first)) {
    skip();
    return std::nullopt;
  }
  std::string_view text = scanNumber();
  if (!wrong.empty())
    return std::nullopt;
  const char *last = text.data() + text.size();
  auto [rest, code] = std::from_chars(text.data(), last, number);
  if (code == std::errc() && rest == last)
    return number;
  double real = 0; // such as 1e6 or 4.0
  bool isReal = std::from_chars(text.data(), last, real).ec == std::errc();
  if (!isReal || !(std::abs(real) < 0x1p53) || std::floor(real) != real)
    return std::nullopt;
  return static_cast<int64_t>(real);
}

std::optional<std::string_view> JsonScanner::readString() {
  if (peekValue() != '"') {
    skip();
    return std::nullopt;
  }
  std::string_view text = scanString();
  if (!wrong.empty())
    return std::nullopt;
  return text;
}

std::optional<bool> JsonScanner::readBoolean() {
  if (takeWord("true"))
    return true;
  if (takeWord("false"))
    return false;
  skip();
  return std::nullopt;
}

bool JsonScanner::readNull() { return takeWord("null"); }

void JsonScanner::skip() {
  char first = peekValue();
  if (first == '{')
    readObject([&](std::string_view) { skip(); });
  else if (first == '[')
    readArray([&] { skip(); });
  else if (first == '"')
    scanString();
  else if (first == '-' || isDigit(first))
    scanNumber();
  else
    scanWord();
}

void JsonScanner::finish() {
  skipSpace();
  if (at != end)
    fail("expected the end");
}

/// What is between the quotes, as it is written.
std::string_view JsonScanner::scanString() {
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
    if (*at++ == '\\' && !scanEscape()) {
      fail("an unknown escape in a string");
      return {};
    }
  }
  if (at == end) {
    fail("expected '\"'");
    return {};
  }
  return {first, static_cast<size_t>(at++ - first)};
}

/// What follows a backslash.
bool JsonScanner::scanEscape() {
  if (at == end || std::string_view("\"\\/bfnrtu").find(*at) == std::string_view::npos)
    return false;
  int digits = *at++ == 'u' ? 4 : 0;
  for (; digits > 0 && at != end && isHexDigit(*at); --digits)
    ++at;
  return digits == 0;
}

std::string_view JsonScanner::scanNumber() {
  const char *first = at;
  auto digits = [&] {
    const char *from = at;
    while (at != end && isDigit(*at))
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
  std::string_view text(first, static_cast<size_t>(at - first));
  if (!isNumber)
    fail("expected a digit");
  return text;
}

void JsonScanner::scanWord() {
  if (!takeWord("true") && !takeWord("false") && !takeWord("null"))
    fail("expected a value");
}

} // namespace reprise
