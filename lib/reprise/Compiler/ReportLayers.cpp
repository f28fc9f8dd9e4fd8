// reprise: the report's values by layer, and the story of one value
#include "Report.h"

#include "reprise/Compiler.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using llvm::json::Array;
using llvm::json::Object;

namespace reprise {

static StringRef text(const Object &value, StringRef key) {
  return value.getString(key).value_or("");
}
static int64_t bytesOf(const Object &value) { return value.getInteger("bytes").value_or(0); }

std::string readDecision(const Object &value) {
  bool isFused = value.getBoolean("fused").value_or(false);
  return (text(value, "decision") + (isFused ? ", fused" : "")).str();
}

std::vector<LayerSummary> summarizeLayers(const Object &report) {
  MapVector<StringRef, LayerSummary> layers;
  const Array *values = report.getArray("values");
  for (size_t i = 0; values && i < values->size(); ++i) {
    const Object &value = *(*values)[i].getAsObject();
    LayerSummary &layer = layers[text(value, "layer")];
    layer.layer = text(value, "layer").str();
    layer.values.push_back(&value);
    layer.savedBytes += value.getInteger("saved_bytes").value_or(0);
    if (text(value, "decision") == "replayed") {
      layer.replayedBytes += bytesOf(value);
      layer.replaySeconds += value.getNumber("replay_seconds").value_or(0);
    }
  }
  std::vector<LayerSummary> result;
  for (auto &[name, layer] : layers) {
    sortByBytes(layer.values);
    result.push_back(std::move(layer));
  }
  return result;
}

/// Why the value is what it is, in a sentence.
static std::string explainDecision(const Object &value) {
  StringRef decision = text(value, "decision"), reason = text(value, "reason");
  bool isLabelled = value.getString("label").has_value();
  if (decision == "not needed")
    return isLabelled ? "the backward pass does not read it, so its label is moot"
                      : "the backward pass does not read it";
  if (reason == "block input")
    return "kept against its label: replays of its unit, or of the one that reads it, start from "
           "it";
  if (reason == "last unit")
    return "kept against its label: its unit's backward pass comes right after it";
  if (reason == "returned")
    return "kept against its label: the function returns it, or something after the gradient reads "
           "it";
  if (reason == "fastest")
    return "saved: nobody labelled it, and to keep it is fastest";
  if (reason == "nearly free")
    return "replayed: nobody labelled it, and it costs next to nothing to compute it again";
  if (reason == "budget" && isLabelled)
    return (decision + " against its label: the cheapest plan found within the budget has it so")
        .str();
  if (reason == "budget")
    return (decision + ": nobody labelled it, and the cheapest plan found within the budget has it "
                       "so")
        .str();
  return (decision + ", as " + reason + " asks").str();
}

static void printStory(raw_ostream &stream, const Object &value) {
  stream << text(value, "id") << ": a result of " << text(value, "op") << ", " << bytesOf(value)
         << " bytes\n";
  if (!text(value, "name").empty())
    stream << "  named " << text(value, "name") << "\n";
  stream << "  at " << text(value, "location") << "\n";
  if (value.getString("label"))
    stream << "  label " << text(value, "label") << ", from " << text(value, "rule") << "\n";
  else
    stream << "  no label\n";
  stream << "  " << explainDecision(value) << "\n";
  if (value.getBoolean("fused").value_or(false))
    stream << "  fused: no kernel sends it to memory\n";
  stream << formatv("  to compute it again takes {0:e2} s of the cost model\n",
                    value.getNumber("replay_seconds").value_or(0));
}

static bool isCalled(const Object &value, StringRef wanted) {
  SmallVector<StringRef> names;
  text(value, "name").split(names, ',');
  return text(value, "id") == wanted || llvm::is_contained(names, wanted);
}

bool explainValue(raw_ostream &stream, StringRef wanted, const Object &report) {
  bool found = false;
  const Array *values = report.getArray("values");
  for (size_t i = 0; values && i < values->size(); ++i) {
    const Object &value = *(*values)[i].getAsObject();
    if (!isCalled(value, wanted))
      continue;
    printStory(stream, value);
    found = true;
  }
  return found;
}

std::string findNearestValue(StringRef wanted, const Object &report) {
  std::string nearest;
  unsigned least = std::max<size_t>(3, wanted.size() / 3) + 1;
  const Array *values = report.getArray("values");
  for (size_t i = 0; values && i < values->size(); ++i) {
    StringRef id = text(*(*values)[i].getAsObject(), "id");
    unsigned distance = wanted.edit_distance(id, /*AllowReplacements=*/true, least);
    if (distance < least) {
      least = distance;
      nearest = id.str();
    }
  }
  return nearest;
}

} // namespace reprise
