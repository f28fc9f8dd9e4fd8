// reprise: how reprise-reduce makes a model smaller
#ifndef REPRISE_DIALECT_REPRISE_REDUCTION_H
#define REPRISE_DIALECT_REPRISE_REDUCTION_H

namespace reprise {

/// Registers `--reprise-shrink="test=PROGRAM"`. It takes functions, results, ops, regions, labels
/// and arguments from a model as long as the program, which gets the name of a file, returns
/// another exit code than 0. An op goes where an operand, a new argument or a constant can stand
/// for it; what is tried is always well-formed.
void registerShrinkPass();

} // namespace reprise

#endif // REPRISE_DIALECT_REPRISE_REDUCTION_H
