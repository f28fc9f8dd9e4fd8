// reprise: which results of a group of loops may lie where an argument lies
#ifndef REPRISE_CONVERSION_LOOPNEST_INPLACE_H
#define REPRISE_CONVERSION_LOOPNEST_INPLACE_H

#include "Program.h"
#include "Schedule.h"

namespace reprise::nests {

/// The pairs (operand of the terminator, argument) that may lie at the same address: every element
/// of the argument is read for the last time by the step that stores the result's element in its
/// place.
llvm::SmallVector<std::pair<unsigned, unsigned>>
findInPlacePairs(mlir::Block &body, const NestRules &rules, ScheduleFn makeSchedule);

/// True if each element of the argument is read where the element of the nest lies. For a nest over
/// a contraction's elements it is the step that stores the results' elements there, so these may
/// overwrite it.
bool readsAtPosition(const Nest &nest, unsigned argument);

/// True if one of the pairs has the argument, which the nest reads, and a result that the same nest
/// stores. If not, no thread of the kernel writes where the kernel reads the argument.
bool mayBeOverwritten(const Nest &nest, const Schedule &schedule, unsigned argument);

} // namespace reprise::nests

#endif // REPRISE_CONVERSION_LOOPNEST_INPLACE_H
