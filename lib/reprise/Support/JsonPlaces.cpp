// reprise: places of the values in a JSON text
#include "reprise/Support/JsonPlaces.h"

using namespace llvm;

namespace reprise {

JsonPlaces::JsonPlaces(StringRef text) : text(text) {
  skipSpace();
  places[""] = here();
  skipValue("");
}

JsonPlaces::Place JsonPlaces::here() {
  for (; counted < at && counted < text.size(); ++counted)
    if (text[counted] == '\n') {
      ++line;
      lineStart = counted + 1;
    }
  return {line, static_cast<unsigned>(at - lineStart + 1)};
}

void JsonPlaces::skipSpace() {
  while (at < text.size() && StringRef(" \t\r\n").contains(text[at]))
    ++at;
}

/// Skips a string and returns the text between the quotes, with its escapes.
StringRef JsonPlaces::skipString() {
  size_t start = ++at;
  while (at < text.size() && text[at] != '"')
    at += text[at] == '\\' ? 2 : 1;
  return text.slice(start, at++);
}

void JsonPlaces::skipObject(const std::string &path) {
  for (++at, skipSpace(); at < text.size() && text[at] != '}'; skipSpace()) {
    Place place = here();
    std::string member = (path.empty() ? path : path + ".") + skipString().str();
    places[member] = place;
    skipSpace();
    ++at; // the colon
    skipSpace();
    skipValue(member);
    skipSpace();
    at += at < text.size() && text[at] == ',';
  }
  ++at;
}

void JsonPlaces::skipArray(const std::string &path) {
  size_t index = 0;
  for (++at, skipSpace(); at < text.size() && text[at] != ']'; skipSpace()) {
    std::string element = path + "[" + std::to_string(index++) + "]";
    places[element] = here();
    skipValue(element);
    skipSpace();
    at += at < text.size() && text[at] == ',';
  }
  ++at;
}

void JsonPlaces::skipValue(const std::string &path) {
  if (at >= text.size())
    return;
  if (text[at] == '{')
    return skipObject(path);
  if (text[at] == '[')
    return skipArray(path);
  if (text[at] == '"') {
    skipString();
    return;
  }
  while (at < text.size() && !StringRef(",]} \t\r\n").contains(text[at]))
    ++at;
}

} // namespace reprise
