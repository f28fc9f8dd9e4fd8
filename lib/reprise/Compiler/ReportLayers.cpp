// reprise: the report's values by layer, and the explanation of one value
#include "Report.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace reprise {

std::string readDecision(const ReportedValue &value) {
  return std::string(getText(value.decision)) + (value.fused.value_or(false) ? ", fused" : "");
}

std::vector<LayerSummary> summarizeLayers(const Report &report) {
  MapVector<StringRef, LayerSummary> layers;
  if (report.plan)
    for (const ReportedValue &value : report.plan->values) {
      LayerSummary &layer = layers[value.layer];
      layer.layer = value.layer;
      layer.values.push_back(&value);
      layer.savedBytes += value.savedBytes;
      if (value.decision == checkpoint::Decision::Replayed) {
        layer.replayedBytes += value.bytes;
        layer.replaySeconds += value.replaySeconds;
      }
    }
  std::vector<LayerSummary> result;
  for (auto &[name, layer] : layers) {
    sortByBytes(layer.values);
    result.push_back(std::move(layer));
  }
  return result;
}

std::string explainDecision(const ReportedValue &value) {
  using checkpoint::Reason;
  StringRef decision = getText(value.decision);
  Reason why = value.why;
  bool isLabelled = value.label != checkpoint::ValueLabel::None;
  if (value.decision == checkpoint::Decision::NotNeeded)
    return isLabelled ? "the backward pass does not read the value, so its label has no effect"
                      : "the backward pass does not read it";
  if (why == Reason::BlockInput)
    return "kept against its label: replays of its unit, or of a unit that reads it, start from "
           "this value";
  if (why == Reason::LastUnit)
    return "kept against its label: the backward pass of its unit follows directly";
  if (why == Reason::Outlives)
    return "kept against its label: the function returns the value, or an op after the gradient "
           "reads it";
  if (why == Reason::Fastest)
    return "saved without a label: saving costs less time than a replay";
  if (why == Reason::NearlyFree)
    return "replayed without a label: the replay is nearly free";
  if (why == Reason::Budget && isLabelled)
    return (decision + " against its label: the cheapest plan found within the budget needs this")
        .str();
  if (why == Reason::Budget)
    return (decision + " without a label: chosen by the cheapest plan found within the budget")
        .str();
  return (decision + ", as " + value.reason + " asks").str();
}

std::string describePlace(const ReportedValue &value) {
  StringRef place = value.location;
  if (place.consume_front("loc(") && place.consume_back(")"))
    place = place == "unknown" ? "" : place;
  std::string text;
  for (char letter : place)
    if (letter != '"')
      text += letter;
  return text;
}

static void printStory(raw_ostream &stream, const ReportedValue &value) {
  stream << value.id << ": a result of " << value.op << ", " << value.bytes << " bytes\n";
  if (!value.name.empty())
    stream << "  named " << value.name << "\n";
  if (std::string place = describePlace(value); !place.empty())
    stream << "  at " << place << "\n";
  if (value.label != checkpoint::ValueLabel::None)
    stream << "  label " << getText(value.label) << ", from " << value.rule.value_or("") << "\n";
  else
    stream << "  no label\n";
  stream << "  " << explainDecision(value) << "\n";
  if (value.fused.value_or(false))
    stream << "  fused: no kernel writes it to memory\n";
  stream << formatv("  computing it again takes {0:e2} s by the cost model\n", value.replaySeconds);
}

static bool isCalled(const ReportedValue &value, StringRef wanted) {
  SmallVector<StringRef> names;
  StringRef(value.name).split(names, ',');
  return value.id == wanted || llvm::is_contained(names, wanted);
}

bool explainValue(raw_ostream &stream, StringRef wanted, const Report &report) {
  bool found = false;
  if (report.plan)
    for (const ReportedValue &value : report.plan->values)
      if (isCalled(value, wanted)) {
        printStory(stream, value);
        found = true;
      }
  return found;
}

std::string findNearestValue(StringRef wanted, const Report &report) {
  std::string nearest;
  unsigned least = std::max<size_t>(3, wanted.size() / 3) + 1;
  if (report.plan)
    for (const ReportedValue &value : report.plan->values) {
      unsigned distance = wanted.edit_distance(value.id, /*AllowReplacements=*/true, least);
      if (distance < least) {
        least = distance;
        nearest = value.id;
      }
    }
  return nearest;
}

} // namespace reprise
