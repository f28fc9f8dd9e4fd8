// reprise: policies from shared libraries
#ifndef REPRISE_LIB_POLICY_PLUGIN_H
#define REPRISE_LIB_POLICY_PLUGIN_H

#include "reprise/Policy/Policy.h"

namespace reprise {

/// Seconds of processor time for one graph, and seconds by the clock for each of these.
constexpr unsigned kPluginSeconds = 60;
constexpr unsigned kPluginClockFactor = 2;

/// Loads the plugin of PATH or PATH{JSON}, the text behind `plugin:`. A missing file is reported
/// here, all other errors when the policy decides.
mlir::FailureOr<PolicyPtr> loadPlugin(llvm::StringRef text, const PolicyContext &context);

} // namespace reprise

#endif // REPRISE_LIB_POLICY_PLUGIN_H
