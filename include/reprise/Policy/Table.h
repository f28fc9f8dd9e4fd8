// reprise: what makes a table of the C interface a policy
#ifndef REPRISE_POLICY_TABLE_H
#define REPRISE_POLICY_TABLE_H

#include "reprise-c/Policy.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace reprise {

/// Why this compiler cannot work with the table; empty if it can.
std::string checkTable(const rp_policy &table);

/// Why no policy can be this table under this name, which parsePolicy() must read as a name; empty
/// if one can.
std::string findWrongPolicy(llvm::StringRef name, const rp_policy &table);

} // namespace reprise

#endif // REPRISE_POLICY_TABLE_H
