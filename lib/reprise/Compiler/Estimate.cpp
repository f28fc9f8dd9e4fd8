// reprise: what a step takes, told without compiling it to code
#include "Report.h"

#include "reprise/Dialect/Exec/IR/Arena.h"
#include "reprise/Support/ByteSize.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace reprise {

LogicalResult describeEstimate(func::FuncOp step, LaunchFacts &facts, unsigned threads,
                               Report &report) {
  FailureOr<int64_t> worker = facts.findWorkerBytes(step);
  if (failed(worker))
    return failure();
  int64_t persistent = sizeof(int64_t); // the number of the step
  for (Type type : step.getArgumentTypes())
    persistent += getByteSize(type);
  report.target = facts.getTarget().getName();
  report.threads = threads;
  report.arenaBytes = *exec::getArenaBytes(step);
  report.persistentBytes = persistent;
  report.workspaceBytes = threads * *worker;
  return success();
}

/// The launch at which the most bytes are live, and those bytes.
static std::pair<int64_t, int64_t> findPeak(const std::vector<ReportedBuffer> &buffers) {
  std::map<int64_t, int64_t> changes; // by launch
  for (const ReportedBuffer &buffer : buffers) {
    changes[buffer.first] += buffer.bytes;
    changes[buffer.last + 1] -= buffer.bytes;
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
static void printLive(llvm::raw_ostream &stream, const std::vector<ReportedBuffer> &buffers) {
  constexpr size_t most = 20;
  auto [launch, bytes] = findPeak(buffers);
  stream << llvm::formatv("\n{0} bytes are live at the peak, launch {1}\n", bytes, launch);
  std::vector<const ReportedBuffer *> live;
  for (const ReportedBuffer &buffer : buffers)
    if (buffer.first <= launch && buffer.last >= launch)
      live.push_back(&buffer);
  sortByBytes(live);
  for (const ReportedBuffer *buffer : ArrayRef(live).take_front(most))
    stream << llvm::formatv("{0,16}  {1}, launches {2} to {3}\n", buffer->bytes, buffer->name,
                            buffer->first, buffer->last);
  if (live.size() > most)
    stream << llvm::formatv("{0,16}  {1} smaller ones\n", "", live.size() - most);
}

bool printEstimate(llvm::raw_ostream &stream, const Report &report) {
  int64_t taken = report.arenaBytes + report.workspaceBytes;
  stream << llvm::formatv("{0,-18}{1,16}\n{2,-18}{3,16}\n{4,-18}{5,16}\n", "arena_bytes",
                          report.arenaBytes, "workspace_bytes", report.workspaceBytes,
                          "persistent_bytes", report.persistentBytes);
  bool fits = !report.budget || taken <= report.budget->bytes;
  if (report.budget)
    stream << llvm::formatv("{0,-18}{1,16}  {2} needed: {3}\n", "budget", report.budget->bytes,
                            taken, fits ? "fits" : "does not fit");
  if (std::string cost = readCost(report); !cost.empty())
    stream << cost << "\n";
  if (!report.buffers.empty())
    printLive(stream, report.buffers);
  return fits;
}

} // namespace reprise
