// reprise: the kind of a file that a tool was given by mistake
#include "reprise/Runtime/FileKind.h"

#include <algorithm>
#include <utility>

using namespace reprise::runtime;

static bool startsWith(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

static std::string_view skipSpace(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  return text;
}

/// Text has no zeros, and hardly any other control characters.
static bool isBinary(std::string_view text) {
  auto isControl = [](unsigned char c) { return (c < ' ' && (c < '\b' || c > '\r')) || c == 0x7f; };
  auto controls = static_cast<size_t>(std::count_if(text.begin(), text.end(), isControl));
  return controls * 32 > text.size() || text.find('\0') != std::string_view::npos;
}

/// Returns whether a text is a JSON object and not an MLIR {-# #-}.
static bool isJson(std::string_view text) {
  text = skipSpace(text);
  if (!startsWith(text, "{"))
    return false;
  text = skipSpace(text.substr(1));
  return startsWith(text, "\"") || startsWith(text, "}");
}

FileKind reprise::runtime::findFileKind(std::string_view bytes) {
  using namespace std::string_view_literals;
  static constexpr std::pair<std::string_view, FileKind> magics[] = {
      {"Reprise\x1a"sv, FileKind::Bundle},
      {"ML\xEFR"sv, FileKind::Bytecode},
      {"\x93NUMPY"sv, FileKind::Array},
      {"\x7f"
       "ELF"sv,
       FileKind::Program}};
  for (auto [magic, kind] : magics)
    if (startsWith(bytes, magic))
      return kind;
  bytes = bytes.substr(0, 1 << 16);
  if (isBinary(bytes))
    return FileKind::Binary;
  if (isJson(bytes))
    return FileKind::Json;
  bool isModel = bytes.find("func.func") != std::string_view::npos ||
                 bytes.find("reprise.policy") != std::string_view::npos;
  return isModel ? FileKind::Model : FileKind::Text;
}

static const char *describe(FileKind kind) {
  switch (kind) {
  case FileKind::Bundle:
    return "is a bundle";
  case FileKind::Bytecode:
  case FileKind::Model:
    return "is a model";
  case FileKind::Array:
    return "is a NumPy array";
  case FileKind::Program:
    return "is machine code";
  case FileKind::Json:
    return "is JSON";
  case FileKind::Text:
    return "is text";
  case FileKind::Binary:
    return "holds binary data";
  }
  return "";
}

/// Returns whether a tool for files of kind `wanted` itself reports the fault of the file.
static bool mayRead(FileKind kind, FileKind wanted) {
  if (kind == wanted)
    return true;
  if (wanted == FileKind::Bundle)
    return kind == FileKind::Text || kind == FileKind::Binary;
  if (wanted == FileKind::Model)
    return kind == FileKind::Bytecode || kind == FileKind::Text;
  return kind == FileKind::Text || (kind == FileKind::Json && wanted == FileKind::Text);
}

static const char *describeWanted(FileKind wanted) {
  return wanted == FileKind::Bundle  ? "a bundle"
         : wanted == FileKind::Model ? "a model, MLIR text or bytecode"
         : wanted == FileKind::Json  ? "JSON"
                                     : "text";
}

std::string reprise::runtime::findMisplaced(const std::string &path, std::string_view bytes,
                                            FileKind wanted) {
  bool isWide = startsWith(bytes, "\xFF\xFE") || startsWith(bytes, "\xFE\xFF");
  if (isWide && wanted != FileKind::Bundle)
    return "'" + path + "' holds UTF-16 text: save it as UTF-8";
  if (startsWith(bytes, "\xEF\xBB\xBF") && wanted != FileKind::Bundle)
    return "'" + path + "' begins with a UTF-8 byte-order mark: save it without one";
  FileKind kind = findFileKind(bytes);
  if (mayRead(kind, wanted))
    return "";
  std::string found = "'" + path + "' " + describe(kind);
  if (wanted == FileKind::Model && kind == FileKind::Bundle)
    return found + ": run it with reprise-run";
  if (wanted == FileKind::Bundle && (kind == FileKind::Model || kind == FileKind::Bytecode))
    return found + ": compile it with reprise-compile";
  return found + ", expected " + describeWanted(wanted);
}
