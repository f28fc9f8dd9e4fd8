// reprise: tests of the ordering rules of schedules
#include "MakePipeline.h"

#include <gtest/gtest.h>

using namespace reprise::pipeline;

namespace {

std::string format(const std::vector<Piece> &pieces) {
  std::string text;
  for (const Piece &piece : pieces)
    text += (text.empty() ? "" : " ") + std::string(1, "FBW"[static_cast<int>(piece.pass)]) +
            std::to_string(piece.microbatch);
  return text;
}

Schedule make(const char *name, const Shape &shape) { return makeSchedule(*findRule(name), shape); }

} // namespace

TEST(Rules, AreFoundByName) {
  EXPECT_EQ(getRules().size(), 7u);
  for (const Rule &rule : getRules())
    EXPECT_EQ(findRule(rule.name), &rule);
  EXPECT_EQ(findRule("1F1B"), nullptr);
}

TEST(Rules, OrderTheFirstRank) {
  Shape shape{2, 1, 4};
  EXPECT_EQ(format(make("gpipe", shape).ranks[0]), "F0 F1 F2 F3 B0 B1 B2 B3");
  EXPECT_EQ(format(make("1f1b", shape).ranks[0]), "F0 F1 B0 F2 B1 F3 B2 B3");
  EXPECT_EQ(format(make("1f1b", shape).ranks[1]), "F0 B0 F1 B1 F2 B2 F3 B3");
  EXPECT_EQ(format(make("zb-h1", shape).ranks[0]), "F0 F1 B0 W0 F2 B1 W1 F3 B2 W2 B3 W3");
  EXPECT_EQ(format(make("zb-h1", shape).ranks[1]), "F0 B0 F1 B1 W0 F2 B2 W1 F3 B3 W2 W3");
}

/// zb-h2 begins with twice as many forward passes as 1f1b.
TEST(Rules, OrderTheRanksOfH2) {
  Shape shape{2, 1, 4};
  EXPECT_EQ(format(make("zb-h2", shape).ranks[0]), "F0 F1 F2 B0 W0 F3 B1 W1 B2 W2 B3 W3");
  EXPECT_EQ(format(make("zb-h2", shape).ranks[1]), "F0 B0 F1 B1 F2 B2 W0 F3 B3 W1 W2 W3");
}

/// Torch's ScheduleDualPipeV gives this order for both of two ranks and four micro-batches.
TEST(Rules, OrderADualVee) {
  Schedule schedule = make("dualpipe-v", {2, 2, 4});
  auto spellRank = [&](int rank) {
    std::string text;
    for (const Piece &piece : schedule.ranks[rank])
      text += std::to_string(piece.stage) + "FBW"[static_cast<int>(piece.pass)] +
              std::to_string(piece.microbatch) + " ";
    return text;
  };
  EXPECT_EQ(spellRank(0), "0F0 0F1 0F2 3F0 3B0 3W0 3F1 0F3 3B1 "
                          "3W1 3F2 0B0 0W0 3B2 3W2 3F3 0B1 0W1 3B3 3W3 0B2 0W2 0B3 0W3 ");
  EXPECT_EQ(spellRank(1), "1F0 2F0 1F1 2F1 1F2 2B0 2W0 2F2 1B0 1W0 1F3 "
                          "2B1 2W1 2F3 1B1 1W1 2B2 2W2 1B2 1W2 2B3 1B3 2W3 1W3 ");
}

/// Torch's ScheduleZBVZeroBubble gives this order for the first of two ranks and four
/// micro-batches.
TEST(Rules, OrderAVee) {
  std::string text;
  Schedule schedule = make("zb-v", {2, 2, 4});
  for (const Piece &piece : schedule.ranks[0])
    text += std::to_string(piece.stage) + "FBW"[static_cast<int>(piece.pass)] +
            std::to_string(piece.microbatch) + " ";
  EXPECT_EQ(text, "0F0 0F1 0F2 3F0 3B0 3W0 3F1 3B1 3W1 0F3 0B0 0W0 3F2 3B2 3W2 0B1 0W1 3F3 3B3 3W3 "
                  "0B2 0W2 0B3 0W3 ");
}

/// Every two pieces of a rank are ordered, and there are no circles of three.
TEST(Rules, AreStrictTotalOrders) {
  for (const Rule &rule : getRules())
    for (const Shape &shape : listShapes(rule, 3, 4)) {
      Schedule schedule = makeSchedule(rule, shape);
      for (const std::vector<Piece> &pieces : schedule.ranks)
        for (size_t i = 0; i < pieces.size(); ++i) {
          EXPECT_FALSE(rule.precedes(pieces[i], pieces[i], shape));
          for (size_t j = i + 1; j < pieces.size(); ++j) {
            ASSERT_TRUE(rule.precedes(pieces[i], pieces[j], shape)) << rule.name;
            ASSERT_FALSE(rule.precedes(pieces[j], pieces[i], shape)) << rule.name;
          }
        }
    }
}

/// Fewer micro-batches than ranks, groups that are not full, and one buffer per transfer included.
TEST(Rules, MakeSchedulesWithoutDefects) {
  for (const Rule &rule : getRules())
    for (const Shape &shape : listShapes(rule, 6, 13))
      for (int64_t buffers : {1, 2, 5}) {
        Pipeline pipeline = makeEqual(shape);
        pipeline.buffers = buffers;
        Schedule schedule = makeSchedule(rule, shape);
        std::vector<int64_t> slots = countSlots(schedule);
        auto defect = verify(schedule, pipeline, &slots);
        ASSERT_FALSE(defect) << rule.name << ", " << shape.ranks << " ranks, " << shape.chunks
                             << " chunks, " << shape.microbatches
                             << " micro-batches: " << defect->message;
      }
}
