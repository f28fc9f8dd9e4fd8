// reprise: policies from shared libraries
#ifndef REPRISE_LIB_POLICY_PLUGIN_H
#define REPRISE_LIB_POLICY_PLUGIN_H

#include "reprise/Policy/Policy.h"

namespace reprise {

/// Loads PATH or PATH{JSON}, what stands behind `plugin:`; reports what is wrong with it.
mlir::FailureOr<PolicyPtr> loadPlugin(llvm::StringRef text, const PolicyContext &context);

} // namespace reprise

#endif // REPRISE_LIB_POLICY_PLUGIN_H
