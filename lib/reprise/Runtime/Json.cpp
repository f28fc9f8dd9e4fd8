// reprise: the small JSON reader and writer of the runtime
#include "reprise/Runtime/Json.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <unordered_set>

using namespace reprise::runtime;

std::string reprise::runtime::jsonString(const std::string &text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", c);
      quoted += escape;
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

std::string reprise::runtime::jsonNumber(double value) {
  if (value != value)
    return "\"nan\"";
  if (value - value != 0)
    return value > 0 ? "\"inf\"" : "\"-inf\"";
  char text[32];
  return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
}

const JsonValue *JsonValue::find(const std::string &key) const {
  for (size_t i = 0; i < keys.size(); ++i)
    if (keys[i] == key)
      return &elements[i];
  return nullptr;
}

std::optional<int64_t> JsonValue::integer() const {
  int64_t number = 0;
  auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (kind != Number || code != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return number;
}

namespace {

void appendUtf8(std::string &into, uint32_t code) {
  if (code < 0x80) {
    into += char(code);
    return;
  }
  unsigned more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  into += char((0xff00 >> (more + 1) & 0xff) | code >> 6 * more);
  while (more-- > 0)
    into += char(0x80 | (code >> 6 * more & 0x3f));
}

class Parser {
public:
  explicit Parser(const std::string &text) : text(text) {}

  bool parse(JsonValue &value) {
    if (text.compare(0, 3, "\xEF\xBB\xBF") == 0)
      return fail("unexpected byte-order mark (save the file as UTF-8 without it)");
    if (!take('{') || !members(value, 0))
      return false;
    skipSpace();
    return at == text.size();
  }
  /// Returns the error of parse(), with its place.
  std::string error() const {
    size_t end = std::min(at, text.size());
    size_t lineBegin = end == 0 ? 0 : text.rfind('\n', end - 1) + 1; // 0 in the first line
    return (wrong.empty() ? "expected a JSON object" : wrong) + " at line " +
           std::to_string(1 + std::count(text.begin(), text.begin() + end, '\n')) + ", column " +
           std::to_string(1 + end - lineBegin);
  }

private:
  static constexpr unsigned maxDepth = 64;

  bool fail(std::string why) {
    wrong = std::move(why);
    return false;
  }
  void skipSpace() {
    while (at < text.size() && std::string(" \t\r\n").find(text[at]) != std::string::npos)
      ++at;
  }
  bool take(char c) {
    skipSpace();
    if (at >= text.size() || text[at] != c)
      return false;
    ++at;
    return true;
  }
  bool string(std::string &into) {
    if (!take('"'))
      return false;
    for (; at < text.size() && text[at] != '"'; ++at) {
      if (text[at] != '\\')
        into += text[at];
      else if (!escape(into))
        return false;
    }
    return take('"');
  }
  /// Reads an escape behind a backslash; stops on its last character.
  bool escape(std::string &into) {
    static const std::string letters = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
    if (++at == text.size())
      return false;
    if (size_t letter = letters.find(text[at]); letter != std::string::npos) {
      into += meanings[letter];
      return true;
    }
    uint32_t code = 0, low = 0;
    if (!unit(code))
      return false;
    bool isPair = code >= 0xd800 && code < 0xdc00 && at + 2 < text.size() && text[at + 1] == '\\';
    if (isPair) {
      at += 2;
      if (!unit(low) || low < 0xdc00 || low >= 0xe000)
        return false;
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    appendUtf8(into, code);
    return true;
  }
  /// The letter u and four hexadecimal digits.
  bool unit(uint32_t &code) {
    if (at + 5 > text.size() || text[at] != 'u')
      return false;
    auto [end, error] = std::from_chars(&text[at + 1], &text[at + 1] + 4, code, 16);
    at += 4;
    return error == std::errc() && end == &text[at] + 1;
  }
  bool members(JsonValue &object, unsigned depth) {
    object.kind = JsonValue::Object;
    std::unordered_set<std::string> seen;
    if (take('}'))
      return true;
    do {
      skipSpace();
      size_t place = at;
      if (!string(object.keys.emplace_back()))
        return false;
      if (!seen.insert(object.keys.back()).second) {
        at = place;
        return fail("the key '" + object.keys.back() + "' is repeated");
      }
      if (!take(':') || !value(object.elements.emplace_back(), depth))
        return false;
    } while (take(','));
    return take('}');
  }
  bool elements(JsonValue &array, unsigned depth) {
    array.kind = JsonValue::Array;
    if (take(']'))
      return true;
    do {
      if (!value(array.elements.emplace_back(), depth))
        return false;
    } while (take(','));
    return take(']');
  }
  bool value(JsonValue &into, unsigned depth) {
    if (depth == maxDepth)
      return false;
    if (take('{'))
      return members(into, depth + 1);
    if (take('['))
      return elements(into, depth + 1);
    skipSpace();
    if (at < text.size() && text[at] == '"') {
      into.kind = JsonValue::String;
      return string(into.text);
    }
    size_t begin = at;
    while (at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) ||
                                std::string("+-.").find(text[at]) != std::string::npos))
      ++at;
    into.text = text.substr(begin, at - begin);
    return scalar(into);
  }
  static bool scalar(JsonValue &into) {
    if (into.text == "null")
      return true;
    bool isBool = into.text == "true" || into.text == "false";
    into.kind = isBool ? JsonValue::Bool : JsonValue::Number;
    char *stop = nullptr;
    std::strtod(into.text.c_str(), &stop);
    return isBool || (!into.text.empty() && *stop == 0);
  }

  const std::string &text;
  size_t at = 0;
  std::string wrong;
};

} // namespace

Expected<JsonValue> reprise::runtime::parseJson(const std::string &text) {
  JsonValue value;
  Parser parser(text);
  if (!parser.parse(value))
    return Error::make(parser.error());
  return value;
}

Expected<std::map<std::string, int64_t>>
reprise::runtime::parseJsonIntegers(const std::string &text) {
  Expected<JsonValue> object = parseJson(text);
  if (!object)
    return object.error();
  std::map<std::string, int64_t> integers;
  for (size_t i = 0; i < object->keys.size(); ++i)
    if (std::optional<int64_t> integer = object->elements[i].integer())
      integers[object->keys[i]] = *integer;
  return integers;
}
