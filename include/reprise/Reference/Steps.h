// reprise: training steps in the interpreter, with the inputs and the folder of a run of
// reprise-run.
#ifndef REPRISE_REFERENCE_STEPS_H
#define REPRISE_REFERENCE_STEPS_H

#include "mlir/IR/BuiltinOps.h"
#include "reprise/Runtime/RunFolder.h"
#include <optional>

namespace reprise {

/// What reprise-run's options of the same names say.
struct StepsOptions {
  std::optional<int64_t> seed;   ///< 0, or the input folder's
  std::optional<int64_t> offset; ///< 0, or the input folder's; a multiple of 4
  int64_t steps = 1;             ///< at least 1
  std::vector<std::pair<std::string, std::string>> inputs; ///< argument, .npy file
  std::string inputDir;                                    ///< folder of an earlier run, or empty
  std::string outputDir; ///< gets the last step's results and run.json, or empty
};

/// Where the steps ended.
struct StepsReport {
  runtime::RunState next;
  uint64_t hash;            ///< of the last step's results, runtime::hashArrays
  std::vector<double> loss; ///< per step; empty unless there is a result `loss` of one float
};

/// Runs steps of the entry, the one function that the phase import leaves, or of all device
/// programs, with the arguments and results of each. Call it after the phases up to autodiff (or
/// checkpoint). The output folder is equal to reprise-run's to the byte.
///
/// On failure `error` is a message for the user, or empty if a diagnostic has been reported at an
/// op.
llvm::FailureOr<StepsReport> interpretSteps(mlir::ModuleOp module, const StepsOptions &options,
                                            std::string &error);

} // namespace reprise

#endif
