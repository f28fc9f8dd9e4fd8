// reprise: whether all ways to run one program agree
#ifndef REPRISE_UTILS_FUZZ_CHECK_H
#define REPRISE_UTILS_FUZZ_CHECK_H

#include "mlir/IR/BuiltinOps.h"
#include <set>
#include <string>

namespace reprise::fuzz {

/// What may come of a budget, without blanks.
inline constexpr char kTooSmall[] = "too-small", kHeld[] = "held",
                      kHeldByReplays[] = "held-by-replays";

struct Verdict {
  /// Empty if all is well. Else "text", "error", "mismatch", "offset", "arena", "label", "run";
  /// "crash" if a child died.
  std::string kind;
  std::string details;
  std::set<std::string> generated, replayed; ///< names of ops, replays in any of the plans
  std::set<std::string> budgets;             ///< what came of budgets

  /// Equal for failures that are likely to have one cause.
  std::string key() const;
};

/// Checks the program @train:
/// - its text and its bytecode, read back, are the same program;
/// - every variant, with the labels as they are, without them under save-all, and under a policy
///   that the seed chooses (or, without a seed, under each), gives the same bits and next offset in
///   the interpreter;
/// - the first variant, and one of the others (without a seed, each), compiles, and gives the same
///   at 1, 2 and 5 threads;
/// - one of the variants (without a seed, the first), compiled within budgets, gives the same too;
///   where a budget is too small, within the one that is said to be feasible;
/// - no plan keeps what must be recomputed or moved, whatever reads it, and the report says so;
/// - the arena that a step touches is the one that the compiler predicted;
/// - kernels are for one of the CPUs that this machine is (without a seed, each, once).
Verdict checkProgram(llvm::StringRef text, mlir::MLIRContext *context,
                     std::optional<uint64_t> seed);

/// Checks the kernels of the program @train alone, its plan without labels: on a CPU that this
/// machine is (without a seed, on each), at 1 and 3 threads, its bits, next offset and arena are
/// those that the interpreter and the compiler said.
Verdict checkKernels(llvm::StringRef text, mlir::MLIRContext *context,
                     std::optional<uint64_t> seed);

/// The same for the kernels of a GPU, the one that the driver has; an emulated one runs them in
/// each of its orders. Bits and next offset are compared.
Verdict checkGpuKernels(llvm::StringRef text, mlir::MLIRContext *context,
                        std::optional<uint64_t> seed);

/// Makes a batch of the inputs of @train that have a dimension of one size, by chance.
void drawBatch(mlir::ModuleOp module, uint64_t seed);

/// Checks that the program @train in micro-batches, a number by chance (without a seed, 2 and as
/// many as there are samples, too), is either refused or computes in the interpreter what it does
/// on the whole batch, up to the order of sums.
Verdict checkBatches(llvm::StringRef text, mlir::MLIRContext *context,
                     std::optional<uint64_t> seed);

} // namespace reprise::fuzz

#endif
