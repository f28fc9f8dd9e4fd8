// reprise: what a step takes, told without compiling it to code
#include "Report.h"

#include "reprise/Support/ByteSize.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using llvm::json::Array;
using llvm::json::Object;

namespace reprise {

LogicalResult describeEstimate(func::FuncOp step, const Target &target, unsigned threads,
                               Object &report) {
  FailureOr<int64_t> workspace = WorkspaceMeter(target).measure(step, threads);
  if (failed(workspace))
    return failure();
  int64_t persistent = sizeof(int64_t); // the number of the step
  for (Type type : step.getArgumentTypes())
    persistent += getByteSize(type);
  report["target"] = target.getName();
  report["threads"] = threads;
  report["arena_bytes"] = step->getAttrOfType<IntegerAttr>("exec.arena_bytes").getInt();
  report["persistent_bytes"] = persistent;
  report["workspace_bytes"] = *workspace;
  return success();
}

static int64_t integer(const Object &object, StringRef key) {
  return object.getInteger(key).value_or(0);
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

void printEstimate(llvm::raw_ostream &stream, const Object &report) {
  constexpr size_t most = 20;
  int64_t arena = integer(report, "arena_bytes"), workspace = integer(report, "workspace_bytes");
  stream << llvm::formatv("{0,-18}{1,16}\n{2,-18}{3,16}\n{4,-18}{5,16}\n", "arena_bytes", arena,
                          "workspace_bytes", workspace, "persistent_bytes",
                          integer(report, "persistent_bytes"));
  if (const Object *budget = report.getObject("budget"))
    stream << llvm::formatv(
        "{0,-18}{1,16}  {2} of it {3}\n", "budget", integer(*budget, "bytes"), arena + workspace,
        arena + workspace <= integer(*budget, "bytes") ? "taken: fits" : "needed: does not fit");
  const Array *buffers = report.getArray("buffers");
  if (!buffers || buffers->empty())
    return;
  auto [launch, bytes] = findPeak(*buffers);
  stream << llvm::formatv("\n{0} bytes are live at the peak, launch {1}\n", bytes, launch);
  std::vector<const Object *> live;
  for (const llvm::json::Value &value : *buffers)
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

} // namespace reprise
