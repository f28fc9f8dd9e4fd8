// reprise: schedules of a pipeline with their cuts, verified and simulated
#ifndef REPRISE_PLANTEXTS_PIPELINE_H
#define REPRISE_PLANTEXTS_PIPELINE_H

#include "reprise/Planning/Pipeline/Problem.h"
#include "reprise/Planning/Stages/ProblemFile.h"
#include "llvm/Support/Error.h"

namespace reprise {

/// Schedule of a problem.
struct PipelinePlan {
  std::string name; ///< name of the rule or the file
  pipeline::Schedule schedule;
  std::string defect;      ///< reason why it cannot run; empty if it can
  std::vector<int> begins; ///< first unit of each stage
  pipeline::Simulation simulation;
  double seconds = 0; ///< seconds of planning
};

/// Cuts the step for each schedule: a rule's name or a file's path. Without schedules, uses every
/// rule. Errors: an unknown name, a file that is no schedule.
llvm::Expected<std::vector<PipelinePlan>> planPipeline(const stages::ProblemFile &file,
                                                       llvm::ArrayRef<std::string> schedules);

/// Returns the plan with the smallest makespan, or null if none can run.
const PipelinePlan *findFastest(llvm::ArrayRef<PipelinePlan> plans);

/// Returns one line for the terminal, or one object for programs.
std::string describe(const PipelinePlan &plan);
std::string describeAsJson(llvm::ArrayRef<PipelinePlan> plans);
/// Returns a page with the passes of each rank over time, of at most kMostDrawn passes.
std::string drawSchedule(const PipelinePlan &plan);
/// Returns the schedule as a file that can be given as one of `schedules`.
std::string writeSchedule(const PipelinePlan &plan);

} // namespace reprise

#endif // REPRISE_PLANTEXTS_PIPELINE_H
