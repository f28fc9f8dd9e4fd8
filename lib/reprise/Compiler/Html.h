// reprise: what pages share: text, bytes and the frame
#ifndef REPRISE_COMPILER_HTML_H
#define REPRISE_COMPILER_HTML_H

#include "reprise/Compiler/Report.h"
#include "reprise/Support/Readable.h"

namespace reprise::html {

/// Text as an element or an attribute holds it.
std::string escape(llvm::StringRef text);

/// A fraction as percent with a sign: +2.31 %.
std::string percent(double fraction);

/// The integer or number of that key; 0 if there is none.
int64_t integer(const llvm::json::Object &object, llvm::StringRef key);
double number(const llvm::json::Object &object, llvm::StringRef key);

/// What the head of a page tells.
struct PageHead {
  ReportedInputs inputs;
  std::string target;
  int64_t threads = 0;
  std::optional<int64_t> budget;
};

/// Everything up to and with the heading, which is the title, too.
void printStart(llvm::raw_ostream &stream, llvm::StringRef title, const PageHead &head);
void printEnd(llvm::raw_ostream &stream);

} // namespace reprise::html

#endif // REPRISE_COMPILER_HTML_H
