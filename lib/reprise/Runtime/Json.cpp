// reprise: the small JSON reader and writer of the runtime
#include "reprise/Runtime/Json.h"

#include "reprise/Json/JsonScanner.h"

#include <charconv>
#include <cstdio>

using namespace reprise;
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

static void readValue(JsonScanner &scanner, JsonValue &into) {
  char first = scanner.peek();
  if (first == '{') {
    into.kind = JsonValue::Object;
    scanner.readObject([&](std::string_view key) {
      into.keys.push_back(unescapeJson(key));
      readValue(scanner, into.elements.emplace_back());
    });
  } else if (first == '[') {
    into.kind = JsonValue::Array;
    scanner.readArray([&] { readValue(scanner, into.elements.emplace_back()); });
  } else if (first == '"') {
    into.kind = JsonValue::String;
    into.text = unescapeJson(scanner.readString().value_or(""));
  } else {
    into.kind = first == 'n'                   ? JsonValue::Null
                : first == 't' || first == 'f' ? JsonValue::Bool
                                               : JsonValue::Number;
    into.text = scanner.skip();
  }
}

Expected<JsonValue> reprise::runtime::parseJson(const std::string &text) {
  JsonScanner scanner(text);
  JsonValue value;
  if (scanner.error().empty() && scanner.peek() != '{')
    return Error::make("expected a JSON object" + scanner.place());
  readValue(scanner, value);
  scanner.finish();
  if (!scanner.error().empty())
    return Error::make(scanner.error());
  return value;
}
