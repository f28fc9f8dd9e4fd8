// reprise: places of buffers, with replays that run while their device waits
#include "HiddenReplays.h"

#include "EarlyReplays.h"
#include "reprise/Support/Parallel.h"

using namespace mlir;

namespace reprise {

using Runs = ArrayRef<std::unique_ptr<ProgramRun>>;

/// Returns the bytes of a budget that the plan leaves free; 0 if no plan was searched.
static int64_t countSpareBytes(const Report &report) {
  if (!report.budget || !report.budget->search)
    return 0;
  return std::max<int64_t>(0, report.budget->bytes - report.budget->search->predictedBytes);
}

/// Moves launches. Returns the programs before.
static std::vector<OwningOpRef<ProgramOp>> hide(const PlannedPipeline &planned, Runs runs,
                                                HiddenSeconds &hidden) {
  std::vector<OwningOpRef<ProgramOp>> before;
  SmallVector<WaitingProgram> programs;
  for (const std::unique_ptr<ProgramRun> &run : runs) {
    before.emplace_back(run->getProgram().clone());
    programs.push_back(
        {run->getProgram(), &run->getCosts(), countSpareBytes(run->getCompiled().report)});
  }
  hidden = hideReplays(planned, programs);
  return before;
}

LogicalResult placeBuffers(ModuleOp module, Runs runs, Phase after, HiddenSeconds &hidden) {
  auto programs = llvm::map_to_vector(
      runs, [](const auto &run) -> const CompiledProgram * { return &run->getCompiled(); });
  std::optional<PlannedPipeline> planned = readPipeline(module, programs);
  std::vector<OwningOpRef<ProgramOp>> before(runs.size());
  if (planned && after < Phase::Kernels)
    before = hide(*planned, runs, hidden);
  std::vector<char> isRestored(runs.size());
  auto place = [&](size_t number) -> LogicalResult {
    FailureOr<bool> found = runs[number]->place(after, std::move(before[number]));
    if (succeeded(found))
      isRestored[number] = *found;
    return failure(failed(found));
  };
  if (failed(forEachInParallel(*module.getContext(), runs.size(), place)))
    return failure();
  for (size_t stage = 0; stage < hidden.size(); ++stage) {
    const pipeline::Shape &shape = planned->schedule.shape;
    for (size_t device = shape.rankOf(static_cast<int>(stage)); device < runs.size();
         device += shape.ranks)
      if (isRestored[device])
        std::fill(hidden[stage].begin(), hidden[stage].end(), 0.0);
  }
  return success();
}

} // namespace reprise
