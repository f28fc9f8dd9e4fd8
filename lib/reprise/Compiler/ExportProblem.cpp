// reprise: writes the planning problem of a step as a file
#include "reprise/Dialect/Reprise/Transforms/Passes.h"

#include "Planner/StepFootprint.h"
#include "Planner/StepOrder.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/Naming.h"
#include "reprise/Planning/Checkpoint/Budget/BudgetPlanner.h"
#include "reprise/Planning/Checkpoint/Problem/ProblemFile.h"
#include "reprise/Support/File.h"
#include "reprise/Target/LaunchFacts.h"
#include "llvm/Support/JSON.h"

using namespace mlir;

namespace reprise {
#define GEN_PASS_DEF_EXPORTPROBLEMPASS
#include "reprise/Dialect/Reprise/Transforms/Passes.h.inc"

namespace {

/// Escapes a text for JSON, without the quotes.
std::string escape(const std::string &text) {
  std::string quoted;
  llvm::raw_string_ostream(quoted) << llvm::json::Value(llvm::json::fixUTF8(text));
  return quoted.substr(1, quoted.size() - 2);
}

struct ExportProblemPass : impl::ExportProblemPassBase<ExportProblemPass> {
  using Base::Base;

  LogicalResult initialize(MLIRContext *context) override {
    return LaunchFacts::load(target, UnknownLoc::get(context), facts);
  }

  void runOnOperation() override {
    markAllAnalysesPreserved();
    if (failed(run()))
      signalPassFailure();
  }

  LogicalResult run();
  FailureOr<ProgramOp> findProgram();

  std::shared_ptr<LaunchFacts> facts;
};

} // namespace

/// Returns the program that the options name, or the only program.
FailureOr<ProgramOp> ExportProblemPass::findProgram() {
  ModuleOp module = getOperation();
  SmallVector<ProgramOp> programs = findPrograms(module);
  if (!program.empty())
    llvm::erase_if(programs, [&](ProgramOp other) { return other.getName() != program; });
  if (programs.size() == 1)
    return programs.front();
  if (!program.empty())
    return module.emitError("there is no device program '") << program << "'";
  return module.emitError("expected one device program, got ")
         << programs.size() << (programs.empty() ? "" : ": name it by 'program'");
}

LogicalResult ExportProblemPass::run() {
  FailureOr<ProgramOp> found = findProgram();
  if (failed(found))
    return failure();
  ProgramOp step = *found;
  CostSources sources;
  sources.target = target;
  sources.threads = threads;
  FailureOr<CostModel> costs = CostModel::load(sources, step.getLoc());
  if (failed(costs) || failed(costs->check(step)))
    return failure();
  std::vector<PlanningScope> scopes = findPlanningScopes(step);
  if (scope >= scopes.size())
    return step.emitError("expected a scope below ")
           << scopes.size() << ", the number of gradients, but got " << scope.getValue();
  const PlanningScope &planned = scopes[scope];
  checkpoint::ProblemFile file;
  file.problem = planned.problem;
  checkpoint::LaunchLinks links;
  FailureOr<checkpoint::Footprint> footprint = findFootprint(planned, step, *facts, *costs, &links);
  if (failed(footprint))
    return failure();
  file.footprint = std::move(*footprint);
  if (!keepsOrder(step))
    file.links = std::move(links);
  // The costs are those of the plan that follows the labels, as in reports.
  std::vector<checkpoint::Choice> all(file.problem.values.size(), checkpoint::Choice::Save);
  checkpoint::BudgetPlanner planner(file.problem, file.footprint, {});
  file.totalCost = findStepSeconds(step, *facts, *costs) + planner.followed().usage.seconds -
                   checkpoint::Meter(file.problem, file.footprint).measure(all, 0).seconds;
  ValueIds ids(step.getBody().front());
  for (Operation *op : planned.ops) {
    file.operationNames.push_back(escape(op->getName().stripDialect().str()));
    for (OpResult result : op->getResults())
      file.valueNames.push_back(escape(ids.get(result)));
  }
  llvm::Error error =
      writeFile(output, [&](raw_ostream &out) { out << checkpoint::writeProblemFile(file); });
  return error ? step.emitError(llvm::toString(std::move(error))) : success();
}

} // namespace reprise
