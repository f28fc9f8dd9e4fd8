// reprise: common parts of pages: text, bytes and the frame
#include "Html.h"

#include "PageStyle.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

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

std::string percent(double fraction) { return showPercent(100 * fraction); }

int64_t integer(const json::Object &object, StringRef key) {
  return object.getInteger(key).value_or(0);
}

double number(const json::Object &object, StringRef key) {
  return object.getNumber(key).value_or(0);
}

/// The policies in their order, the budget, stages and micro-batches.
static std::string describeChoices(const PageHead &head) {
  std::string text;
  for (const std::string &policy : head.inputs.policies)
    text += (text.empty() ? "policy " : ", then ") + policy;
  if (head.budget)
    text += (text.empty() ? "" : ", ") + ("budget " + showBytes(*head.budget));
  if (text.empty())
    text = "no policy and no budget";
  if (head.inputs.stages > 1)
    text += ", " + std::to_string(head.inputs.stages) + " stages";
  if (head.inputs.microbatches > 1)
    text += ", " + std::to_string(head.inputs.microbatches) + " micro-batches";
  return text;
}

void printStart(raw_ostream &stream, StringRef title, const PageHead &head) {
  const ReportedInputs &inputs = head.inputs;
  std::string name =
      escape(inputs.model.empty() ? inputs.entry : inputs.model + " @" + inputs.entry);
  stream << "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'>"
            "<meta name='viewport' content='width=device-width'><title>Reprise: "
         << name << ": " << title << "</title>\n<style>" << kStyle << "</style></head>\n<body><h1>"
         << name << ": " << title << "</h1>\n<p class='about'>" << escape(head.target) << ", "
         << head.threads << " threads, " << escape(describeChoices(head)) << ". "
         << escape(inputs.compiler) << "</p>\n";
}

void printEnd(raw_ostream &stream) {
  stream << "<script>" << kScript << "</script>\n</body></html>\n";
}

} // namespace reprise::html
