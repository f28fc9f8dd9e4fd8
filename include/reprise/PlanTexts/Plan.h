// reprise: plans within budgets, of graphs and of checkpoint problems, and their texts
#ifndef REPRISE_PLANTEXTS_PLAN_H
#define REPRISE_PLANTEXTS_PLAN_H

#include "llvm/Support/Error.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>

namespace reprise {

struct PlanOptions {
  std::string path;                 ///< path of the problem, for messages
  std::vector<std::string> budgets; ///< budgets, see parseBudgets
  std::optional<double> timeLimit;  ///< seconds per budget; 0 leaves only work without a search
  bool isWritten = false;           ///< whether to write `text`
  /// Tells whether a budget that no plan meets returns the plan of the smallest peak.
  bool orLeast = false;
  std::function<bool()> isCancelled =
      /// Returns whether to cancel; called often.
      nullptr;
};

/// Result for one budget.
struct Plan {
  int64_t budget = 0;
  bool isFound = false; ///< whether a plan fits, or with `orLeast` any plan exists
  int64_t peak = 0;
  double cost = 0;                 ///< cost of all replays
  double extraCost = 0, bound = 0; ///< percent of the cost without replays
  double seconds = 0;
  size_t executions = 0;
  /// Bytes with a PREFER label that the plan does not follow, if there are labels.
  std::optional<int64_t> overridden;
  std::optional<bool> isReordered; ///< whether launches run in another order, if that is allowed
  std::string place;               ///< place that needs more than the budget with every plan
  int64_t need = 0;                ///< bytes that it needs: above the budget if no schedule fits
  /// Smallest budget for which a plan was found, if the plan itself is missing.
  int64_t lowestPeak = 0;
  bool isTruncated = false; ///< whether the time limit ended the search
  std::string text;         ///< text for -o
};

/// Returns an error about the text of a budget, whatever a share refers to; empty if it is valid.
std::string checkBudget(llvm::StringRef text);

/// Parses bytes, or a share such as 80% of the peak without replays; units are those of
/// `kByteUnits`.
llvm::Expected<std::vector<int64_t>> parseBudgets(const std::vector<std::string> &texts,
                                                  int64_t peak);

/// Timer that ends a search when its time is over or the search is cancelled. Bounds and first
/// plans may run longer by a fifth of the limit, and at least by one second.
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

/// Reads one format and plans within the budgets. Errors: an invalid text or budget, or a plan that
/// its judge refutes.
llvm::Expected<std::vector<Plan>> planGraph(llvm::StringRef text, const PlanOptions &options);
llvm::Expected<std::vector<Plan>> planProblem(llvm::StringRef text, const PlanOptions &options);

/// Calls planGraph or planProblem by the format of the text.
llvm::Expected<std::vector<Plan>> planWithinBudgets(llvm::StringRef text,
                                                    const PlanOptions &options);

/// Sets the lowest peak of every plan to the lowest of all plans.
void shareLowestPeak(std::vector<Plan> &plans);

/// Returns one line for the terminal, or one object for programs.
std::string describe(const Plan &plan);
std::string describeAsJson(const std::vector<Plan> &plans);

} // namespace reprise

#endif // REPRISE_PLANTEXTS_PLAN_H
