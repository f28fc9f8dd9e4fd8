// reprise: registration of all targets
#ifndef REPRISE_CONVERSION_TARGETS_H
#define REPRISE_CONVERSION_TARGETS_H

#include <string>
#include <vector>

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace reprise {

/// Lets Target::get find CPUs and GPUs in contexts of the registry.
void registerTargets(mlir::DialectRegistry &registry);

/// Returns the CPUs that a target can name, such as native.
std::vector<std::string> getCpuNames();
/// Returns names of targets to suggest: cpu, every CPU, and some GPUs.
std::vector<std::string> getTargetNames();

} // namespace reprise

#endif // REPRISE_CONVERSION_TARGETS_H
