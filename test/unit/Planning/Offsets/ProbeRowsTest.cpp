// reprise: tests of the conclusions from adjacent sections whose lowest places are level
#include "../../../../lib/reprise/Planning/Offsets/Probe.h"
#include "CutArena.h"

#include "gtest/gtest.h"

using namespace reprise::offsets;

namespace {

/// Counts how many of 40 arenas a probe packs within `nodes` nodes.
int countPacked(int64_t nodes) {
  int packed = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SearchTable table(cutArena(seed, 200, 200, 1 << 20, 1 << 12));
    std::vector<double> weights(table.sections.members.size(), 1);
    ProbeTurn turn{0, nodes, 0};
    turn.isFirst = turn.learns = true;
    Probe probe(table.sections, 1 << 20, turn, weights, 100'000'000);
    if (!probe.run())
      continue;
    ++packed;
    EXPECT_FALSE(validate(table.problem, toSolution(table.problem, table.units, probe.result())));
  }
  return packed;
}

// Probes that leave chains out pack 25.
TEST(ProbeRows, LeaveFewerNodes) { EXPECT_GE(countPacked(300), 27); }

} // namespace
