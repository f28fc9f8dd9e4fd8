// reprise: tests of the words of decisions, reasons and labels
#include "reprise/Planning/Checkpoint/Problem/Texts.h"

#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Planning/Checkpoint/Problem/ProblemFile.h"
#include <gtest/gtest.h>
#include <set>

using namespace reprise::checkpoint;

namespace {

TEST(Texts, DecisionsAreReadAsTheyAreWritten) {
  std::set<std::string_view> texts;
  for (int i = 0; i <= int(Decision::NotNeeded); ++i) {
    texts.insert(getText(Decision(i)));
    EXPECT_EQ(parseDecision(getText(Decision(i))), Decision(i));
  }
  EXPECT_EQ(texts, (std::set<std::string_view>{"saved", "kept", "replayed", "not needed"}));
  EXPECT_EQ(parseDecision("Saved"), std::nullopt);
}

TEST(Texts, ReasonsAreReadAsTheyAreWritten) {
  for (int i = 1; i <= int(Reason::NotRead); ++i)
    EXPECT_EQ(parseReason(getText(Reason(i))), Reason(i));
  EXPECT_EQ(getText(Reason::Outlives), "returned");
  EXPECT_EQ(getText(Reason::NotRead), "not read");
  // In its place stands the name of a rule, which may be any.
  EXPECT_EQ(parseReason(getText(Reason::Label)), std::nullopt);
}

/// Problem files and the IR have labels of the same names.
TEST(Texts, LabelsAreThoseOfTheDialect) {
  int inFiles = 0;
  for (uint32_t i = 0; i <= reprise::getMaxEnumValForLabel(); ++i) {
    auto label = reprise::symbolizeLabel(i);
    ASSERT_TRUE(label);
    std::string name = reprise::stringifyLabel(*label).str();
    if (std::optional<Problem::Label> parsed = parseLabel(name)) {
      EXPECT_EQ(getLabelName(*parsed), name);
      ++inFiles;
    }
  }
  EXPECT_EQ(inFiles, 4) << "all but those of offload";
}

} // namespace
