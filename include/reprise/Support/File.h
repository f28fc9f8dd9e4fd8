// reprise: LLVM streams into files that are written whole or not at all
#ifndef REPRISE_SUPPORT_FILE_H
#define REPRISE_SUPPORT_FILE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace llvm {
class raw_ostream;
}

namespace reprise {

/// Runs `print` on a stream and writes its output as the file `path`: into a temporary file, then
/// renamed, so that the file is whole or untouched. The path "-" is standard output. Errors:
/// "cannot write 'PATH': REASON".
llvm::Error writeFile(llvm::StringRef path, llvm::function_ref<void(llvm::raw_ostream &)> print);

} // namespace reprise

#endif // REPRISE_SUPPORT_FILE_H
