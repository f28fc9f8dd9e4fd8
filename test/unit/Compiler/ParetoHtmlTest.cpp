// reprise: tests of the page with the memory/time curve: its labels are readable
#include "reprise/Compiler.h"

#include "gtest/gtest.h"
#include <random>
#include <regex>

using namespace reprise;
using llvm::json::Array;
using llvm::json::Object;

namespace {

struct Box {
  std::string text;
  double left, top, right, bottom;
};

/// The texts of the chart, in a font as wide as DejaVu Sans.
std::vector<Box> listTexts(const std::string &page) {
  std::string chart = page.substr(page.find("<svg"), page.find("</svg>") - page.find("<svg"));
  std::regex element("<text([^>]*)>([^<]*)</text>"), x(" x='([-0-9.]+)'"), y(" y='([-0-9.]+)'"),
      anchor("text-anchor='([a-z]+)'"), entity("&[a-z#0-9]+;");
  std::vector<Box> boxes;
  for (std::sregex_iterator at(chart.begin(), chart.end(), element), end; at != end; ++at) {
    std::string attributes = (*at)[1], text = std::regex_replace((*at)[2].str(), entity, "x");
    std::smatch found;
    EXPECT_TRUE(std::regex_search(attributes, found, x)) << attributes;
    double left = std::stod(found[1]);
    EXPECT_TRUE(std::regex_search(attributes, found, y)) << attributes;
    double base = std::stod(found[1]), wide = 7.2 * static_cast<double>(text.size());
    if (std::regex_search(attributes, found, anchor))
      left -= found[1] == "end" ? wide : found[1] == "middle" ? wide / 2 : 0;
    boxes.push_back({text, left, base - 9, left + wide, base + 3});
  }
  return boxes;
}

Object makePoint(double bytes, double cost) {
  return Object{{"bytes", static_cast<int64_t>(bytes)},
                {"arena_bytes", static_cast<int64_t>(bytes)},
                {"workspace_bytes", 0},
                {"overridden_bytes", 0},
                {"cost_increase", cost}};
}

/// Points that lie near each other as often as not.
Object makeCurve(std::mt19937 &chance) {
  std::uniform_real_distribution<double> part(0, 1);
  double spread = std::pow(10, -3 * part(chance)), most = std::pow(2, 10 + 30 * part(chance));
  auto draw = [&] { return makePoint(most * (1 - spread * part(chance)), spread * part(chance)); };
  Array points, policies;
  for (int i = 0, count = static_cast<int>(1 + 20 * part(chance)); i < count; ++i) {
    Object point = draw();
    point["bound"] = point.getNumber("cost_increase").value() * part(chance);
    point["gap"] = 0;
    points.push_back(std::move(point));
  }
  for (const char *name : {"save-all", "dots_saveable", "dots_with_no_batch_dims_saveable",
                           "every-nth-contraction(2)", "recompute-all"}) {
    Object point = draw();
    point["policy"] = name;
    policies.push_back(std::move(point));
  }
  return Object{{"version", 1},
                {"save_all_bytes", static_cast<int64_t>(most)},
                {"step_seconds", 1e-3},
                {"default", draw()},
                {"points", std::move(points)},
                {"policies", std::move(policies)}};
}

TEST(ParetoHtml, NoTwoLabelsLieOnEachOther) {
  std::mt19937 chance(1);
  size_t policies = 0;
  for (int round = 0; round < 100; ++round) {
    std::string page;
    llvm::raw_string_ostream stream(page);
    printPareto(stream, "curve.html", makeCurve(chance));
    std::vector<Box> boxes = listTexts(page);
    for (size_t i = 0; i < boxes.size(); ++i)
      for (size_t j = 0; j < i; ++j) {
        const Box &a = boxes[i], &b = boxes[j];
        EXPECT_FALSE(a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)
            << "round " << round << ": '" << a.text << "' lies on '" << b.text << "'";
      }
    for (const char *name : {"save-all", "recompute-all", "without a budget"})
      policies += llvm::any_of(boxes, [&](const Box &box) { return box.text == name; });
  }
  EXPECT_GT(policies, 280u) << "nearly all marks have their label";
}

} // namespace
