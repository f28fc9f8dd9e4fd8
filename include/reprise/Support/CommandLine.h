// reprise: flags of tools that drop those of LLVM's libraries
#ifndef REPRISE_SUPPORT_COMMANDLINE_H
#define REPRISE_SUPPORT_COMMANDLINE_H

#include "llvm/Support/CommandLine.h"

namespace reprise {

/// Puts the flags without a category into `category`. ResetCommandLineParser forgets the general
/// one, whose flags
/// --help would leave out then.
inline void listFlags(llvm::cl::OptionCategory &category) {
  for (auto &[name, flag] : llvm::cl::getRegisteredOptions())
    if (flag->Categories.front() == &llvm::cl::getGeneralCategory())
      flag->addCategory(category);
}

} // namespace reprise

#endif // REPRISE_SUPPORT_COMMANDLINE_H
