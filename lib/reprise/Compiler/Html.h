// reprise: what pages share: text, bytes and the frame
#ifndef REPRISE_COMPILER_HTML_H
#define REPRISE_COMPILER_HTML_H

#include "llvm/Support/JSON.h"

namespace reprise::html {

/// Text as an element or an attribute holds it.
std::string escape(llvm::StringRef text);

/// Bytes as a reader says them.
std::string human(int64_t bytes);

/// A fraction as percent with a sign: +2.31 %.
std::string percent(double fraction);

/// The integer or number of that key; 0 if there is none.
int64_t integer(const llvm::json::Object &object, llvm::StringRef key);
double number(const llvm::json::Object &object, llvm::StringRef key);

/// The string of that key; empty if there is none.
std::string textOf(const llvm::json::Object &object, llvm::StringRef key);

/// Everything up to and with the heading, which is the title, too. `about` is a report or a curve:
/// model, entry, target, threads, policies, budget and compiler are told.
void printStart(llvm::raw_ostream &stream, llvm::StringRef title, const llvm::json::Object &about);
void printEnd(llvm::raw_ostream &stream);

} // namespace reprise::html

#endif // REPRISE_COMPILER_HTML_H
