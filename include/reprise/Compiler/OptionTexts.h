// reprise: options of a compilation as users write them
#ifndef REPRISE_COMPILER_OPTIONTEXTS_H
#define REPRISE_COMPILER_OPTIONTEXTS_H

#include "reprise/Compiler.h"

namespace reprise {

/// Reads `1500000`, `1,500,000`, `1.5GiB` or `60%`; none if the text is none of these, or more than
/// any machine has.
std::optional<Budget> parseBudget(llvm::StringRef text);
/// The error about a text that is no budget.
std::string refuseBudget(const std::string &option, const std::string &text);

/// How the step is shared out, each by the flag of that name; empty, and 0 chunks: not given.
struct StageTexts {
  std::string stages, schedule, checkpoint;
  int64_t chunks = 0;
};

/// What is wrong with the texts, naming the flags; empty if nothing is.
std::string checkStages(const StageTexts &texts);
/// Of texts that are right.
StageOptions parseStages(const StageTexts &texts);

/// The targets given, with what --contractions, if it is given, says of GPUs.
std::vector<std::string> listTargets(std::vector<std::string> targets,
                                     const std::string &contractions);
/// What is wrong with --contractions; empty if nothing is.
std::string checkContractions(const std::vector<std::string> &targets,
                              const std::string &contractions);

} // namespace reprise

#endif // REPRISE_COMPILER_OPTIONTEXTS_H
