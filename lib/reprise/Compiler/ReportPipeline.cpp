// reprise: the pipeline of the programs in a report
#include "Report.h"

#include "reprise/Dialect/Pipe/IR/Pipe.h"
#include "reprise/Page/Page.h"
#include "reprise/Support/Readable.h"
#include "reprise/Support/Wording.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace reprise {

static size_t countPieces(const pipeline::Schedule &schedule) {
  size_t pieces = 0;
  for (const auto &rank : schedule.ranks)
    pieces += rank.size();
  return pieces;
}

/// Returns the device of the first replica that has the same stages as `device`.
static int64_t rankOf(int64_t device, const pipeline::Shape &shape) { return device % shape.ranks; }

/// Replaces the replays that the cut assumed by those of the plans of the first replica. The
/// replays of a device are divided among its stages in the proportions of the assumed replays, or
/// otherwise of their forward passes.
static void takeReplays(const pipeline::Shape &shape, ArrayRef<double> known,
                        ArrayRef<const CompiledProgram *> programs, pipeline::Pipeline &made,
                        std::vector<double> &replays) {
  for (const CompiledProgram *each : programs) {
    const CompiledProgram &program = *each;
    if (!program.report.plan || program.device >= shape.ranks)
      continue;
    double planned = program.report.plan->cost.replay / static_cast<double>(shape.microbatches);
    double reckoned = 0, forward = 0;
    for (int stage = 0; stage < shape.stages(); ++stage)
      if (shape.rankOf(stage) == program.device) {
        reckoned += known[stage];
        forward += made.stages[stage].forward;
      }
    for (int stage = 0; stage < shape.stages(); ++stage) {
      if (shape.rankOf(stage) != program.device)
        continue;
      double share = reckoned > 0  ? known[stage] / reckoned
                     : forward > 0 ? made.stages[stage].forward / forward
                                   : 0;
      made.stages[stage].backward += share * planned - known[stage];
      replays[stage] = share * planned;
    }
  }
}

std::optional<PlannedPipeline> readPipeline(mlir::ModuleOp module,
                                            ArrayRef<const CompiledProgram *> programs) {
  auto timing = module->getAttrOfType<pipe::TimingAttr>(pipe::kTimingAttr);
  if (pipe::getCuts(module).empty() || !timing)
    return std::nullopt;
  ArrayRef<double> known = timing.getReplay().asArrayRef();
  PlannedPipeline planned{timing.getSchedule(), timing.getPipeline(), known.vec()};
  takeReplays(planned.schedule.shape, known, programs, planned.pipeline, planned.replays);
  return planned;
}

static double findMean(ArrayRef<double> numbers) {
  double sum = 0;
  for (double number : numbers)
    sum += number;
  return numbers.empty() ? 0 : sum / static_cast<double>(numbers.size());
}

std::optional<ReportedPipeline> describePipeline(mlir::ModuleOp module,
                                                 ArrayRef<CompiledProgram> programs, bool isAuto,
                                                 std::vector<std::vector<double>> hidden) {
  auto pointers = map_to_vector(programs, [](const CompiledProgram &own) { return &own; });
  std::optional<PlannedPipeline> planned = readPipeline(module, pointers);
  if (!planned)
    return std::nullopt;
  SmallVector<pipe::CutAttr> cuts = pipe::getCuts(module);
  ReportedPipeline reported;
  reported.schedule = cuts.front().getSchedule().str();
  reported.pieces = std::move(planned->schedule);
  const pipeline::Shape &shape = reported.pieces.shape;
  pipeline::Pipeline &made = planned->pipeline;
  made.early = std::move(hidden);
  bool keepsTimes = countPieces(reported.pieces) <= kMostDrawn;
  reported.simulation = pipeline::simulate(reported.pieces, made, keepsTimes);
  for (auto [number, stage] : llvm::enumerate(made.stages))
    reported.stages.push_back({shape.rankOf(static_cast<int>(number)), stage.forward,
                               stage.backward, stage.weight, planned->replays[number],
                               made.early.empty() ? 0 : findMean(made.early[number])});
  for (const CompiledProgram &program : programs) {
    const Report &report = program.report;
    ReportedDevice &device = reported.devices.emplace_back();
    device.peakBytes = report.arenaBytes + report.workspaceBytes + report.persistentBytes;
    device.savedBytes = report.plan ? report.plan->savedBytes : 0;
    device.replayedOps = report.plan ? report.plan->replayedOps : 0;
  }
  if (isAuto)
    for (auto [number, cut] : llvm::enumerate(cuts)) {
      bool fits = number == 0 || cut.getState() == pipe::CutState::Fits;
      reported.schedules.push_back(
          {cut.getSchedule().str(), cut.getChunks(), cut.getMakespan().getValueAsDouble(), fits});
    }
  return reported;
}

