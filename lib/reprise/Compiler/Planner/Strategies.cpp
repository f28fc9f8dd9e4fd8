// reprise: the ways in which plans for a budget are searched, as a table
#include "Strategies.h"

using namespace reprise;

llvm::ArrayRef<Strategy> reprise::listStrategies() {
  static constexpr Strategy strategies[] = {
      {"likely form", Turn::Always, searchLikelyForm},
      {"forms", Turn::Always, searchForms},
      {"long unrolled loops", Turn::NothingFits, searchLongUnrolled},
      {"sequences", Turn::Unfinished, searchSequences},
      {"offloads", Turn::Unfinished, searchOffloads},
      {"smaller plans", Turn::NothingFits, searchSmaller},
      {"smallest sequence", Turn::NothingFits, packSmallestSequence},
  };
  return strategies;
}
