// reprise: the rates are of this machine's order, and the bound is the larger of the two times
#include "reprise/Runtime/MachineRates.h"

#include <gtest/gtest.h>

using namespace reprise::runtime;

namespace {

TEST(MachineRates, AreMeasured) {
  Expected<MachineRates> rates = measureMachineRates(2);
  ASSERT_TRUE(bool(rates)) << rates.message();
  // Loose on purpose: no machine with AVX2 is outside, and a loop that was optimized away would be.
  EXPECT_GT(rates->peakFlops, 1e9);
  EXPECT_LT(rates->peakFlops, 1e12);
  EXPECT_GT(rates->copyBytes, 1e8);
  EXPECT_LT(rates->copyBytes, 1e12);
}

TEST(MachineRates, BoundIsTheLargerTime) {
  MachineRates rates{100, 10};
  EXPECT_EQ(rates.boundSeconds(200, 10), 2);
  EXPECT_EQ(rates.boundSeconds(200, 50), 5);
}

} // namespace
