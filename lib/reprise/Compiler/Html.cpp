// reprise: what pages share: text, bytes and the frame
#include "Html.h"

#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace reprise::html {

std::string escape(StringRef text) {
  std::string escaped;
  for (char c : text)
    escaped += c == '<'    ? "&lt;"
               : c == '>'  ? "&gt;"
               : c == '&'  ? "&amp;"
               : c == '"'  ? "&quot;"
               : c == '\'' ? "&#39;"
                           : std::string(1, c);
  return escaped;
}

std::string human(int64_t bytes) {
  static constexpr std::pair<int64_t, StringLiteral> units[] = {
      {int64_t{1} << 30, "GiB"}, {int64_t{1} << 20, "MiB"}, {int64_t{1} << 10, "KiB"}};
  for (auto [size, name] : units)
    if (bytes >= size)
      return formatv("{0:f1} {1}", static_cast<double>(bytes) / static_cast<double>(size), name)
          .str();
  return formatv("{0} B", bytes).str();
}

std::string percent(double fraction) {
  return formatv("{0}{1:f2} %", fraction < 0 ? "" : "+", 100 * fraction).str();
}

int64_t integer(const json::Object &object, StringRef key) {
  return object.getInteger(key).value_or(0);
}

double number(const json::Object &object, StringRef key) {
  return object.getNumber(key).value_or(0);
}

void printStart(raw_ostream &stream, StringRef title) {
  stream
      << "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'><title>Reprise: " << title
      << "</title>\n"
         "<style>body{font:14px system-ui,sans-serif;margin:2em auto;max-width:1160px;color:#222}"
         "svg{width:100%;font-size:11px}table{border-collapse:collapse;margin:1em 0}"
         "th,td{text-align:left;padding:2px 10px 2px 0;border-bottom:1px solid "
         "#ddd}.number{text-align:right}"
         ".totals th{font-weight:normal;color:#666}</style></head>\n<body><h1>"
      << title << "</h1>\n";
}

void printEnd(raw_ostream &stream) { stream << "</body></html>\n"; }

} // namespace reprise::html
