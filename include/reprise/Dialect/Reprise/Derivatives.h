// reprise: the derivative rules of the dialect's ops.
#ifndef REPRISE_DIALECT_REPRISE_DERIVATIVES_H
#define REPRISE_DIALECT_REPRISE_DERIVATIVES_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace reprise {

/// Attaches DifferentiableOpInterface, the derivative rule, to every op of the dialect that has a
/// derivative. Ops without a derivative are a closed list in the tests
/// (docs/explanation/Autodiff.md).
void registerDerivatives(mlir::DialectRegistry &registry);

} // namespace reprise

#endif
