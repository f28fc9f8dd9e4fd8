// reprise: plans within budgets, of graphs and of checkpoint problems, and how they are shown
#ifndef REPRISE_PLANTEXTS_PLAN_H
#define REPRISE_PLANTEXTS_PLAN_H

#include "llvm/Support/Error.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>

namespace reprise {

struct PlanOptions {
  std::string path;                 ///< of the problem, for messages
  std::vector<std::string> budgets; ///< see parseBudget
  std::optional<double> timeLimit;  ///< seconds for each budget; zero leaves what needs no search
  bool isWritten = false;           ///< whether `text` is asked for
  bool orLeast = false; ///< a budget that nothing fits is answered by the plan of the least peak
  std::function<bool()> isCancelled =
      nullptr; ///< asked often: whether nobody wants a plan any more
};

/// What was found for one budget.
struct Plan {
  int64_t budget = 0;
  bool isFound = false; ///< a plan that fits, or with `orLeast` any plan
  int64_t peak = 0;
  double cost = 0;                 ///< of all that runs again
  double extraCost = 0, bound = 0; ///< percent of the cost without replays
  double seconds = 0;
  size_t executions = 0;
  std::optional<int64_t> overridden; ///< bytes whose PREFER is not obeyed, where there are labels
  std::optional<bool> isReordered;   ///< launches run in another order, where they may
  std::string place;                 ///< what needs more than the budget, whatever is chosen
  int64_t need = 0;                  ///< so much: more than the budget if no schedule fits
  int64_t lowestPeak = 0;            ///< without a plan: the smallest budget known to be met
  bool isRefuted = false;            ///< no schedule fits, although each operation does
  bool isTruncated = false;          ///< by the time limit
  std::string text;                  ///< for -o
};

/// What is wrong with a budget as a text, whatever it is a share of; empty if nothing is.
std::string checkBudget(llvm::StringRef text);

/// Bytes, or a share such as 80% of the peak without replays; units are those of `kByteUnits`.
llvm::Expected<std::vector<int64_t>> parseBudgets(const std::vector<std::string> &texts,
                                                  int64_t peak);

/// Asks for the end once the time is over, or the search is cancelled. Bounds and first plans have
/// a fifth of the limit more, or a second.
class Stopwatch {
public:
  explicit Stopwatch(std::optional<double> limit, std::function<bool()> isCancelled = nullptr)
      : limit(limit), isCancelled(std::move(isCancelled)) {}
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  bool mayEnd() const { return limit || isCancelled; }
  bool isOver() const { return isAfter(limit.value_or(0)); }
  bool isLate() const { return isAfter(limit.value_or(0) + std::max(1.0, limit.value_or(0) / 5)); }

private:
  bool isAfter(double end) const {
    return (limit && seconds() >= end) || (isCancelled && isCancelled());
  }

  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  std::optional<double> limit;
  std::function<bool()> isCancelled;
};

/// Each reads its format and plans within the budgets. The errors: what is wrong with the text or
/// with a budget, or a plan that its judge refutes.
llvm::Expected<std::vector<Plan>> planGraph(llvm::StringRef text, const PlanOptions &options);
llvm::Expected<std::vector<Plan>> planProblem(llvm::StringRef text, const PlanOptions &options);

/// The one of them that reads the text.
llvm::Expected<std::vector<Plan>> planWithinBudgets(llvm::StringRef text,
                                                    const PlanOptions &options);

/// What one budget met is known to be met for all.
void shareLowestPeak(std::vector<Plan> &plans);

/// One line for the terminal, one object for programs.
std::string describe(const Plan &plan);
std::string describeAsJson(const std::vector<Plan> &plans);

} // namespace reprise

#endif // REPRISE_PLANTEXTS_PLAN_H
