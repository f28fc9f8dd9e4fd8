// reprise: the little JSON that the runtime writes and reads
#include "reprise/Runtime/Json.h"

#include <cctype>
#include <charconv>
#include <cstdio>
#include <cstdlib>

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

namespace {

/// Skips over values; keeps the integers of the outermost object.
class Parser {
public:
  explicit Parser(const std::string &text) : text(text) {}
  std::map<std::string, int64_t> integers;

  bool parse() {
    if (!take('{') || !members(0))
      return false;
    skipSpace();
    return at == text.size();
  }

private:
  static constexpr unsigned maxDepth = 64;

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
      if (text[at] == '\\' && ++at == text.size())
        return false;
      into += text[at];
    }
    return take('"');
  }
  bool members(unsigned depth) {
    if (take('}'))
      return true;
    do {
      std::string key;
      if (!string(key) || !take(':') || !value(depth, key))
        return false;
    } while (take(','));
    return take('}');
  }
  bool elements(unsigned depth) {
    if (take(']'))
      return true;
    do {
      if (!value(depth, ""))
        return false;
    } while (take(','));
    return take(']');
  }
  bool value(unsigned depth, const std::string &key) {
    if (depth == maxDepth)
      return false;
    if (take('{'))
      return members(depth + 1);
    if (take('['))
      return elements(depth + 1);
    std::string ignored;
    if (take('"')) {
      --at;
      return string(ignored);
    }
    size_t begin = at;
    while (at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) ||
                                std::string("+-.").find(text[at]) != std::string::npos))
      ++at;
    return scalar(text.substr(begin, at - begin), depth, key);
  }
  bool scalar(const std::string &word, unsigned depth, const std::string &key) {
    if (word == "true" || word == "false" || word == "null")
      return true;
    int64_t integer;
    auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), integer);
    if (code == std::errc() && end == word.data() + word.size()) {
      if (depth == 0)
        integers[key] = integer;
      return true;
    }
    char *stop = nullptr;
    std::strtod(word.c_str(), &stop);
    return !word.empty() && *stop == 0;
  }

  const std::string &text;
  size_t at = 0;
};

} // namespace

Expected<std::map<std::string, int64_t>>
reprise::runtime::parseJsonIntegers(const std::string &text) {
  Parser parser(text);
  if (!parser.parse())
    return Error::make("it is no JSON object");
  return std::move(parser.integers);
}
