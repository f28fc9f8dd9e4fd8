// reprise: tests of the judge of schedules with each defect, made on purpose
#include "MakePipeline.h"

#include <gtest/gtest.h>

using namespace reprise::pipeline;

namespace {

constexpr Shape shape{2, 1, 3};

struct Verify : testing::Test {
  Schedule schedule = makeSchedule(*findRule("1f1b"), shape);
  Pipeline pipeline = makeEqual(shape);

  void expect(Defect::Kind kind, const std::string &message) {
    std::vector<int64_t> slots = countSlots(makeSchedule(*findRule("1f1b"), shape));
    auto defect = verify(schedule, pipeline, &slots);
    ASSERT_TRUE(defect);
    EXPECT_EQ(defect->kind, kind);
    EXPECT_EQ(defect->message, message);
  }
};

} // namespace

TEST_F(Verify, WhatIsWhole) { EXPECT_FALSE(verify(schedule, pipeline)); }

TEST_F(Verify, APieceIsMissing) {
  schedule.ranks[1].pop_back();
  expect(Defect::Kind::Count, "stage 1, backward of micro-batch 2 is missing");
}

TEST_F(Verify, APieceStandsTwice) {
  schedule.ranks[0].push_back({Pass::Forward, 0, 1});
  expect(Defect::Kind::Count, "stage 0, forward of micro-batch 1 stands on rank 0 twice");
}

TEST_F(Verify, APieceIsNone) {
  schedule.ranks[0].push_back({Pass::Forward, 0, 3});
  expect(Defect::Kind::Count, "stage 0, forward of micro-batch 3 is no piece of this pipeline");
  schedule.ranks[0].back() = {Pass::Weight, 0, 0};
  expect(Defect::Kind::Count, "stage 0, weight of micro-batch 0 is no piece of this pipeline");
}

TEST_F(Verify, APieceStandsOnAnotherRank) {
  std::swap(schedule.ranks[0], schedule.ranks[1]);
  expect(Defect::Kind::Count,
         "stage 1, forward of micro-batch 0 stands on rank 0, its stage lies on rank 1");
}

TEST_F(Verify, MicroBatchesAreSwapped) {
  std::swap(schedule.ranks[1][0], schedule.ranks[1][2]);
  expect(Defect::Kind::Order,
         "stage 1, forward of micro-batch 1 comes before that of micro-batch 0");
}

TEST_F(Verify, ABackwardPassComesFirst) {
  std::swap(schedule.ranks[1][0], schedule.ranks[1][1]);
  expect(Defect::Kind::Order, "stage 1, backward of micro-batch 0 comes before its forward pass");
}

TEST_F(Verify, RanksWaitForEachOther) {
  // The first rank waits for a gradient before it sends the value that the gradient needs.
  schedule.ranks[0] = {{Pass::Forward, 0, 0},  {Pass::Backward, 0, 0}, {Pass::Forward, 0, 1},
                       {Pass::Backward, 0, 1}, {Pass::Forward, 0, 2},  {Pass::Backward, 0, 2}};
  schedule.ranks[1] = {{Pass::Forward, 1, 0},  {Pass::Forward, 1, 1}, {Pass::Backward, 1, 0},
                       {Pass::Backward, 1, 1}, {Pass::Forward, 1, 2}, {Pass::Backward, 1, 2}};
  expect(Defect::Kind::Cycle,
         "ranks wait for each other for ever; rank 0 stands before stage 0, backward of "
         "micro-batch 0, which waits for stage 1, backward of micro-batch 0; rank 1 stands before "
         "stage 1, forward of micro-batch 1, which waits for stage 0, forward of micro-batch 1");
}

/// The first rank sends all micro-batches of its first stage before it runs its second stage, whose
/// input the other rank computes in between.
TEST_F(Verify, BuffersAreTooFew) {
  Shape two{2, 2, 3};
  schedule = makeSchedule(*findRule("interleaved-1f1b"), two);
  pipeline = makeEqual(two);
  auto forward = [](int stage, int microbatch) { return Piece{Pass::Forward, stage, microbatch}; };
  auto backward = [](int stage, int microbatch) {
    return Piece{Pass::Backward, stage, microbatch};
  };
  for (int rank : {0, 1}) {
    std::vector<Piece> &pieces = schedule.ranks[rank];
    pieces.clear();
    if (rank == 0)
      pieces = {forward(0, 0), forward(0, 1), forward(0, 2),
                forward(2, 0), forward(2, 1), forward(2, 2)};
    else
      pieces = {forward(1, 0), forward(3, 0), forward(1, 1),
                forward(3, 1), forward(1, 2), forward(3, 2)};
    for (int stage : {2 + rank, rank})
      for (int microbatch : {0, 1, 2})
        pieces.push_back(backward(stage, microbatch));
  }
  EXPECT_FALSE(verify(schedule, pipeline));
  pipeline.buffers = 1;
  auto defect = verify(schedule, pipeline);
  ASSERT_TRUE(defect);
  EXPECT_EQ(defect->kind, Defect::Kind::Cycle);
  EXPECT_EQ(
      defect->message,
      "ranks wait for each other for ever; rank 0 stands before stage 0, forward of "
      "micro-batch 2, which waits for stage 1, forward of micro-batch 1; rank 1 stands before "
      "stage 3, forward of micro-batch 0, which waits for stage 2, forward of micro-batch 0");
  pipeline.buffers = 0;
  EXPECT_EQ(verify(schedule, pipeline)->message, "expected at least one buffer per transfer");
}

/// A transfer between two stages of the same rank needs no buffer.
TEST_F(Verify, ARankNeedsNoBuffersForItself) {
  Shape vee{2, 2, 4, /*isVee=*/true};
  schedule = makeSchedule(*findRule("zb-v"), vee);
  schedule.splitsBackward = false;
  pipeline = makeEqual(vee);
  for (int rank : {0, 1}) {
    schedule.ranks[rank].clear();
    for (Pass pass : {Pass::Forward, Pass::Backward})
      for (int stage :
           {pass == Pass::Forward ? rank : 3 - rank, pass == Pass::Forward ? 3 - rank : rank})
        for (int microbatch : {0, 1, 2, 3})
          schedule.ranks[rank].push_back({pass, stage, microbatch});
  }
  EXPECT_FALSE(verify(schedule, pipeline));
}

TEST_F(Verify, ASlotIsTakenTooEarly) {
  schedule.ranks[0] = makeSchedule(*findRule("gpipe"), shape).ranks[0];
  expect(Defect::Kind::Slot, "stage 0, forward of micro-batch 2 takes the slot of micro-batch 0 "
                             "before stage 0, backward of micro-batch 0");
}

TEST_F(Verify, MemoryIsTooSmall) {
  pipeline.memory = {24, 12};
  EXPECT_FALSE(verify(schedule, pipeline));
  pipeline.memory = {23, 12};
  expect(Defect::Kind::Memory, "rank 0 needs 24 bytes of 23 at stage 0, forward of micro-batch 1");
}

TEST_F(Verify, ShapesAreWrong) {
  pipeline.transfers[0].to = 2;
  expect(Defect::Kind::Shape, "a transfer goes from stage 0 to stage 2");
  pipeline.stages.pop_back();
  expect(Defect::Kind::Shape, "the pipeline has 1 stages, the schedule 2");
}
