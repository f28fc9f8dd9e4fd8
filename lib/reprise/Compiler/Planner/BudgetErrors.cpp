// reprise: what is said of a budget that no plan fits
#include "ProgramPlanner.h"

#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Support/Wording.h"

using namespace mlir;
using namespace reprise;

/// Names the program in an error, if its module has several programs.
static std::string describeProgram(ProgramOp program) {
  auto module = program->getParentOfType<ModuleOp>();
  if (!module || findPrograms(module).size() < 2)
    return "the step";
  return ("device program '" + program.getName() + "'").str();
}

namespace {
/// A budget that is too small, and the least budget that is known to fit.
struct Shortage {
  int64_t budget, feasible, workspace;
  int64_t threads;
  std::optional<double> share = std::nullopt; ///< the budget is this share of `whole`
  int64_t whole = 0;

  /// Returns the bytes of the budget if the step is compiled for `count` threads.
  int64_t budgetFor(int64_t count) const {
    return share ? static_cast<int64_t>(*share * static_cast<double>(whole - spared(count)))
                 : budget;
  }
  int64_t feasibleFor(int64_t count) const { return feasible - spared(count); }

  std::string describeBudget() const;
  std::string describeThreads() const;
  std::string advise() const;

private:
  int64_t spared(int64_t count) const { return workspace / threads * (threads - count); }
};
} // namespace

/// Returns a text such as "7,106 bytes (60 % of 11,844)".
std::string Shortage::describeBudget() const {
  std::string text = amount(budget, "byte");
  if (share)
    text += llvm::formatv(" ({0} % of {1})", llvm::format("%g", 100 * *share), groupDigits(whole));
  return text;
}

std::string Shortage::describeThreads() const {
  return "workspace of " + amount(threads, "thread");
}

/// Names options that are expected to compile. Fewer threads take less workspace.
std::string Shortage::advise() const {
  std::string larger = "--budget=" + groupDigits(feasible);
  for (int64_t count = threads - 1; count > 0; --count)
    if (feasibleFor(count) <= budgetFor(count))
      return "try --threads=" + std::to_string(count) + " or " + larger;
  bool isMuch = threads > 1 && feasibleFor(1) < feasible - feasible / 10;
  return "try " + larger +
         (isMuch ? " or --threads=1 --budget=" + groupDigits(feasibleFor(1)) : "");
}

/// Returns the op at which the smallest plan has its peak.
static Operation *findNeediest(const FormSearch &form) {
  ProgramOp function = form.step.get();
  if (!form.choices)
    return function;
  int launch = form.choices->smallest().usage.peakLaunch;
  exec::LaunchNumbers numbers = exec::numberLaunches(function, form.context.facts->getTarget());
  for (Operation &op : function.getBody().front())
    if (numbers.of.lookup_or(&op, -1) == launch)
      return &op;
  return function;
}

LogicalResult ProgramPlanner::emitTooSmall(int64_t budget, int64_t feasible) const {
  auto [smallest, form] = findSmallest(known);
  int64_t room = budget - smallest->workspace, proved = INT64_MAX;
  for (const FormedStep *step : listBounding(known))
    proved = std::min(proved, findProvedArena(*step, room, known.context));
  const CompileOptions &options = known.context.options;
  Shortage shortage{budget, feasible, smallest->workspace, countThreads(options)};
  if (saveAll && options.budget && options.budget->share) {
    shortage.share = options.budget->share;
    shortage.whole = *saveAll;
  }
  Operation *at = findNeediest(*form);
  InFlightDiagnostic error = at->emitError();
  error << describeProgram(known.program) << " does not fit in " << shortage.describeBudget()
        << ": ";
  if (room <= 0)
    error << groupDigits(smallest->workspace) << " bytes are " << shortage.describeThreads();
  else
    error << groupDigits(feasible - budget) << " more bytes are needed at " << at->getName();
  error << "; " << shortage.advise();
  Diagnostic &note = error.attachNote(ProgramOp(known.program).getLoc());
  note << "a budget of " << amount(feasible, "byte") << " is known to fit"
       << (isTruncated(known) ? "; the time limit ended the search" : "");
  if (proved > 0)
    note << "; below " << groupDigits(proved + smallest->workspace) << " bytes no plan fits";
  return error;
}
