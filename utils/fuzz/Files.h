// reprise: changed files of all kinds, read in this process
#ifndef REPRISE_UTILS_FUZZ_FILES_H
#define REPRISE_UTILS_FUZZ_FILES_H

#include "mlir/IR/MLIRContext.h"
#include <string>
#include <vector>

namespace reprise::fuzz {

struct FileOptions {
  std::string folder;             ///< originals: KIND/FILE
  std::vector<std::string> kinds; ///< kinds to change; empty: all folders with a reader
  uint64_t seed = 1, count = 1000;
  unsigned jobs = 2;
  std::string save; ///< folder for files that fail; may be empty
};

/// Reads `count` changed files of each kind, the first drawn by `seed`, the next by `seed` + 1, …
/// Children read them, so that a crash, or more than 20 seconds, is a failure of one file. Prints
/// the failures and a line per kind. Returns the exit code.
int readChangedFiles(const FileOptions &options, mlir::MLIRContext *context);

} // namespace reprise::fuzz

#endif
