// reprise: policies from shared libraries
#ifndef REPRISE_LIB_POLICY_PLUGIN_H
#define REPRISE_LIB_POLICY_PLUGIN_H

#include "reprise/Policy/Policy.h"

namespace reprise {

/// Seconds of processor time for one graph, and seconds by the clock for each of these.
constexpr unsigned kPluginSeconds = 60;
constexpr unsigned kPluginClockFactor = 2;

/// The plugin of PATH or PATH{JSON}, what stands behind `plugin:`. A file that is missing is
/// reported here, all else where it decides.
mlir::FailureOr<PolicyPtr> loadPlugin(llvm::StringRef text, const PolicyContext &context);

} // namespace reprise

#endif // REPRISE_LIB_POLICY_PLUGIN_H
