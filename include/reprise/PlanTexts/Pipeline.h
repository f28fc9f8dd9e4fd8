// reprise: schedules of a pipeline, cut for them, judged and simulated
#ifndef REPRISE_PLANTEXTS_PIPELINE_H
#define REPRISE_PLANTEXTS_PIPELINE_H

#include "reprise/Planning/Pipeline/Problem.h"
#include "reprise/Planning/Stages/ProblemFile.h"
#include "llvm/Support/Error.h"

namespace reprise {

/// One schedule of a problem.
struct PipelinePlan {
  std::string name; ///< of the rule or the file
  pipeline::Schedule schedule;
  std::string defect;      ///< why it cannot run; empty if it can
  std::vector<int> begins; ///< first unit of each stage
  pipeline::Simulation simulation;
  double seconds = 0; ///< what planning took
};

/// Cuts the step for each schedule, a rule's name or a file's path, or for every rule if none is
/// named. The errors: a name that is neither, a file that is no schedule.
llvm::Expected<std::vector<PipelinePlan>> planPipeline(const stages::ProblemFile &file,
                                                       llvm::ArrayRef<std::string> schedules);

/// The one that ends first, or null if none can run.
const PipelinePlan *findFastest(llvm::ArrayRef<PipelinePlan> plans);

/// One line for the terminal, one object for programs.
std::string describe(const PipelinePlan &plan);
std::string describeAsJson(llvm::ArrayRef<PipelinePlan> plans);
/// The schedule as a file, which reads as one of `schedules`.
std::string writeSchedule(const PipelinePlan &plan);

} // namespace reprise

#endif // REPRISE_PLANTEXTS_PIPELINE_H
