// reprise: decisions and their reasons in words, once for plans, attributes of ops and reports
#include "reprise/Planning/Checkpoint/Problem/Texts.h"

#include <algorithm>
#include <iterator>

using namespace reprise::checkpoint;

static constexpr std::string_view decisionTexts[] = {"saved", "kept", "replayed", "not needed"};
static constexpr std::string_view reasonTexts[] = {"label",       "fastest",   "nearly free",
                                                   "block input", "last unit", "budget",
                                                   "returned",    "moot",      "not read"};

std::string_view reprise::checkpoint::getText(Decision decision) {
  return decisionTexts[static_cast<size_t>(decision)];
}

std::optional<Decision> reprise::checkpoint::parseDecision(std::string_view text) {
  auto found = std::find(std::begin(decisionTexts), std::end(decisionTexts), text);
  if (found == std::end(decisionTexts))
    return std::nullopt;
  return static_cast<Decision>(found - std::begin(decisionTexts));
}

std::string_view reprise::checkpoint::getText(Reason reason) {
  return reasonTexts[static_cast<size_t>(reason)];
}

std::optional<Reason> reprise::checkpoint::parseReason(std::string_view text) {
  // A rule may be called "label".
  auto found = std::find(std::next(std::begin(reasonTexts)), std::end(reasonTexts), text);
  if (found == std::end(reasonTexts))
    return std::nullopt;
  return static_cast<Reason>(found - std::begin(reasonTexts));
}
