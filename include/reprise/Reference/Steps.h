// reprise: training steps in the interpreter, with the inputs and the folder of a run of
// reprise-run.
#ifndef REPRISE_REFERENCE_STEPS_H
#define REPRISE_REFERENCE_STEPS_H

#include "mlir/IR/BuiltinOps.h"
#include "reprise/Runtime/RunFolder.h"
#include <optional>

namespace reprise {

/// Options of reprise-run with the same names.
struct StepsOptions {
  std::optional<int64_t> seed;   ///< default: 0, or the input folder's seed
  std::optional<int64_t> offset; ///< default: 0, or the input folder's offset; a multiple of 4
  int64_t steps = 1;             ///< at least 1
  std::vector<std::pair<std::string, std::string>> inputs; ///< pairs of argument and .npy file
  /// Folder of an earlier run; may be empty.
  std::string inputDir;
  std::string outputDir; ///< folder for the last step's results and run.json; may be empty
};

/// State and results at the end of the steps.
struct StepsReport {
  runtime::RunState next;
  uint64_t hash;            ///< runtime::hashArrays of the last step's results
  std::vector<double> loss; ///< per step; empty unless a result `loss` is one float
};

/// Runs steps of the entry, the only function after the phase import, or of all device programs,
/// with the arguments and results of each. The module has been through the phases up to autodiff
/// (or checkpoint). The output folder equals that of reprise-run to the byte.
///
/// On failure `error` is a message for the user, or empty if a diagnostic has been reported at an
/// op.
llvm::FailureOr<StepsReport> interpretSteps(mlir::ModuleOp module, const StepsOptions &options,
                                            std::string &error);

} // namespace reprise

#endif
