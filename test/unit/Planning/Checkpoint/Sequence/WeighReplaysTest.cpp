// reprise: tests of replays that are weighed before they come or go
#include "../../../../../lib/reprise/Planning/Checkpoint/Sequence/SequenceMoves.h"
#include "../../../../../lib/reprise/Planning/Checkpoint/Sequence/Shift.h"
#include "../Graph/RandomGraph.h"

#include <gtest/gtest.h>

using namespace reprise::checkpoint;
using namespace reprise::checkpoint::test;

namespace {

/// Weighs the replay of an execution's results for each of their readers; makes some of them.
void tryReplays(std::mt19937_64 &random, Sequence &sequence, int exec, int &made) {
  int first = sequence.execs[exec].firstItem;
  for (size_t result = 0; result < sequence.pieceOf(exec).results.size(); ++result) {
    int item = first + static_cast<int>(result);
    const std::vector<Sequence::Reader> readers = sequence.items[item].readers;
    for (Sequence::Reader reader : readers) {
      Proposal proposal;
      Changes changes;
      if (!propose(sequence, item, reader, proposal))
        continue;
      int64_t excess = sequence.excess(), growth = weigh(sequence, proposal, changes);
      int replay = make(sequence, proposal);
      ASSERT_GE(replay, 0);
      ASSERT_EQ(sequence.excess(), excess + growth);
      ++made;
      if (random() % 4 == 0)
        return;
      takeBack(sequence, replay, proposal.moved);
      ASSERT_EQ(sequence.excess(), excess);
    }
  }
}

void tryRemoval(std::mt19937_64 &random, Sequence &sequence, int exec, int &removed) {
  if (!canRemove(sequence, exec))
    return;
  Changes changes;
  int64_t excess = sequence.excess(), growth = weighRemoval(sequence, exec, changes);
  Removed change = remove(sequence, exec);
  ASSERT_EQ(sequence.excess(), excess + growth);
  ++removed;
  if (random() % 4 == 0)
    return;
  restore(sequence, change);
  ASSERT_EQ(sequence.excess(), excess);
}

void shiftSome(std::mt19937_64 &random, Sequence &sequence) {
  int step = sequence.order[random() % static_cast<size_t>(sequence.size())];
  int slack = findSlackBack(sequence, step);
  if (slack <= 0)
    return;
  Shift shift;
  int way = 1 + static_cast<int>(random() % static_cast<size_t>(slack));
  weigh(sequence, step, sequence.steps[step].place - way, shift);
  apply(sequence, shift);
}

TEST(WeighReplays, TheExcessGrowsAsWeighed) {
  std::mt19937_64 random(7);
  int made = 0, removed = 0;
  for (int round = 0; round < problemCount(300); ++round) {
    SCOPED_TRACE(round);
    Graph graph = makeGraph(randomNodes(random, 3 + static_cast<int>(random() % 15)));
    Pieces pieces(graph.problem, graph.footprint, &graph.links, false);
    ASSERT_TRUE(pieces.isPlain);
    Sequence sequence(pieces, peakInOrder(graph) * 6 / 10);
    for (int i = 0; i < 40; ++i) {
      int exec = static_cast<int>(random() % sequence.execs.size());
      if (!sequence.exists(exec) || exec == pieces.numLaunches)
        continue;
      ASSERT_NO_FATAL_FAILURE(tryReplays(random, sequence, exec, made));
      ASSERT_NO_FATAL_FAILURE(tryRemoval(random, sequence, exec, removed));
      shiftSome(random, sequence);
    }
  }
  EXPECT_GT(made, 1000);
  EXPECT_GT(removed, 300);
}

} // namespace
