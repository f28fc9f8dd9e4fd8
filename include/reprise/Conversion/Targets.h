// reprise: registration of all targets
#ifndef REPRISE_CONVERSION_TARGETS_H
#define REPRISE_CONVERSION_TARGETS_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace reprise {

/// Lets Target::get find CPUs and GPUs in contexts of the registry.
void registerTargets(mlir::DialectRegistry &registry);

} // namespace reprise

#endif // REPRISE_CONVERSION_TARGETS_H
