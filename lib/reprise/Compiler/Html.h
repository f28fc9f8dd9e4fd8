// reprise: common parts of pages: text, bytes and the frame
#ifndef REPRISE_COMPILER_HTML_H
#define REPRISE_COMPILER_HTML_H

#include "reprise/Compiler/Report.h"
#include "reprise/Support/Readable.h"

namespace reprise::html {

/// Escapes a text for an element or an attribute.
std::string escape(llvm::StringRef text);

/// A fraction as percent with a sign: +2.31 %.
std::string percent(double fraction);

/// Return the integer or number of that key; 0 if there is none.
int64_t integer(const llvm::json::Object &object, llvm::StringRef key);
double number(const llvm::json::Object &object, llvm::StringRef key);

/// Content of the head of a page.
struct PageHead {
  ReportedInputs inputs;
  std::string target;
  int64_t threads = 0;
  std::optional<int64_t> budget;
};

/// Prints all text up to and with the heading, which is also the title.
void printStart(llvm::raw_ostream &stream, llvm::StringRef title, const PageHead &head);
void printEnd(llvm::raw_ostream &stream);

} // namespace reprise::html

#endif // REPRISE_COMPILER_HTML_H
