// reprise: packings of buffers as texts
#include "reprise/PlanTexts/Offsets.h"
#include "reprise/PlanTexts/Plan.h"

#include "reprise/Planning/Offsets/Csv.h"
#include "reprise/Planning/Offsets/Solve.h"
#include "reprise/Support/Readable.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace reprise;

llvm::Expected<PackingPlan> reprise::packBuffers(const std::string &text, const std::string &path,
                                                 int64_t capacity) {
  offsets::Table table;
  if (std::string wrong = offsets::readCsv(text, table); !wrong.empty())
    return llvm::createStringError(path + ":" + wrong);
  if (auto defect = offsets::validate(table.problem))
    return llvm::createStringError(path + ": " + defect->message);
  PackingPlan plan;
  plan.buffers = static_cast<int64_t>(table.problem.buffers.size());
  plan.maxLoad = offsets::maxLoad(table.problem);
  if (capacity > 0 && plan.maxLoad > capacity)
    return llvm::createStringError(
        llvm::formatv("no packing fits: {0} are live at once, the capacity is {1}",
                      showBytesExactly(plan.maxLoad), showBytesExactly(capacity))
            .str());
  // The limit takes some ten seconds, and gives the same result on every machine.
  offsets::SolveOptions options;
  options.searchVisits = 4'000'000'000;
  options.enough = capacity;
  Stopwatch watch(std::nullopt);
  offsets::Solution solution = offsets::solve(table.problem, options);
  plan.seconds = watch.seconds();
  if (auto defect = offsets::validate(table.problem, solution))
    return llvm::createStringError("the packing is wrong: " + defect->message);
  plan.height = solution.height;
  plan.text = offsets::writeCsv(table, solution);
  return plan;
}

std::string reprise::describe(const PackingPlan &plan) {
  double above = plan.maxLoad == 0
                     ? 0
                     : 100.0 * static_cast<double>(plan.height - plan.maxLoad) / plan.maxLoad;
  return llvm::formatv("{0} buffers: height {1}, max load {2} (+{3:f2} %), {4:f2} s",
                       groupDigits(plan.buffers), showBytesExactly(plan.height),
                       showBytesExactly(plan.maxLoad), above, plan.seconds);
}

std::string reprise::describeAsJson(const PackingPlan &plan) {
  llvm::json::Object object{{"version", 1},
                            {"buffers", plan.buffers},
                            {"height", plan.height},
                            {"max_load", plan.maxLoad},
                            {"seconds", plan.seconds}};
  return llvm::formatv("{0:2}\n", llvm::json::Value(std::move(object)));
}