static std::string describeSchedule(StringRef name, int64_t chunks) {
  return chunks > 1 ? formatv("{0} with {1} stages per device", name, chunks).str() : name.str();
}

/// Returns seconds in a readable unit.
static std::string describeSeconds(double seconds) {
  return seconds < 1e-3 ? formatv("{0:f1} us", 1e6 * seconds).str()
         : seconds < 1  ? formatv("{0:f2} ms", 1e3 * seconds).str()
                        : formatv("{0:f3} s", seconds).str();
}

std::string summarize(const ReportedPipeline &pipeline) {
  const pipeline::Simulation &found = pipeline.simulation;
  std::string text = formatv("schedule {0}: makespan {1} by the cost model, bubble {2:f2} %",
                             describeSchedule(pipeline.schedule, pipeline.pieces.shape.chunks),
                             describeSeconds(found.makespan), 100 * found.bubbleOfTotal());
  if (pipeline.countReplicas() > 1)
    text += formatv("; {0} replicas of {1} each", pipeline.countReplicas(),
                    amount(pipeline.pieces.shape.ranks, "device"));
  const char *between = "; chosen of ";
  for (const ReportedSchedule &weighed : pipeline.schedules) {
    text += formatv("{0}{1} {2}{3}", between, describeSchedule(weighed.name, weighed.chunks),
                    describeSeconds(weighed.makespan), weighed.fits ? "" : " (does not fit)");
    between = ", ";
  }
  return text;
}

json::Object toJson(const ReportedPipeline &pipeline) {
  const pipeline::Simulation &found = pipeline.simulation;
  json::Array ranks, stages, schedules;
  for (auto [number, device] : llvm::enumerate(pipeline.devices)) {
    int64_t rank = rankOf(static_cast<int64_t>(number), pipeline.pieces.shape);
    json::Object object{{"busy", found.busy[rank]},
                        {"peak", device.peakBytes},
                        {"saved_bytes", device.savedBytes},
                        {"replayed_ops", device.replayedOps}};
    if (!found.begins.empty())
      object["passes"] = listPasses(pipeline.pieces, found, rank);
    ranks.push_back(std::move(object));
  }
  for (const ReportedStage &stage : pipeline.stages)
    stages.push_back(json::Object{{"rank", stage.device},
                                  {"forward", stage.forward},
                                  {"backward", stage.backward},
                                  {"weight", stage.weight},
                                  {"replay", stage.replay},
                                  {"hidden", stage.hidden}});
  for (const ReportedSchedule &schedule : pipeline.schedules)
    schedules.push_back(json::Object{{"schedule", schedule.name},
                                     {"chunks", schedule.chunks},
                                     {"makespan", schedule.makespan},
                                     {"fits", schedule.fits}});
  json::Object object{{"schedule", pipeline.schedule},
                      {"summary", summarize(pipeline)},
                      {"chunks", pipeline.pieces.shape.chunks},
                      {"microbatches", pipeline.pieces.shape.microbatches},
                      {"replicas", pipeline.countReplicas()},
                      {"makespan", found.makespan},
                      {"bubble_of_total_percent", 100 * found.bubbleOfTotal()},
                      {"bubble_of_ideal_percent", 100 * found.bubbleOfIdeal()},
                      {"ranks", std::move(ranks)},
                      {"stages", std::move(stages)}};
  if (!pipeline.schedules.empty())
    object["schedules"] = std::move(schedules);
  return object;
}

void printPipelineText(raw_ostream &stream, const ReportedPipeline &pipeline) {
  stream << summarize(pipeline) << "\n"
         << formatv("{0,6}  {1,6}  {2,16}  {3,16}  {4,16}  {5,16}\n", "stage", "device", "forward",
                    "backward", "weights", "of it replays");
  for (auto [number, stage] : llvm::enumerate(pipeline.stages))
    stream << formatv("{0,6}  {1,6}  {2,16}  {3,16}  {4,16}  {5,16}\n", number, stage.device,
                      describeSeconds(stage.forward), describeSeconds(stage.backward),
                      describeSeconds(stage.weight), describeSeconds(stage.replay));
  stream << formatv("{0,6}  {1,8}  {2,16}  {3,16}  {4,14}\n", "device", "busy", "peak", "saved",
                    "replayed ops");
  double makespan = std::max(pipeline.simulation.makespan, 1e-30);
  for (auto [number, device] : llvm::enumerate(pipeline.devices))
    stream << formatv(
        "{0,6}  {1,6:f1} %  {2,16}  {3,16}  {4,14}\n", number,
        100 *
            pipeline.simulation.busy[rankOf(static_cast<int64_t>(number), pipeline.pieces.shape)] /
            makespan,
        showBytes(device.peakBytes), showBytes(device.savedBytes), device.replayedOps);
}

} // namespace reprise
