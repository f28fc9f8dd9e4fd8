// reprise: tests of the recount of a solution
#include "../FootprintDefinition.h"

#include "reprise/Planning/Checkpoint/Problem/Recount.h"

#include <gtest/gtest.h>

using namespace reprise::checkpoint;
using namespace reprise::checkpoint::test;

namespace {

TEST(Recount, FindsWhatTheDefinitionSays) {
  Random random(52);
  int replayed = 0, rounds = problemCount(1500);
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    Case given = makeCase(random, 12, 0, pick(random, 2));
    ScheduleBuilder builder(given.problem);
    const Schedule &schedule = builder.build(pickChoices(random, given.problem));
    if (!schedule.isWhole)
      continue;
    Recount found = recount(given.problem, given.footprint, describe(given.problem, schedule));
    Usage usage = Definition(given, schedule).measure(0);
    ASSERT_EQ(found.peak, usage.peak);
    ASSERT_EQ(found.cost, usage.seconds);
    replayed += usage.seconds > 0;
  }
  EXPECT_GT(replayed, rounds / 2);
}

} // namespace
