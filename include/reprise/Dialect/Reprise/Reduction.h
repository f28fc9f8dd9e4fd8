// reprise: how reprise-reduce shrinks a model
#ifndef REPRISE_DIALECT_REPRISE_REDUCTION_H
#define REPRISE_DIALECT_REPRISE_REDUCTION_H

namespace reprise {

/// Registers `--reprise-shrink="test=PROGRAM"`. The pass removes functions, results, ops, regions,
/// labels and arguments from a model while the program, which gets a file name, returns an exit
/// code other than 0. An op is removed if an operand, a new argument or a constant can replace it.
/// Every candidate is well-formed.
void registerShrinkPass();

} // namespace reprise

#endif // REPRISE_DIALECT_REPRISE_REDUCTION_H
