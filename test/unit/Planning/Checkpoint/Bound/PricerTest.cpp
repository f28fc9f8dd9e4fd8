// reprise: tests of the cheapest choices at prices of a byte
#include "../../../../../lib/reprise/Planning/Checkpoint/Bound/Pricer.h"
#include "../RandomCheckpoint.h"

#include <gtest/gtest.h>

using namespace reprise::checkpoint;
using namespace reprise::checkpoint::test;

namespace {

/// A value of ten bytes, made in a second, that waits for a backward reader.
Case makeWaiting() {
  Case given;
  given.problem.containers = {{-1}, {0}};
  given.add(0, Kind::Contraction, {kAvailable}, 0, true, 10);
  given.add(1, Kind::Contraction, {kAvailable}, 0, true, 1);
  given.add(3, Kind::Contraction, {0}, 1, false, 1);
  given.findTimes();
  return given;
}

TEST(Pricer, KeepsWhatIsCheaperThanItsReplay) {
  Case given = makeWaiting();
  Pricer pricer(given.problem, given.footprint);
  std::vector<double> prices(given.footprint.numLaunches);
  prices[1] = 0.09;
  EXPECT_EQ(pricer.choose(prices)[0], Choice::Save);
  prices[1] = 0.11;
  EXPECT_EQ(pricer.choose(prices)[0], Choice::Replay);
  EXPECT_EQ(pricer.price(prices).seconds, 1);
  prices[1] = 0;
  EXPECT_EQ(pricer.choose(prices)[0], Choice::Save);
  EXPECT_EQ(pricer.price(prices).bytes[1], 10);
}

TEST(Pricer, ABytePaysAtTheLaunchesThatItCrosses) {
  Case given = makeWaiting();
  Pricer pricer(given.problem, given.footprint);
  std::vector<double> prices(given.footprint.numLaunches);
  prices[0] = prices[3] = 100;
  EXPECT_EQ(pricer.choose(prices)[0], Choice::Save);
  prices[1] = prices[2] = 0.06;
  EXPECT_EQ(pricer.choose(prices)[0], Choice::Replay);
}

/// The price contains the seconds of replays, priced launches and priced bytes, and the kept bytes.
TEST(Pricer, ReplaysPayLessThanAllThatIsKept) {
  Random random(5);
  int replays = 0, unpriced = 0;
  for (int round = 0; round < 200; ++round) {
    Case given = makeCase(random, 12, 0);
    std::vector<double> prices(given.footprint.numLaunches);
    for (double &price : prices)
      price = pick(random, 4) ? 0 : 0.02 * pick(random, 10);
    Pricer pricer(given.problem, given.footprint);
    Pricer::Priced priced = pricer.price(prices);
    double paid = priced.seconds;
    for (size_t launch = 0; launch < prices.size(); ++launch)
      paid += prices[launch] * priced.bytes[launch];
    // If bytes are free, all values are kept, unless the operations that move them have a price.
    Pricer::Priced kept = pricer.price(std::vector<double>(prices.size()));
    if (given.footprint.launchSeconds == 0 && given.footprint.byteSeconds == 0) {
      ASSERT_EQ(kept.seconds, 0) << "round " << round;
      ++unpriced;
    }
    double all = kept.seconds;
    for (size_t launch = 0; launch < prices.size(); ++launch)
      all += prices[launch] * kept.bytes[launch];
    ASSERT_LE(paid, all + 1e-9) << "round " << round;
    replays += priced.seconds > 0;
  }
  EXPECT_GT(replays, 20);
  EXPECT_GT(unpriced, 20);
}

} // namespace
