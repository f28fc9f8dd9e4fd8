// reprise: the words of policies and plans
//
// Made by utils/make-enums.py from include/reprise/Dialect/Reprise/IR/PlanEnums.td.
#ifndef REPRISE_PLANNING_CHECKPOINT_PROBLEM_PLANENUMS_H
#define REPRISE_PLANNING_CHECKPOINT_PROBLEM_PLANENUMS_H

#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

// clang-format off
namespace reprise::checkpoint {

/// Request of a policy for the results of an op.
enum class ValueLabel : uint8_t {
  None, ///< nothing
  /// The backward pass reads the original.
  MustSave = 1,
  /// The backward pass reads the original if the budget allows it.
  PreferSave = 2,
  /// The result is computed again, unless a plan saves it for a reason.
  PreferRecompute = 3,
  /// The result is computed again in every plan.
  MustRecompute = 4,
  /// The result waits in the memory of the host.
  MustOffload = 5,
  /// The result waits in the memory of the host, or is computed again.
  PreferOffload = 6,
};
inline constexpr std::string_view kValueLabelTexts[] = {
    "",
    "must_save",
    "prefer_save",
    "prefer_recompute",
    "must_recompute",
    "must_offload",
    "prefer_offload",
};
constexpr std::string_view getText(ValueLabel value) { return kValueLabelTexts[static_cast<size_t>(value)]; }
/// The case with that text; none for another text.
constexpr std::optional<ValueLabel> parseValueLabel(std::string_view text) {
  for (size_t number = 1; number < std::size(kValueLabelTexts); ++number)
    if (kValueLabelTexts[number] == text)
      return static_cast<ValueLabel>(number);
  return std::nullopt;
}

/// How a plan provides a value to the backward pass.
enum class Decision : uint8_t {
  /// Kept in memory, as its label asks or because it has none.
  Saved = 0,
  /// Kept in memory although its label asks for a replay.
  Kept = 1,
  /// Computed again.
  Replayed = 2,
  /// Read by neither the backward pass nor a replay.
  NotNeeded = 3,
  /// Moved to the memory of the host and back.
  Offloaded = 4,
};
inline constexpr std::string_view kDecisionTexts[] = {
    "saved",
    "kept",
    "replayed",
    "not needed",
    "offloaded",
};
constexpr std::string_view getText(Decision value) { return kDecisionTexts[static_cast<size_t>(value)]; }
/// The case with that text; none for another text.
constexpr std::optional<Decision> parseDecision(std::string_view text) {
  for (size_t number = 0; number < std::size(kDecisionTexts); ++number)
    if (kDecisionTexts[number] == text)
      return static_cast<Decision>(number);
  return std::nullopt;
}

/// Reason of a decision.
enum class Reason : uint8_t {
  /// The label asks for it; plans show the name of the rule instead.
  Label = 0,
  /// No label: saving costs less time.
  Fastest = 1,
  /// No label: computed again inside its consumer's kernel.
  NearlyFree = 2,
  /// An input of a unit that has replays, or of the last unit.
  BlockInput = 3,
  /// The unit of the value runs directly before its own backward pass.
  LastUnit = 4,
  /// The plan that fits the budget says so.
  Budget = 5,
  /// The value is in memory in any case.
  Outlives = 6,
  /// Labelled, but not needed.
  Moot = 7,
  /// Neither labelled nor needed.
  NotRead = 8,
};
inline constexpr std::string_view kReasonTexts[] = {
    "label",
    "fastest",
    "nearly free",
    "block input",
    "last unit",
    "budget",
    "returned",
    "moot",
    "not read",
};
constexpr std::string_view getText(Reason value) { return kReasonTexts[static_cast<size_t>(value)]; }
/// The case with that text; none for another text.
constexpr std::optional<Reason> parseReason(std::string_view text) {
  for (size_t number = 0; number < std::size(kReasonTexts); ++number)
    if (kReasonTexts[number] == text)
      return static_cast<Reason>(number);
  return std::nullopt;
}

/// Execution of a value that the backward pass, or a replay, reads.
enum class Choice : uint8_t {
  /// The original is kept for all readers.
  Save = 0,
  /// A single replay serves all readers.
  Replay = 1,
  /// Each unit whose backward pass reads the value has its own replay.
  ReplayPerUnit = 2,
  /// The original is kept for the first unit that reads it; a single replay serves all later units.
  SaveThenReplay = 3,
};
inline constexpr std::string_view kChoiceTexts[] = {
    "save",
    "replay",
    "replay per unit",
    "save then replay",
};
constexpr std::string_view getText(Choice value) { return kChoiceTexts[static_cast<size_t>(value)]; }
/// The case with that text; none for another text.
constexpr std::optional<Choice> parseChoice(std::string_view text) {
  for (size_t number = 0; number < std::size(kChoiceTexts); ++number)
    if (kChoiceTexts[number] == text)
      return static_cast<Choice>(number);
  return std::nullopt;
}

/// Change that a plan makes to the step before values are chosen.
enum class Form : uint8_t {
  /// Loops are replaced by their iterations.
  Unrolled = 0,
  /// Bodies of loops have a plan of their own, with replays.
  BodiesRecomputed = 1,
  /// A large gradient waits until the pass is over.
  Deferred = 2,
  /// The widest contraction and its readers run in slices of rows.
  Sliced = 3,
};
inline constexpr std::string_view kFormTexts[] = {
    "unrolled",
    "bodies_recomputed",
    "deferred",
    "sliced",
};
constexpr std::string_view getText(Form value) { return kFormTexts[static_cast<size_t>(value)]; }
/// The case with that text; none for another text.
constexpr std::optional<Form> parseForm(std::string_view text) {
  for (size_t number = 0; number < std::size(kFormTexts); ++number)
    if (kFormTexts[number] == text)
      return static_cast<Form>(number);
  return std::nullopt;
}

} // namespace reprise::checkpoint

#endif // REPRISE_PLANNING_CHECKPOINT_PROBLEM_PLANENUMS_H
