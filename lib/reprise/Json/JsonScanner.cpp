// reprise: JSON read from start to end, without a tree
#include "reprise/Json/JsonScanner.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <deque>
#include <unordered_set>
#include <vector>

namespace reprise {

namespace {

void appendUtf8(std::string &into, unsigned code) {
  if (code < 0x80) {
    into += static_cast<char>(code);
    return;
  }
  unsigned more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  into += static_cast<char>((0xff00 >> (more + 1) & 0xff) | code >> 6 * more);
  while (more-- > 0)
    into += static_cast<char>(0x80 | (code >> 6 * more & 0x3f));
}

} // namespace

std::string unescapeJson(std::string_view text) {
  static constexpr std::string_view letters = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
  auto readUnit = [&](size_t from) {
    unsigned code = 0;
    std::from_chars(text.data() + from, text.data() + from + 4, code, 16);
    return code;
  };
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      plain += text[i];
    } else if (text[++i] != 'u') {
      plain += meanings[letters.find(text[i])];
    } else {
      unsigned code = readUnit(i + 1);
      i += 4;
      bool isPair = code >= 0xd800 && code < 0xdc00 && text.substr(i + 1, 2) == "\\u";
      if (unsigned low = isPair ? readUnit(i + 3) : 0; low >= 0xdc00 && low < 0xe000) {
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        i += 6;
      }
      appendUtf8(plain, code >= 0xd800 && code < 0xe000 ? 0xfffd : code);
    }
  }
  return plain;
}

namespace {

/// The keys of an object. Most objects have few, in a file that has many objects.
class KeySet {
public:
  /// Adds a key; returns false if it exists already, in any spelling.
  bool add(std::string_view key) {
    if (key.find('\\') != std::string_view::npos)
      key = spelled.emplace_back(unescapeJson(key));
    if (hashed.empty() && keys.size() < kFew) {
      bool isNew = std::find(keys.begin(), keys.end(), key) == keys.end();
      keys.push_back(key);
      return isNew;
    }
    if (hashed.empty())
      hashed.insert(keys.begin(), keys.end());
    return hashed.insert(key).second;
  }

private:
  static constexpr size_t kFew = 16;
  std::vector<std::string_view> keys;
  std::unordered_set<std::string_view> hashed;
  std::deque<std::string> spelled;
};

} // namespace

static bool isDigit(char c) { return c >= '0' && c <= '9'; }

static bool isHexDigit(char c) {
  return isDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

JsonScanner::JsonScanner(std::string_view text)
    : begin(text.data()), at(begin), end(begin + text.size()) {
  if (hasByteOrderMark(text))
    fail(kByteOrderMark);
}

static JsonScanner::Place findPlace(const char *begin, const char *where) {
  const char *lineBegin = where;
  while (lineBegin != begin && lineBegin[-1] != '\n')
    --lineBegin;
  return {1 + std::count(begin, where, '\n'), 1 + (where - lineBegin)};
}

static std::string describe(JsonScanner::Place place) {
  return " at line " + std::to_string(place.line) + ", column " + std::to_string(place.column);
}

std::string JsonScanner::place() const { return describe(findPlace(begin, value)); }

void JsonScanner::fail(std::string what) {
  if (wrong.empty()) {
    wrongPlace = findPlace(begin, at);
    wrongText = std::move(what);
    wrong = wrongText + describe(wrongPlace);
  }
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

char JsonScanner::peekValue() {
  char first = peek();
  value = at;
  return first;
}

size_t JsonScanner::offset() {
  skipSpace();
  return static_cast<size_t>(at - begin);
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
  KeySet keys;
  return readItems('{', '}', "expected ',' or '}'", [&] {
    skipSpace();
    const char *place = at;
    std::string_view key = scanString();
    if (wrong.empty() && !keys.add(key)) {
      at = place;
      fail("the key '" + std::string(key) + "' is repeated");
    }
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

/// Returns the text of a number; empty if the value is none, and is skipped then, or is malformed.
std::string_view JsonScanner::readDigits() {
  char first = peekValue();
  if (first != '-' && !isDigit(first)) {
    skip();
    return {};
  }
  std::string_view text = scanNumber();
  return wrong.empty() ? text : std::string_view();
}

std::optional<double> JsonScanner::readNumber() {
  std::string_view text = readDigits();
  double number = 0;
  auto [rest, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  return code == std::errc() ? std::optional(number) : std::nullopt;
}

std::optional<int64_t> JsonScanner::readInteger() {
  std::string_view text = readDigits();
  int64_t number = 0;
  const char *last = text.data() + text.size();
  auto [rest, code] = std::from_chars(text.data(), last, number);
  if (code == std::errc() && rest == last)
    return number;
  double real = 0; // a real such as 1e6 or 4.0
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

std::string_view JsonScanner::skip() {
  char first = peekValue();
  const char *from = at;
  if (first == '{')
    readObject([&](std::string_view) { skip(); });
  else if (first == '[')
    readArray([&] { skip(); });
  else if (first == '"')
    scanString();
  else if (first == '-' || isDigit(first))
    scanNumber();
  else if (!takeWord("true") && !takeWord("false") && !takeWord("null"))
    fail("expected a value");
  return wrong.empty() ? std::string_view(from, static_cast<size_t>(at - from)) : "";
}

void JsonScanner::finish() {
  skipSpace();
  if (at != end)
    fail("expected the end");
}

/// Moves `at` behind an escape, whose backslash is before `at`. Returns false if there is none.
static bool skipEscape(const char *&at, const char *end) {
  if (at == end || std::string_view("\"\\/bfnrtu").find(*at) == std::string_view::npos)
    return false;
  int digits = *at++ == 'u' ? 4 : 0;
  for (; digits > 0 && at != end && isHexDigit(*at); --digits)
    ++at;
  return digits == 0;
}

/// Returns the text between the quotes, without changes.
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
    if (*at++ == '\\' && !skipEscape(at, end)) {
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

std::string_view JsonScanner::scanNumber() {
  const char *first = at;
  auto digits = [&] {
    const char *from = at;
    while (at != end && isDigit(*at))
      ++at;
    return at != from;
  };
  at += *at == '-';
  bool isZero = at != end && *at == '0'; // no digit may follow it
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

} // namespace reprise
