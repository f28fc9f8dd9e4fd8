// reprise: schedules of a pipeline with their cuts, verified and simulated
#include "reprise/PlanTexts/Pipeline.h"
#include "reprise/PlanTexts/Plan.h"

#include "reprise/Page/Page.h"
#include "reprise/Planning/Pipeline/ScheduleFile.h"
#include "reprise/Support/Readable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using llvm::json::Array;
using llvm::json::Object;

namespace reprise {

static llvm::Expected<pipeline::Schedule> readFile(const std::string &path) {
  auto text = llvm::MemoryBuffer::getFile(path);
  if (!text)
    return llvm::createStringError("cannot read '" + path + "': " + text.getError().message());
  pipeline::Schedule schedule;
  std::string wrong = pipeline::readSchedule((*text)->getBuffer(), schedule);
  if (!wrong.empty())
    return llvm::createStringError(path + ": " + wrong);
  return schedule;
}

/// Returns the reason why the schedule does not fit the problem; empty if it fits.
static std::string compare(const stages::ProblemFile &file, const pipeline::Shape &shape) {
  if (shape.ranks != static_cast<int>(file.devices.size()))
    return llvm::formatv("the schedule has {0} ranks, the problem {1}", shape.ranks,
                         file.devices.size());
  if (shape.microbatches != file.microbatches)
    return llvm::formatv("the schedule has {0} micro-batches, the problem {1}", shape.microbatches,
                         file.microbatches);
  if (shape.stages() > static_cast<int>(file.units.size()))
    return llvm::formatv("{0} stages need as many units, the problem has {1}", shape.stages(),
                         file.units.size());
  return "";
}

/// Limit of pieces, above which schedules need gigabytes and minutes.
constexpr int64_t kMostPieces = int64_t(1) << 26;

/// Makes the schedule of a rule, or returns an error. A shape that cannot be cut, or that is too
/// large, is refused before its pieces are made.
static std::string makePieces(const stages::ProblemFile &file, const pipeline::Rule &rule,
                              pipeline::Schedule &schedule) {
  pipeline::Shape shape{static_cast<int>(file.devices.size()), rule.fitChunks(file.chunks),
                        file.microbatches};
  if (std::string wrong = compare(file, shape); !wrong.empty())
    return wrong;
  int64_t pieces = (rule.splitsBackward ? 3 : 2) * shape.microbatches * shape.stages();
  if (pieces > kMostPieces)
    return llvm::formatv("the schedule would have {0} pieces: at most {1} are allowed", pieces,
                         kMostPieces);
  schedule = pipeline::makeSchedule(rule, shape);
  return "";
}

/// Pieces, order and circles first, since a split needs the slots of a whole schedule.
static void judge(const stages::ProblemFile &file, PipelinePlan &plan) {
  pipeline::Pipeline empty;
  empty.stages.resize(plan.schedule.shape.stages());
  if (auto defect = pipeline::verify(plan.schedule, empty)) {
    plan.defect = defect->message;
    return;
  }
  stages::Problem problem = file.makeProblem(plan.schedule);
  std::optional<stages::Split> split = stages::balance(problem);
  if (!split) {
    plan.defect = "no split into stages fits the devices' memory";
    return;
  }
  plan.begins = split->begins;
  pipeline::Pipeline cut = stages::makePipeline(problem, *split);
  cut.buffers = file.buffers;
  for (const stages::Device &device : file.devices)
    cut.memory.push_back(device.memory);
  if (auto defect = pipeline::verify(plan.schedule, cut, &problem.slots))
    plan.defect = defect->message;
  else
    plan.simulation = pipeline::simulate(plan.schedule, cut);
}

llvm::Expected<std::vector<PipelinePlan>> planPipeline(const stages::ProblemFile &file,
                                                       llvm::ArrayRef<std::string> schedules) {
  std::vector<std::string> names(schedules);
  if (names.empty())
    for (const pipeline::Rule &rule : pipeline::getRules())
      names.push_back(rule.name);
  std::vector<PipelinePlan> plans;
  for (const std::string &name : names) {
    Stopwatch watch(std::nullopt);
    PipelinePlan &plan = plans.emplace_back();
    plan.name = name;
    if (const pipeline::Rule *rule = pipeline::findRule(name)) {
      plan.defect = makePieces(file, *rule, plan.schedule);
    } else {
      llvm::Expected<pipeline::Schedule> schedule = readFile(name);
      if (!schedule)
        return schedule.takeError();
      plan.schedule = std::move(*schedule);
      plan.defect = compare(file, plan.schedule.shape);
    }
    if (plan.defect.empty())
      judge(file, plan);
    plan.seconds = watch.seconds();
  }
  return plans;
}

const PipelinePlan *findFastest(llvm::ArrayRef<PipelinePlan> plans) {
  const PipelinePlan *fastest = nullptr;
  for (const PipelinePlan &plan : plans)
    if (plan.defect.empty() &&
        (!fastest || plan.simulation.makespan < fastest->simulation.makespan))
      fastest = &plan;
  return fastest;
}

std::string describe(const PipelinePlan &plan) {
  if (!plan.defect.empty())
    return plan.name + ": " + plan.defect;
  const pipeline::Simulation &found = plan.simulation;
  std::string text =
      llvm::formatv("{0}: makespan {1}, bubble {2:f2} %, peaks", plan.name,
                    llvm::format("%.10g", found.makespan), 100 * found.bubbleOfTotal());
  static constexpr size_t most = 8; // ranks in a line
  const char *between = " ";
  for (int64_t peak : llvm::ArrayRef(found.peaks).take_front(most)) {
    text += between + showBytes(peak);
    between = ", ";
  }
  return text + (found.peaks.size() > most ? ", …" : "");
}

static Object describeRank(const PipelinePlan &plan, size_t rank) {
  Array firstUnits;
  const pipeline::Shape &shape = plan.schedule.shape;
  for (int stage = 0; stage < shape.stages(); ++stage)
    if (shape.rankOf(stage) == static_cast<int>(rank))
      firstUnits.push_back(Object{{"stage", stage}, {"first_unit", plan.begins[stage]}});
  return Object{{"busy", plan.simulation.busy[rank]},
                {"peak", plan.simulation.peaks[rank]},
                {"stages", std::move(firstUnits)}};
}

std::string describeAsJson(llvm::ArrayRef<PipelinePlan> plans) {
  Array list;
  for (const PipelinePlan &plan : plans) {
    Object object{{"schedule", plan.name}, {"seconds", plan.seconds}};
    if (!plan.defect.empty()) {
      object["defect"] = plan.defect;
    } else {
      object["makespan"] = plan.simulation.makespan;
      object["bubble_of_total_percent"] = 100 * plan.simulation.bubbleOfTotal();
      object["bubble_of_ideal_percent"] = 100 * plan.simulation.bubbleOfIdeal();
      Array ranks;
      for (size_t rank = 0; rank < plan.simulation.peaks.size(); ++rank)
        ranks.push_back(describeRank(plan, rank));
      object["ranks"] = std::move(ranks);
    }
    list.push_back(std::move(object));
  }
  const PipelinePlan *fastest = findFastest(plans);
  Object all{{"version", 1}, {"schedules", std::move(list)}};
  all["fastest"] = fastest ? llvm::json::Value(fastest->name) : llvm::json::Value(nullptr);
  return llvm::formatv("{0:2}\n", llvm::json::Value(std::move(all)));
}

std::string drawSchedule(const PipelinePlan &plan) {
  const pipeline::Simulation &found = plan.simulation;
  Array ranks;
  for (size_t rank = 0; rank < found.busy.size(); ++rank)
    ranks.push_back(Object{{"busy", found.busy[rank]},
                           {"peak", found.peaks[rank]},
                           {"passes", listPasses(plan.schedule, found, rank)}});
  std::string page;
  llvm::raw_string_ostream stream(page);
  printPage(stream,
            Object{{"pipeline", Object{{"schedule", plan.name},
                                       {"chunks", plan.schedule.shape.chunks},
                                       {"microbatches", plan.schedule.shape.microbatches},
                                       {"makespan", found.makespan},
                                       {"bubble_of_total_percent", 100 * found.bubbleOfTotal()},
                                       {"ranks", std::move(ranks)}}}});
  return page;
}

std::string writeSchedule(const PipelinePlan &plan) {
  return pipeline::writeSchedule(plan.schedule);
}

} // namespace reprise
