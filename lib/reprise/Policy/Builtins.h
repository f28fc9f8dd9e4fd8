// reprise: the built-in policies
#ifndef REPRISE_LIB_POLICY_BUILTINS_H
#define REPRISE_LIB_POLICY_BUILTINS_H

#include "reprise/Policy/Policy.h"

namespace reprise {

void addBuiltins(PolicyRegistry &registry);

/// Makes a policy that calls the functions for every op and every named value separately. Either
/// function may be empty.
PolicyPtr makeSingleOpPolicy(std::string rule,
                             std::function<std::optional<Label>(mlir::Operation *)> labelOp,
                             std::function<std::optional<Label>(llvm::StringRef)> labelName);

} // namespace reprise

#endif // REPRISE_LIB_POLICY_BUILTINS_H
