// reprise: numbers in messages, and names that are suggested
#include "reprise/Support/Wording.h"

#include <array>
#include <gtest/gtest.h>

using namespace reprise;

TEST(Wording, ReadsWhatItGrouped) {
  for (const char *text : {"0", "999", "1,000", "1,109,952", "999,999,999,999,999,999"})
    EXPECT_EQ(groupDigits(std::stoll(ungroupDigits(text))), text);
  EXPECT_EQ(ungroupDigits("1,109,952"), "1109952");
  for (const char *text : {"", ",", "1,5", "1,50", ",100", "1,000,", "1,0000", "1000,000", "1,5GiB",
                           "-1,000", "9,999,999,999,999,999,999"})
    EXPECT_EQ(ungroupDigits(text), text);
}

TEST(Wording, CountsThings) {
  EXPECT_EQ(amount(0, "step"), "0 steps");
  EXPECT_EQ(amount(1, "step"), "1 step");
  EXPECT_EQ(amount(2000, "step"), "2,000 steps");
}

TEST(Wording, CountsEdits) {
  EXPECT_EQ(countEdits("", ""), 0u);
  EXPECT_EQ(countEdits("", "abc"), 3u);
  EXPECT_EQ(countEdits("abc", ""), 3u);
  EXPECT_EQ(countEdits("kitten", "sitting"), 3u);
  EXPECT_EQ(countEdits("gtp2", "gpt2"), 1u);
  EXPECT_EQ(countEdits("abcd", "badc"), 2u);
  EXPECT_EQ(countEdits("Save_All", "save-all"), 0u);
}

TEST(Wording, FindsTheNearestName) {
  const std::array<const char *, 3> names = {"save-all", "recompute-all", "dots-saveable"};
  EXPECT_EQ(findNearest("save_all", names), "save-all");
  EXPECT_EQ(findNearest("SAVEALL", names), "save-all");
  EXPECT_EQ(findNearest("recompute-everything", names), "");
  EXPECT_EQ(findNearest("dot-savable", names), "dots-saveable");
  EXPECT_EQ(findNearest("", names), "");
  EXPECT_EQ(findNearest(std::string(100000, 'x'), names), "");
  EXPECT_EQ(findNearest("gtp2", std::vector<std::string>{"bert", "gpt2"}), "gpt2");
  EXPECT_EQ(findNearest("2f2b", std::vector<std::string>{"1f1b"}), "");
  // Every letter would change.
  //   The first of two equally near names is returned.
  EXPECT_EQ(findNearest("ab", std::vector<std::string>{"cd", "c"}), "");
  // The first of two that are as near.
  EXPECT_EQ(findNearest("gp", std::vector<std::string>{"gpu", "gpt"}), "gpu");
}

TEST(Wording, SuggestsOrListsNames) {
  const std::vector<std::string> names = {"gpipe", "1f1b"};
  EXPECT_EQ(suggest("gpip", names), ", did you mean 'gpipe'?");
  EXPECT_EQ(suggest("zigzag", names), ", expected one of gpipe, 1f1b");
  EXPECT_EQ(suggest("gpip", std::vector<std::string>()), "");
}
