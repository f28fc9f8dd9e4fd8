// reprise: the report as JSON, with the keys of docs/reference/schemas/report.schema.json
#include "LiveBytes.h"
#include "Report.h"

using llvm::json::Array;
using llvm::json::Object;
using llvm::json::Value;

namespace reprise {

template <typename T> static Value orNull(const std::optional<T> &value) {
  return value ? Value(*value) : Value(nullptr);
}

static Object toJson(const ReportedValue &value) {
  bool isLabelled = value.label != checkpoint::ValueLabel::None;
  Object entry{
      {"id", value.id},
      {"op", value.op},
      {"name", value.name},
      {"location", value.location},
      {"layer", value.layer},
      {"bytes", value.bytes},
      {"saved_bytes", value.savedBytes},
      {"decision", llvm::StringRef(getText(value.decision))},
      {"replay_seconds", value.replaySeconds},
      {"label", isLabelled ? Value(llvm::StringRef(getText(value.label))) : Value(nullptr)},
      {"rule", orNull(value.rule)},
      {"reason", value.reason},
      {"why", explainDecision(value)}};
  if (value.fused)
    entry["fused"] = *value.fused;
  return entry;
}

static Object toJson(const ReportedBudget &budget) {
  Object entry{{"bytes", budget.bytes}};
  if (!budget.search)
    return entry;
  const ReportedSearch &search = *budget.search;
  entry["save_all_bytes"] = search.saveAllBytes;
  entry["usual_bytes"] = search.usualBytes;
  entry["predicted_bytes"] = search.predictedBytes;
  entry["cost_increase"] = search.costIncrease;
  entry["overridden_bytes"] = search.overriddenBytes;
  entry["rounds"] = search.rounds;
  for (std::string_view step : checkpoint::kFormTexts)
    entry[llvm::StringRef(step)] = llvm::is_contained(search.form, *checkpoint::parseForm(step));
  entry["reordered"] = search.reordered;
  entry["truncated"] = search.truncated;
  return entry;
}

static Object toJson(const KindError &error) {
  return Object{{"ops", static_cast<int64_t>(error.ops)},
                {"measured_seconds", error.measured},
                {"modelled_seconds", error.modelled},
                {"relative_error", error.relative()}};
}

static void addPlan(const Report &report, Object &object) {
  const ReportedPlan &plan = *report.plan;
  object["replayed_ops"] = plan.replayedOps;
  object["saved_bytes"] = plan.savedBytes;
  object["cost"] = Object{{"forward", plan.cost.forward},
                          {"backward", plan.cost.backward},
                          {"replay", plan.cost.replay}};
  object["device"] = report.device;
  Array values;
  for (const ReportedValue &value : plan.values)
    values.push_back(toJson(value));
  object["values"] = std::move(values);
  Object kinds;
  for (const auto &[kind, error] : report.modelError)
    kinds[kind] = toJson(error);
  if (!kinds.empty())
    object["model_error"] = std::move(kinds);
}

void addInputs(const ReportedInputs &inputs, Object &object) {
  object["model"] = inputs.model;
  object["entry"] = inputs.entry;
  Array policies;
  for (const std::string &policy : inputs.policies)
    policies.push_back(policy);
  object["given_policies"] = std::move(policies);
  object["microbatches"] = inputs.microbatches;
  object["lanes"] = inputs.lanes;
  object["stages"] = inputs.stages;
  object["replicas"] = inputs.replicas;
  if (inputs.modelLanes > 1) {
    object["model_lanes"] = inputs.modelLanes;
    object["model_parts"] = inputs.modelParts;
    object["replayed_percent"] = inputs.replayedPercent;
  }
  if (!inputs.schedule.empty())
    object["schedule"] = inputs.schedule;
  object["compiler"] = inputs.compiler;
}

static void addCalls(const Report &report, Object &object) {
  Array calls;
  for (const auto &[callee, call] : report.hostCalls)
    calls.push_back(Object{{"callee", callee},
                           {"launches", call.launches},
                           {"seconds", call.seconds},
                           {"workspace_bytes", call.workspaceBytes}});
  object["host_calls"] = std::move(calls);
}

static void addLibraries(const Report &report, Object &object) {
  Object calls;
  for (const auto &[function, launches] : report.libraryCalls)
    calls[function] = launches;
  Array own;
  for (const ReportedOwn &each : report.ownContractions)
    own.push_back(Object{{"op", each.op}, {"why", each.why}, {"launches", each.launches}});
  object["library_calls"] = std::move(calls);
  object["own_contractions"] = std::move(own);
}

static void addBuffers(const Report &report, Object &object) {
  Array buffers;
  for (const ReportedBuffer &buffer : report.buffers)
    buffers.push_back(Object{{"name", buffer.name},
                             {"first", buffer.first},
                             {"last", buffer.last},
                             {"offset", buffer.offset},
                             {"bytes", buffer.bytes},
                             {"part", buffer.part}});
  object["buffers"] = std::move(buffers);
  object["live_bytes"] = Array(countLiveBytes(report.buffers));
}

static Object countTransfers(const ReportedTransfers &transfers) {
  return Object{
      {"count", transfers.count}, {"bytes", transfers.bytes}, {"seconds", transfers.seconds}};
}

static void addTransfers(const Report &report, Object &object) {
  Array list;
  Object sent;
  for (const ReportedTransfers &each : report.transfers) {
    Object entry = countTransfers(each);
    entry["kind"] = each.kind;
    entry["value"] = each.value;
    entry["part"] = each.part.empty() ? Value(nullptr) : Value(each.part);
    entry["dimension"] = orNull(each.dim);
    list.push_back(std::move(entry));
  }
  for (const auto &[kind, sum] : sumByKind(report))
    sent[kind] = countTransfers(sum);
  object["transfers"] = std::move(list);
  object["sent"] = std::move(sent);
}

Object toJson(const Report &report) {
  Object object{{"version", 1},
                {"target", report.target},
                {"contractions", report.contractions},
                {"threads", report.threads},
                {"arena_bytes", report.arenaBytes},
                {"persistent_bytes", report.persistentBytes},
                {"workspace_bytes", report.workspaceBytes},
                {"step_bytes", report.stepBytes()},
                {"bound", nullptr},
                {"gap", nullptr}};
  if (report.hostBytes)
    object["host_bytes"] = report.hostBytes;
  if (report.contractions == describe(Contractions::Library).name)
    addLibraries(report, object);
  if (!report.hostCalls.empty())
    addCalls(report, object);
  if (!report.transfers.empty())
    addTransfers(report, object);
  if (report.commands)
    object["commands"] = *report.commands;
  if (report.replayChecks)
    object["replay_checks"] = *report.replayChecks;
  if (report.plan)
    addPlan(report, object);
  if (report.costIncrease)
    object["cost_increase"] = *report.costIncrease;
  if (std::string cost = readCost(report); !cost.empty())
    object["cost_summary"] = cost;
  if (report.budget) {
    object["budget"] = toJson(*report.budget);
    if (const auto &search = report.budget->search) {
      object["bound"] = search->bound;
      object["gap"] = search->costIncrease - search->bound;
    }
  }
  addBuffers(report, object);
  object["backward_launch"] = orNull(report.backwardLaunch);
  addInputs(report.inputs, object);
  return object;
}

} // namespace reprise
