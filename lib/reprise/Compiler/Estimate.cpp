// reprise: what a step takes, told without compiling it to code
#include "Html.h"
#include "Report.h"

#include "reprise/Support/ByteSize.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using llvm::json::Array;
using llvm::json::Object;
using reprise::html::integer;

namespace reprise {

LogicalResult describeEstimate(func::FuncOp step, LaunchFacts &facts, unsigned threads,
                               Object &report) {
  FailureOr<int64_t> worker = facts.findWorkerBytes(step);
  if (failed(worker))
    return failure();
  int64_t persistent = sizeof(int64_t); // the number of the step
  for (Type type : step.getArgumentTypes())
    persistent += getByteSize(type);
  report["target"] = facts.getTarget().getName();
  report["threads"] = threads;
  report["arena_bytes"] = step->getAttrOfType<IntegerAttr>("exec.arena_bytes").getInt();
  report["persistent_bytes"] = persistent;
  report["workspace_bytes"] = threads * *worker;
  return success();
}

/// The launch at which the most bytes are live, and those bytes.
static std::pair<int64_t, int64_t> findPeak(const Array &buffers) {
  std::map<int64_t, int64_t> changes; // by launch
  for (const llvm::json::Value &value : buffers) {
    const Object &buffer = *value.getAsObject();
    changes[integer(buffer, "first")] += integer(buffer, "bytes");
    changes[integer(buffer, "last") + 1] -= integer(buffer, "bytes");
  }
  std::pair<int64_t, int64_t> peak;
  int64_t live = 0;
  for (auto [launch, change] : changes) {
    live += change;
    if (live > peak.second)
      peak = {launch, live};
  }
  return peak;
}

/// What lies at the peak, the largest first.
static void printLive(llvm::raw_ostream &stream, const Array &buffers) {
  constexpr size_t most = 20;
  auto [launch, bytes] = findPeak(buffers);
  stream << llvm::formatv("\n{0} bytes are live at the peak, launch {1}\n", bytes, launch);
  std::vector<const Object *> live;
  for (const llvm::json::Value &value : buffers)
    if (const Object *buffer = value.getAsObject();
        integer(*buffer, "first") <= launch && integer(*buffer, "last") >= launch)
      live.push_back(buffer);
  sortByBytes(live);
  for (const Object *buffer : ArrayRef(live).take_front(most))
    stream << llvm::formatv("{0,16}  {1}, launches {2} to {3}\n", integer(*buffer, "bytes"),
                            buffer->getString("name").value_or(""), integer(*buffer, "first"),
                            integer(*buffer, "last"));
  if (live.size() > most)
    stream << llvm::formatv("{0,16}  {1} smaller ones\n", "", live.size() - most);
}

bool printEstimate(llvm::raw_ostream &stream, const Object &report) {
  int64_t arena = integer(report, "arena_bytes"), workspace = integer(report, "workspace_bytes");
  stream << llvm::formatv("{0,-18}{1,16}\n{2,-18}{3,16}\n{4,-18}{5,16}\n", "arena_bytes", arena,
                          "workspace_bytes", workspace, "persistent_bytes",
                          integer(report, "persistent_bytes"));
  const Object *budget = report.getObject("budget");
  bool fits = !budget || arena + workspace <= integer(*budget, "bytes");
  if (budget)
    stream << llvm::formatv("{0,-18}{1,16}  {2} needed: {3}\n", "budget", integer(*budget, "bytes"),
                            arena + workspace, fits ? "fits" : "does not fit");
  if (std::string cost = readCost(report); !cost.empty())
    stream << cost << "\n";
  if (const Array *buffers = report.getArray("buffers"); buffers && !buffers->empty())
    printLive(stream, *buffers);
  return fits;
}
} // namespace reprise
