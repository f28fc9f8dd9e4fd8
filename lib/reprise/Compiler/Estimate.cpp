// reprise: the bytes of a step, estimated without code generation
#include "LiveBytes.h"
#include "Report.h"

#include "reprise/Dialect/Exec/IR/Arena.h"
#include "reprise/Support/ByteSize.h"
#include "reprise/Support/Readable.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace reprise {

LogicalResult describeEstimate(ProgramOp step, LaunchFacts &facts, unsigned threads,
                               Report &report) {
  FailureOr<int64_t> workspace = facts.findWorkspace(step, threads);
  if (failed(workspace))
    return failure();
  report.target = facts.getTarget().getName();
  report.contractions = describe(facts.getTarget().getCapabilities().contractions).name;
  report.threads = threads;
  report.arenaBytes = *exec::getArenaBytes(step);
  report.hostBytes = exec::getHostBytes(step).value_or(0);
  report.persistentBytes = countPersistentBytes(step);
  report.workspaceBytes = *workspace;
  return success();
}

using Buffers = std::vector<const ReportedBuffer *>;

/// Lists the live buffers of a launch, except those that its results overwrite: a result in place
/// of an operand has the same bytes.
static Buffers listLive(const std::vector<ReportedBuffer> &buffers, int64_t launch) {
  Buffers found, kept;
  for (const ReportedBuffer &buffer : buffers)
    if (buffer.first <= launch && buffer.last >= launch)
      found.push_back(&buffer);
  sortStably(found, [](const ReportedBuffer *a, const ReportedBuffer *b) {
    return std::make_tuple(a->offset, -a->bytes, -a->first) <
           std::make_tuple(b->offset, -b->bytes, -b->first);
  });
  int64_t end = 0;
  for (const ReportedBuffer *buffer : found) {
    int64_t ownEnd = buffer->offset + buffer->bytes;
    if (ownEnd > end)
      kept.push_back(buffer);
    end = std::max(end, ownEnd);
  }
  return kept;
}

/// Prints the buffers at the peak, largest first.
static void printLive(llvm::raw_ostream &stream, const std::vector<ReportedBuffer> &buffers) {
  constexpr size_t most = 20;
  std::vector<int64_t> bytes = countLiveBytes(buffers);
  auto peak = llvm::max_element(bytes);
  int64_t launch = peak - bytes.begin();
  Buffers live = listLive(buffers, launch);
  stream << llvm::formatv("\n{0} are live at the peak, launch {1}\n", showBytesExactly(*peak),
                          launch);
  sortByBytes(live);
  for (const ReportedBuffer *buffer : ArrayRef(live).take_front(most))
    stream << llvm::formatv("{0,32}  {1}, launches {2} to {3}\n", showBytesExactly(buffer->bytes),
                            buffer->name, buffer->first, buffer->last);
  if (live.size() > most)
    stream << llvm::formatv("{0,32}  {1} smaller ones\n", "", live.size() - most);
}

bool printEstimate(llvm::raw_ostream &stream, const Report &report) {
  printStepBytes(stream, report);
  bool fits = !report.budget || report.stepBytes() <= report.budget->bytes;
  if (report.budget) {
    printBytes(stream, "budget of arena and workspace", report.budget->bytes);
    stream << "the step " << (fits ? "fits" : "does not fit") << "\n";
  }
  if (std::string cost = readCost(report); !cost.empty())
    stream << cost << "\n";
  if (!report.buffers.empty())
    printLive(stream, report.buffers);
  return fits;
}

} // namespace reprise
