// reprise: the result of a search for a mesh as text and as JSON
#include "reprise/Compiler/MeshSearch.h"
#include "reprise/Support/Readable.h"
#include "reprise/Support/Wording.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace reprise {

static std::string showSeconds(double seconds) {
  return seconds < 1e-3 ? formatv("{0:f1} us", 1e6 * seconds).str()
         : seconds < 1  ? formatv("{0:f2} ms", 1e3 * seconds).str()
                        : formatv("{0:f3} s", seconds).str();
}

static const char *showState(const ReportedPoint &point) {
  return !point.isBuilt ? "unbuilt" : point.isPacked ? "packed" : "estimated";
}

static void printMissed(raw_ostream &stream, const ReportedMiss &missed) {
  stream << formatv("{0,7}  {1}", missed.points, missed.reason);
  if (missed.fullness)
    stream << formatv("; nearest: {0:f3} of the memory with ", *missed.fullness);
  else if (missed.seconds)
    stream << "; nearest: " << showSeconds(*missed.seconds) << " or more with ";
  else if (!missed.nearest.empty())
    stream << "; first: ";
  stream << missed.nearest << "\n";
}

void printMesh(raw_ostream &stream, const ReportedMesh &mesh) {
  stream << formatv("{0} as a mesh for a batch of {1}, by the rates of '{2}': {3}, {4} of them "
                    "cut\n",
                    amount(mesh.devices, "device"), amount(mesh.batch, "sample"), mesh.device,
                    amount(mesh.points, "point"), mesh.cut);
  if (!mesh.best.empty())
    stream << formatv("{0,12}  {1,12}  {2,9}  {3,12}  {4,12}  {5,11}  {6,-13}  {7}\n", "step",
                      "passes", "bubble", "exchange", "updates", "peak", "", "flags");
  for (const ReportedPoint &point : mesh.best)
    stream << formatv("{0,12}  {1,12}  {2,7:f2} %  {3,12}  {4,12}  {5,11}  {6,-13}  {7}\n",
                      showSeconds(point.price.seconds()), showSeconds(point.price.makespan),
                      100 * point.price.bubble, showSeconds(point.price.exchange),
                      showSeconds(point.price.update), showBytes(point.price.peak()),
                      showState(point), point.flags);
  if (!mesh.missed.empty())
    stream << "other points:\n";
  for (const ReportedMiss &missed : mesh.missed)
    printMissed(stream, missed);
  if (!mesh.refusal.empty())
    stream << "the first step that cannot be cut so: " << mesh.refusal << "\n";
  stream << "meshes of equal --microbatches and --lanes have equal bits\n";
}

static json::Object toJson(const ReportedPoint &point) {
  SmallVector<StringRef> words;
  StringRef(point.flags).split(words, ' ', -1, /*KeepEmpty=*/false);
  json::Array flags, peaks;
  for (StringRef word : words)
    flags.push_back(word);
  for (int64_t peak : point.price.peaks)
    peaks.push_back(peak);
  const mesh::Point &own = point.point;
  return json::Object{{"flags", std::move(flags)},
                      {"replicas", own.replicas},
                      {"model_parts", own.parts},
                      {"stages", own.ranks},
                      {"chunks", own.chunks},
                      {"schedule", own.rule->name},
                      {"microbatches", own.microbatches},
                      {"lanes", point.lanes},
                      {"gathers", own.replaysGathers ? "replayed" : "saved"},
                      {"seconds", point.price.seconds()},
                      {"makespan", point.price.makespan},
                      {"exchange_seconds", point.price.exchange},
                      {"update_seconds", point.price.update},
                      {"bubble_of_total_percent", 100 * point.price.bubble},
                      {"peak_bytes", point.price.peak()},
                      {"peaks", std::move(peaks)},
                      {"built", point.isBuilt},
                      {"packed", point.isPacked}};
}

json::Object toJson(const ReportedMesh &mesh) {
  json::Array best, missed;
  for (const ReportedPoint &point : mesh.best)
    best.push_back(toJson(point));
  for (const ReportedMiss &own : mesh.missed) {
    json::Object object{{"reason", own.reason}, {"points", own.points}};
    if (!own.nearest.empty())
      object["nearest"] = own.nearest;
    if (own.fullness)
      object["fullness"] = *own.fullness;
    if (own.seconds)
      object["seconds"] = *own.seconds;
    missed.push_back(std::move(object));
  }
  json::Object object{{"version", 1},
                      {"device", mesh.device},
                      {"devices", mesh.devices},
                      {"batch", mesh.batch},
                      {"points", mesh.points},
                      {"cut", mesh.cut},
                      {"best", std::move(best)},
                      {"missed", std::move(missed)}};
  if (!mesh.refusal.empty())
    object["refusal"] = mesh.refusal;
  return object;
}

} // namespace reprise
