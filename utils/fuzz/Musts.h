// reprise: checks that MUSTs hold for bytes
#ifndef REPRISE_UTILS_FUZZ_MUSTS_H
#define REPRISE_UTILS_FUZZ_MUSTS_H

#include "mlir/IR/BuiltinOps.h"
#include "reprise/Compiler/Report.h"

namespace reprise::fuzz {

/// Follows views from all values that the backward pass of a planned graph reads, outside of loops,
/// to memory that must be recomputed or moved to the host. Returns the first read of such memory in
/// words; empty if there is none. Shares no code with the verifier.
std::string findBrokenMust(mlir::ModuleOp planned);

/// Returns a value of a report that contradicts a MUST; empty if there is none.
std::string findBrokenMust(const ReportedPlan &plan);

} // namespace reprise::fuzz

#endif // REPRISE_UTILS_FUZZ_MUSTS_H
