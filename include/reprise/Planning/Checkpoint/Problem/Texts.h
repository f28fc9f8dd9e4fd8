// reprise: decisions and their reasons in words, once for plans, attributes of ops and reports
//
// The planner knows no MLIR, and `reprise-plan` prints decisions without it. So their texts are
// here and not in ODS; ops and reports hold these texts, and whoever reads them asks parse…().
#ifndef REPRISE_PLANNING_CHECKPOINT_PROBLEM_TEXTS_H
#define REPRISE_PLANNING_CHECKPOINT_PROBLEM_TEXTS_H

#include "reprise/Planning/Checkpoint/Problem/Solution.h"

#include <optional>
#include <string_view>

namespace reprise::checkpoint {

std::optional<Decision> parseDecision(std::string_view text);

/// "label" stands for the name of the rule that gave the label, which plans have in its place.
std::string_view getText(Reason reason);
/// Nothing for the name of a rule.
std::optional<Reason> parseReason(std::string_view text);

} // namespace reprise::checkpoint

#endif
