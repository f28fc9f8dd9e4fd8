// reprise: passes that run on the device programs of a module.
#ifndef REPRISE_LIB_PIPELINES_ONPROGRAMS_H
#define REPRISE_LIB_PIPELINES_ONPROGRAMS_H

#include "mlir/Pass/PassManager.h"

namespace reprise {

/// A pass on a module that runs function passes on its device programs, one program after the
/// other in the order of the module, and leaves all other functions alone. It is an error if there
/// is no program.
///
/// MLIR would run a nested pipeline on every function. Programs take turns, since each looks up
/// the kernels of the ones before it (LaunchFacts.h), which most of its launches are alike with.
std::unique_ptr<mlir::Pass> createOnProgramsPass(mlir::OpPassManager passes);

/// An empty list of function passes.
mlir::OpPassManager makeProgramPasses();

} // namespace reprise

#endif // REPRISE_LIB_PIPELINES_ONPROGRAMS_H
