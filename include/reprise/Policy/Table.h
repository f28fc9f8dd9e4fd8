// reprise: checks for tables of the C interface that become policies
#ifndef REPRISE_POLICY_TABLE_H
#define REPRISE_POLICY_TABLE_H

#include "reprise-c/Policy.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace reprise {

/// Returns the reason why this compiler cannot use the table; empty if it can.
std::string checkTable(const rp_policy &table);

/// Returns the reason why the table cannot be a policy with this name, which parsePolicy() must
/// read as a name; empty if it can.
std::string findWrongPolicy(llvm::StringRef name, const rp_policy &table);

} // namespace reprise

#endif // REPRISE_POLICY_TABLE_H
