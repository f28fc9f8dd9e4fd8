// reprise: the numbers of a model for every mesh
#include "Steps.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "reprise/Dialect/Pipe/Transforms/MeasureStep.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"

using namespace mlir;

namespace reprise {

/// Most units of a step. The cut of so many units takes some milliseconds.
static constexpr size_t kMostUnits = 256;
/// Numbers of micro-batches from which those of other steps follow.
static constexpr int64_t kFew = 2, kMore = 4;
/// Ops of a step whose whole batch is not built for a search: it takes seconds.
static constexpr int64_t kManyOps = 5000;

const mesh::Step *MeshSteps::get(int64_t parts, int64_t microbatches) {
  Key key{parts, microbatches};
  auto [found, isNew] = joined.try_emplace(key);
  if (isNew)
    if (const mesh::Step *step = measure(key))
      found->second = mesh::joinUnits(*step, kMostUnits);
  return found->second ? &*found->second : nullptr;
}

const mesh::Step *MeshSteps::measure(Key key) {
  auto [found, isNew] = measured.try_emplace(key);
  std::optional<mesh::Step> &step = found->second;
  if (isNew) {
    mesh::Step made;
    if (extend(key, made) || succeeded(build(key, made)))
      step = std::move(made);
  }
  return step ? &*step : nullptr;
}

/// Finds the numbers of many micro-batches without a step of so many, and those of a large batch
/// as a whole.
bool MeshSteps::extend(Key key, mesh::Step &step) {
  auto [parts, microbatches] = key;
  bool isLarge = microbatches == 1 && batch % kMore == 0 && batch > 1 && measure({parts, kFew}) &&
                 ops > kManyOps;
  if (!isLarge && (microbatches <= kMore || microbatches % kMore != 0))
    return false;
  const mesh::Step *few = measure({parts, kFew}), *more = measure({parts, kMore});
  return few && more && mesh::extrapolate(*few, kFew, *more, kMore, microbatches, step).empty();
}

/// Builds the flat step, and measures it. The first error is kept.
LogicalResult MeshSteps::build(Key key, mesh::Step &step) {
  auto [parts, microbatches] = key;
  MLIRContext *context = module.getContext();
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error && refusal.empty())
      refusal = diagnostic.str();
    return success();
  });
  PhaseOptions phases = options.phases;
  phases.microbatches = microbatches;
  phases.lanes = 1;
  phases.stages = StageOptions();
  phases.stages.devices = 2; // lets the ops be marked with units
  phases.stages.modelParts = parts;
  OwningOpRef<ModuleOp> copy = module.clone();
  PassManager manager(context);
  manager.enableVerifier(false); // a compilation of the point verifies the same passes
  buildPhases(manager, std::nullopt, Phase::Autodiff, phases);
  buildFlatStep(manager, phases);
  if (failed(manager.run(*copy)))
    return failure();
  ProgramOp program = findPrograms(*copy).front();
  if (pipe::countStepSweeps(program) != 2)
    return program.emitError("a mesh is searched for a step with one forward and one backward "
                             "pass: expected an entry with one gradient");
  if (failed(costs->check(program)))
    return failure();
  if (ops == 0)
    ops = static_cast<int64_t>(program.getBody().front().getOperations().size()) / microbatches;
  step = pipe::measureStep(program, costs, parts);
  return success();
}

} // namespace reprise
