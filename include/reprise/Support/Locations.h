// reprise: the scope and the place in a location
#ifndef REPRISE_SUPPORT_LOCATIONS_H
#define REPRISE_SUPPORT_LOCATIONS_H

#include "mlir/IR/Location.h"
#include <string>

namespace reprise {

/// Returns the scope in a location: its outermost name, such as layer/3/attention; empty if it has
/// none.
std::string getScope(mlir::Location location);

/// Returns the first file, line and column in a location, as compilers print them; empty if it has
/// none.
std::string getPlace(mlir::Location location);

/// Returns the location of a request by a flag, such as "--policy=rules.json". Errors name the flag
/// instead of line and column.
mlir::Location getFlagLocation(mlir::MLIRContext *context, llvm::StringRef flag);
/// Returns the flag that the location names; empty if it names none.
llvm::StringRef getFlag(mlir::Location location);

} // namespace reprise

#endif // REPRISE_SUPPORT_LOCATIONS_H
