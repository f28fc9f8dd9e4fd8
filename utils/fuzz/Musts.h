// reprise: whether MUSTs hold for bytes
#ifndef REPRISE_UTILS_FUZZ_MUSTS_H
#define REPRISE_UTILS_FUZZ_MUSTS_H

#include "mlir/IR/BuiltinOps.h"
#include "reprise/Compiler/Report.h"

namespace reprise::fuzz {

/// Follows views from all that the backward pass of a planned graph reads, outside of loops, to
/// memory that must be recomputed or moved to the host. Returns the first read of such memory in
/// words; empty if there is none. Shares nothing with the verifier.
std::string findBrokenMust(mlir::ModuleOp planned);

/// Says which value of a report goes against a MUST; empty if none does.
std::string findBrokenMust(const ReportedPlan &plan);

} // namespace reprise::fuzz

#endif // REPRISE_UTILS_FUZZ_MUSTS_H
