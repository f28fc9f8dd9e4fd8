// reprise: tests of the words that planner and dialect share
#include "reprise/Planning/Checkpoint/Problem/PlanEnums.h"

#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include <gtest/gtest.h>

using namespace reprise;

namespace {

/// Compares the numbers and texts of all cases of an enum in the dialect and in the planner.
template <typename Own, typename Parse, typename Stringify, typename Symbolize>
void compare(uint32_t first, uint32_t last, Parse parse, Stringify stringify, Symbolize symbolize) {
  for (uint32_t number = first; number <= last; ++number) {
    auto ofDialect = symbolize(number);
    ASSERT_TRUE(ofDialect) << number;
    EXPECT_EQ(stringify(*ofDialect).str(), getText(static_cast<Own>(number)));
    EXPECT_EQ(parse(stringify(*ofDialect).str()), static_cast<Own>(number));
  }
  EXPECT_FALSE(symbolize(last + 1));
  EXPECT_EQ(parse("saving"), std::nullopt);
  EXPECT_EQ(parse(""), std::nullopt);
}

TEST(PlanEnums, AreThoseOfTheDialect) {
  using namespace checkpoint;
  compare<ValueLabel>(1, getMaxEnumValForLabel(), parseValueLabel, stringifyLabel,
                      [](uint32_t number) { return symbolizeLabel(number); });
  compare<Decision>(0, getMaxEnumValForPlanDecision(), parseDecision, stringifyPlanDecision,
                    [](uint32_t number) { return symbolizePlanDecision(number); });
  compare<Reason>(0, getMaxEnumValForPlanReason(), parseReason, stringifyPlanReason,
                  [](uint32_t number) { return symbolizePlanReason(number); });
  compare<Choice>(0, getMaxEnumValForPlanChoice(), parseChoice, stringifyPlanChoice,
                  [](uint32_t number) { return symbolizePlanChoice(number); });
  compare<Form>(0, getMaxEnumValForPlanFormStep(), parseForm, stringifyPlanFormStep,
                [](uint32_t number) { return symbolizePlanFormStep(number); });
}

} // namespace
