// reprise: checkpoint problems and the steps around them, as JSON
#ifndef REPRISE_PLANNING_CHECKPOINT_PROBLEM_PROBLEMFILE_H
#define REPRISE_PLANNING_CHECKPOINT_PROBLEM_PROBLEMFILE_H

#include "reprise/Planning/Checkpoint/Problem/LaunchOrder.h"

#include <string_view>

namespace reprise::checkpoint {

/// A planning problem as docs/reference/PlanningProblems.md describes it and
/// docs/reference/schemas/planning-problem.schema.json checks it.
struct ProblemFile {
  Problem problem; ///< valid, with one body
  Footprint footprint;
  /// None if the launches run in their order only. Those that read a value wait for what makes it.
  std::optional<LaunchLinks> links;
  /// Seconds, or whatever costs are measured in, of one execution of the whole step.
  double totalCost = 0;
  /// Names of operations and values, as JSON writes them between quotes; "" for one without a name.
  std::vector<std::string> operationNames, valueNames;
};

/// True if the text is an object with the member `operations`, or `version` without `nodes`: graphs
/// of networkx have neither.
bool isProblemFile(std::string_view text);

/// Reads a problem that the planner can be given as it is: it is valid, launches run after those
/// that they read from, and no sum of bytes or costs overflows. Returns what is wrong, with the
/// line and the operation, or nothing.
std::string readProblemFile(std::string_view text, ProblemFile &file);

/// The text of a problem with one body, whose names may be left out. What is read from it has the
/// same problem and the same footprint, but for the times of operations without a launch, which
/// readers in the problem alone decide.
std::string writeProblemFile(const ProblemFile &file);

std::string_view getKindName(Kind kind);
std::optional<Kind> parseKind(std::string_view name);

} // namespace reprise::checkpoint

#endif // REPRISE_PLANNING_CHECKPOINT_PROBLEM_PROBLEMFILE_H
