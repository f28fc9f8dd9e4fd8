// reprise: tests of reports: JSON, HTML and text print the same data
#include "../../../lib/reprise/Compiler/Report.h"

#include <gtest/gtest.h>

using namespace reprise;

namespace {

Report makeReport() {
  Report report;
  report.inputs = {"m", "train", {}, 1, 1, 1, 1, 1, 1, "", "Reprise"};
  report.target = "cpu:x86-64-v4";
  report.threads = 3;
  report.arenaBytes = 7654321;
  report.workspaceBytes = 54321;
  report.persistentBytes = 99887;
  ReportedValue value;
  value.id = "layer/0/relu#0:0";
  value.op = "reprise.relu";
  value.location = "loc(\"layer/0\"(\"m.mlir\":5:12))";
  value.layer = "layer/0";
  value.bytes = 345678;
  value.decision = checkpoint::Decision::Replayed;
  value.why = checkpoint::Reason::Budget;
  value.reason = "budget";
  report.plan = ReportedPlan{456789, 17, {1, 2, 0.5}, {value}};
  ReportedSearch search;
  search.saveAllBytes = 8765432;
  search.predictedBytes = 7654321;
  search.costIncrease = 0.1234;
  search.bound = 0.1111;
  search.rounds = 6;
  report.budget = ReportedBudget{7777777, search};
  return report;
}

std::string print(const char *path, const Report &report) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  CompiledProgram program;
  program.report = report;
  printReports(stream, path, program);
  return text;
}

TEST(Report, JsonHasTheNumbers) {
  llvm::json::Object json = toJson(makeReport());
  EXPECT_EQ(json.getInteger("arena_bytes"), 7654321);
  EXPECT_EQ(json.getInteger("workspace_bytes"), 54321);
  EXPECT_EQ(json.getInteger("step_bytes"), 7708642);
  EXPECT_EQ(json.getInteger("persistent_bytes"), 99887);
  EXPECT_EQ(json.getInteger("saved_bytes"), 456789);
  EXPECT_EQ(json.getInteger("replayed_ops"), 17);
  EXPECT_DOUBLE_EQ(*json.getNumber("bound"), 0.1111);
  const llvm::json::Object *budget = json.getObject("budget");
  ASSERT_TRUE(budget);
  EXPECT_EQ(budget->getInteger("bytes"), 7777777);
  EXPECT_DOUBLE_EQ(*budget->getNumber("cost_increase"), 0.1234);
  EXPECT_EQ(json.getArray("values")->front().getAsObject()->getInteger("bytes"), 345678);
}

TEST(Report, TextHasTheSameNumbers) {
  std::string text = print("r.txt", makeReport());
  for (const char *number : {"7,654,321", "54,321", "7,708,642", "99,887", "456,789", "17",
                             "7,777,777", "8,765,432", "337.6 KiB", "+12.34 %", "+11.11 %",
                             "1.23 percentage points of the cost are not proven necessary"})
    EXPECT_NE(text.find(number), std::string::npos) << number << " in\n" << text;
  EXPECT_EQ(text.find("_bytes"), std::string::npos) << "keys of JSON are no words:\n" << text;
}

TEST(Report, CostSaysWhatIsProven) {
  Report report = makeReport();
  report.budget->search->costIncrease = 0.0216;
  report.budget->search->bound = -0.0068;
  EXPECT_EQ(
      readCost(report),
      "cost +2.16 % compared with no budget, 7.3 MiB more than without a budget; 2.84 percentage "
      "points of the cost are not proven necessary (lower bound -0.68 %)");
  report.budget->search->bound = 0.0216;
  EXPECT_EQ(readCost(report),
            "cost +2.16 % compared with no budget, 7.3 MiB more than without a budget; "
            "no plan within the budget costs less");
}

TEST(Report, ThePageHoldsTheJson) {
  Report report = makeReport();
  report.plan->values[0].id = "</script><b>&quot;<!--";
  std::string page = print("r.html", report);
  llvm::StringRef data =
      llvm::StringRef(page).split("id=\"data\">").second.split("</script>").first;
  EXPECT_EQ(data.find('<'), llvm::StringRef::npos) << "nothing ends the data early";
  EXPECT_EQ(llvm::cantFail(llvm::json::parse(data)), llvm::json::Value(toJson(report)));
  EXPECT_EQ(llvm::StringRef(page).count("</script>"), 2u);
}

TEST(Report, JsonHasTheTextsOfThePage) {
  Report report = makeReport();
  llvm::json::Object json = toJson(report);
  EXPECT_EQ(json.getString("cost_summary"), readCost(report));
  const llvm::json::Object &value = *json.getArray("values")->front().getAsObject();
  EXPECT_EQ(value.getString("why"), explainDecision(report.plan->values[0]));
  EXPECT_TRUE(json.getArray("live_bytes")->empty());
  report.buffers = {{"a", 0, 1, 0, 64, "forward"}, {"b", 1, 2, 0, 128, "backward"}};
  EXPECT_EQ(*toJson(report).getArray("live_bytes"), (llvm::json::Array{64, 128, 128}));
}

TEST(Report, AStoryNamesThePlaceAsMessagesDo) {
  std::string story;
  llvm::raw_string_ostream stream(story);
  EXPECT_TRUE(explainValue(stream, "layer/0/relu#0:0", makeReport()));
  EXPECT_NE(story.find("  at layer/0(m.mlir:5:12)\n"), std::string::npos) << story;
  EXPECT_EQ(story.find("loc("), std::string::npos);
  EXPECT_FALSE(explainValue(stream, "layer/0/relu#1:0", makeReport()));
}

} // namespace
