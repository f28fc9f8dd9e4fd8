// reprise: what is said of a budget that no plan fits
#include "ProgramPlanner.h"

#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/Naming.h"

using namespace mlir;
using namespace reprise;

/// By name, where there are several.
static std::string describeProgram(func::FuncOp program) {
  auto module = program->getParentOfType<ModuleOp>();
  if (!module || findPrograms(module).size() < 2)
    return "the step";
  return ("device program '" + program.getName() + "'").str();
}

LogicalResult ProgramPlanner::emitTooSmall(int64_t budget, int64_t feasible) const {
  auto [smallest, planner] = findSmallest();
  int64_t room = budget - smallest->workspace, proved = INT64_MAX;
  for (const Form &form : relaxed.empty() ? forms : relaxed)
    proved = std::min(proved, form.planner->findProvedArena(room));
  Operation *at = planner->findNeediest();
  InFlightDiagnostic error = at->emitError()
                             << describeProgram(program) << " does not fit in " << budget
                             << " bytes: " << feasible - budget << " are missing at "
                             << describeOp(at) << ", where the need is highest"
                             << (isTruncated() ? ", when the time limit ended the search" : "");
  Diagnostic &note = error.attachNote(func::FuncOp(program).getLoc());
  note << "the smallest feasible budget found is " << feasible << " bytes";
  if (proved > 0)
    note << "; no plan takes less than " << proved + smallest->workspace;
  return error;
}
