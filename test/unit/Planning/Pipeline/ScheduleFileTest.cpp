// reprise: tests of schedules as files
#include "reprise/Planning/Pipeline/ScheduleFile.h"
#include "MakePipeline.h"

#include <gtest/gtest.h>

using namespace reprise::pipeline;

namespace {

std::string read(const std::string &text) {
  Schedule schedule;
  return readSchedule(text, schedule);
}

} // namespace

TEST(ScheduleFile, GivesBackWhatWasWritten) {
  for (const Rule &rule : getRules())
    for (const Shape &shape : listShapes(rule, 3, 5)) {
      Schedule made = makeSchedule(rule, shape), again;
      std::string text = writeSchedule(made);
      ASSERT_EQ(readSchedule(text, again), "");
      EXPECT_EQ(writeSchedule(again), text);
      EXPECT_EQ(again.shape.stages(), made.shape.stages());
      EXPECT_EQ(again.shape.microbatches, made.shape.microbatches);
      EXPECT_FALSE(verify(again, makeEqual(again.shape))) << rule.name;
    }
}

TEST(ScheduleFile, ReadsTorchsCsv) {
  Schedule schedule;
  ASSERT_EQ(readSchedule("0F0,0F1,,0B0,0B1\n,1F0,1B0,1F1,1B1\r\n", schedule), "");
  EXPECT_EQ(schedule.shape.ranks, 2);
  EXPECT_EQ(schedule.shape.microbatches, 2);
  EXPECT_EQ(schedule.ranks[1].size(), 4u);
  EXPECT_FALSE(verify(schedule, makeEqual(schedule.shape)));
  ASSERT_EQ(readSchedule("0F0,0I0,0W0", schedule), "");
  EXPECT_TRUE(schedule.splitsBackward);
}

TEST(ScheduleFile, SaysWhatIsWrong) {
  EXPECT_EQ(read(""), "expected at least one piece");
  EXPECT_EQ(read("0F0,0X0"), "expected a piece such as 2F0, got '0X0' at line 1");
  EXPECT_EQ(read("0F0\n0F0,1F"), "expected a piece such as 2F0, got '1F' at line 2");
  EXPECT_EQ(read("0F99999999999"), "expected a piece such as 2F0, got '0F99999999999' at line 1");
  EXPECT_EQ(read("0F-1"), "expected a piece such as 2F0, got '0F-1' at line 1");
  EXPECT_EQ(read("0F0,0B0,0W0"),
            "expected B for every backward pass, or I and W, got '0W0' at line 1");
  EXPECT_EQ(read("0F0\n1F0,2F0"),
            "expected the same number of stages on every rank, got 3 stages on 2 ranks");
  EXPECT_EQ(read("{\"version\": 2, \"ranks\": [[\"0F0\"]]}"), "expected 'version' 1");
  EXPECT_EQ(read("{\"version\": 1}"),
            "expected 'ranks', an array with an array of pieces per rank");
  EXPECT_EQ(read("{\"version\": 1, \"ranks\": [[0]]}"),
            "expected a piece such as 2F0, got '' at line 1, column 27");
  EXPECT_EQ(read("{\"version\": 1, \"ranks\": [\"0F0\"]}"),
            "expected an array of pieces at line 1, column 26");
  EXPECT_EQ(read("{\"version\": 1, \"rank\": []}"), "unknown member 'rank'");
  EXPECT_NE(read("{\"version\": 1").find("syntax error"), std::string::npos);
}

// The memory that a file asks for is bounded by the size of the file.
TEST(ScheduleFile, RefusesMoreThanItHasPiecesFor) {
  const std::string few = " pieces, fewer than stages or micro-batches";
  EXPECT_EQ(read("16777214F0"), "there are 1" + few);
  EXPECT_EQ(read("0F16777214,0B0"), "there are 2" + few);
  EXPECT_EQ(read("{\"version\": 1, \"ranks\": [[\"16777214F0\"]]}"), "there are 1" + few);
  EXPECT_EQ(read("{\"version\": 1, \"ranks\": [[\"0F0\"], [\"1F16777214\"]]}"),
            "there are 2" + few);
  for (std::string number : {"16777216", "2147483648", "9223372036854775808"}) {
    EXPECT_EQ(read(number + "F0"),
              "expected a piece such as 2F0, got '" + number + "F0' at line 1");
    EXPECT_EQ(read("0F" + number),
              "expected a piece such as 2F0, got '0F" + number + "' at line 1");
  }
}

// The lines were once counted anew for each piece.
TEST(ScheduleFile, ReadsAMillionPieces) {
  constexpr int count = 500'000;
  std::string pieces;
  for (const char *pass : {"F", "B"})
    for (int i = 0; i < count; ++i)
      pieces += std::string(pieces.empty() ? "" : ",\n") + "\"0" + pass + std::to_string(i) + "\"";
  Schedule schedule;
  ASSERT_EQ(readSchedule("{\"version\": 1, \"ranks\": [[" + pieces + "]]}", schedule), "");
  EXPECT_EQ(schedule.shape.microbatches, count);
  EXPECT_FALSE(verify(schedule, makeEqual(schedule.shape)));
}
