// reprise: compares all configurations of one program
#ifndef REPRISE_UTILS_FUZZ_CHECK_H
#define REPRISE_UTILS_FUZZ_CHECK_H

#include "mlir/IR/BuiltinOps.h"
#include <set>
#include <string>

namespace reprise::fuzz {

/// Outcomes of a budget, without blanks.
inline constexpr char kTooSmall[] = "too-small", kHeld[] = "held",
                      kHeldByReplays[] = "held-by-replays";

struct Verdict {
  /// Empty if all is well. Else "text", "error", "mismatch", "offset", "arena", "label", "run";
  /// "crash" if a child died.
  std::string kind;
  std::string details;
  std::set<std::string> generated, replayed; ///< names of ops, replays in any of the plans
  std::set<std::string> budgets;             ///< outcomes of budgets

  /// Equal for failures that are likely to have one cause.
  std::string key() const;
};

/// Checks the program @train:
/// - its text and its bytecode, read back, are the same program;
/// - every variant gives the same bits and next offset in the interpreter: with its labels, without
///   them under save-all, and under a policy that the seed chooses (or, without a seed, under
///   each);
/// - the first variant, and one of the others (without a seed, each), compiles, and gives the same
///   at 1, 2 and 5 threads;
/// - one of the variants (without a seed, the first), compiled within budgets, gives the same; if a
///   budget is too small, the budget that the error names is checked;
/// - no plan keeps a value that must be recomputed or moved, for any reader, and the report says
///   so;
/// - a step touches exactly the arena that the compiler predicted;
/// - kernels are for one of the CPUs that this machine supports (without a seed, each, once).
Verdict checkProgram(llvm::StringRef text, mlir::MLIRContext *context,
                     std::optional<uint64_t> seed);

/// Checks only the kernels of the program @train, with its plan without labels, on a CPU that this
/// machine supports (without a seed, on each), at 1 and 3 threads. Bits and next offset must equal
/// those of the interpreter, and the arena the compiler's prediction.
Verdict checkKernels(llvm::StringRef text, mlir::MLIRContext *context,
                     std::optional<uint64_t> seed);

/// Checks the kernels of the driver's GPU; an emulated one runs them in each of its orders. Bits
/// and next offset are compared.
Verdict checkGpuKernels(llvm::StringRef text, mlir::MLIRContext *context,
                        std::optional<uint64_t> seed);

/// Makes a batch of the inputs of @train that have a dimension of one size, by chance.
void drawBatch(mlir::ModuleOp module, uint64_t seed);

/// Checks that the program @train in micro-batches is either refused, or computes in the
/// interpreter the same as on the whole batch, up to the order of sums. The number of micro-batches
/// is random (without a seed also 2, and one per sample).
Verdict checkBatches(llvm::StringRef text, mlir::MLIRContext *context,
                     std::optional<uint64_t> seed);

/// Checks that the step @train on parts of the model, replicas and stages has the bits of one
/// device with as many lanes, within budgets too. Names of arguments tell the rules
/// (ShardGenerator.h).
Verdict checkShards(llvm::StringRef text, mlir::MLIRContext *context, std::optional<uint64_t> seed);

} // namespace reprise::fuzz

#endif
