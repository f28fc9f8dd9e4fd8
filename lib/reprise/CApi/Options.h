// reprise: options of the C API, texts by the names of the tools' flags
#ifndef REPRISE_LIB_CAPI_OPTIONS_H
#define REPRISE_LIB_CAPI_OPTIONS_H

#include "reprise-c/Reprise.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

struct reprise_options {
  std::map<std::string, std::vector<std::string>, std::less<>> values;

  bool has(llvm::StringRef key) const { return values.count(key.str()) != 0; }
  /// Returns the value of an option; empty if it is not set.
  std::string text(llvm::StringRef key) const;
  std::vector<std::string> texts(llvm::StringRef key) const;
  bool isOn(llvm::StringRef key) const { return text(key) == "true"; }
  /// Return the value of an option that is set, and was checked when it was set.
  int64_t integer(llvm::StringRef key) const;
  double number(llvm::StringRef key) const;
};

namespace reprise::capi {

/// Use of options.
enum Use : unsigned { ForCompile = 1, ForRun = 2, ForPlan = 4 };

/// Returns the fault of options for this use; empty if they are valid. Null means no options.
std::string checkUse(const reprise_options *options, Use use);

} // namespace reprise::capi

#endif // REPRISE_LIB_CAPI_OPTIONS_H
