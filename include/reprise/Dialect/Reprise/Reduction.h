// reprise: how reprise-reduce makes a model smaller
#ifndef REPRISE_DIALECT_REPRISE_REDUCTION_H
#define REPRISE_DIALECT_REPRISE_REDUCTION_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace reprise {

/// Lets mlir-reduce take results, ops, regions, labels and arguments from functions of the dialect,
/// as long as its test stays interesting. An op goes where an operand, a new argument or a constant
/// can stand for it.
void registerReductions(mlir::DialectRegistry &registry);

} // namespace reprise

#endif // REPRISE_DIALECT_REPRISE_REDUCTION_H
