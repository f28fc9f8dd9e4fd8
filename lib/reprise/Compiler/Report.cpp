// reprise: what a compilation tells of itself
#include "Report.h"

#include "reprise/Compiler.h"
#include "reprise/Dialect/Exec/IR/Storage.h"
#include "reprise/Dialect/Reprise/IR/Loops.h"
#include "reprise/Dialect/Reprise/IR/Naming.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Dialect/Reprise/Transforms/SavedBuffers.h"
#include "reprise/Support/ByteSize.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using llvm::json::Array;
using llvm::json::Object;

namespace reprise {

static std::string print(Location location) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  location->print(stream);
  return text;
}

static StringRef entryOf(Operation *op, StringRef attribute, unsigned result) {
  auto array = op->getAttrOfType<ArrayAttr>(attribute);
  return array && result < array.size() ? cast<StringAttr>(array[result]).getValue() : "";
}

/// The scope up to its last number, layer/3 of layer/3/attention; without one its first part.
static std::string layerOf(const std::string &whole) {
  StringRef scope = whole;
  size_t end = scope.find('/'), begin = 0;
  StringRef layer = scope.take_front(end);
  for (StringRef segment : llvm::split(scope, '/')) {
    begin += segment.size();
    if (!segment.empty() && llvm::all_of(segment, llvm::isDigit))
      layer = scope.take_front(begin);
    ++begin;
  }
  return layer.str();
}

static Object describeValue(OpResult value, StringRef id, bool isSaved, const CostModel &costs) {
  Operation *op = value.getOwner();
  unsigned result = value.getResultNumber();
  Object entry{{"id", id.str()},
               {"op", op->getName().getStringRef()},
               {"name", entryOf(op, "reprise.names", result)},
               {"location", print(op->getLoc())},
               {"layer", layerOf(getScope(op->getLoc()))},
               {"bytes", getByteSize(value.getType()) * countExecutions(op)},
               {"saved_bytes", isSaved ? getByteSize(value.getType()) : 0},
               {"decision", entryOf(op, "reprise.decisions", result)},
               {"replay_seconds", countAloneSeconds(op, costs)},
               {"label", nullptr},
               {"rule", nullptr},
               {"reason", entryOf(op, "reprise.reasons", result)}};
  if (auto label = op->getAttrOfType<LabelAttr>("reprise.label"))
    entry["label"] = stringifyLabel(label.getValue());
  if (auto rule = op->getAttrOfType<StringAttr>("reprise.rule"))
    entry["rule"] = rule.getValue();
  // A name labels one of several results.
  auto labels = op->getAttrOfType<ArrayAttr>("reprise.result_labels");
  if (auto own =
          labels && result < labels.size() ? dyn_cast<LabelAttr>(labels[result]) : LabelAttr()) {
    entry["label"] = stringifyLabel(own.getValue());
    entry["rule"] = entryOf(op, "reprise.result_rules", result);
  }
  return entry;
}

/// Gives the results of `op` the numbers from `first` on, and their replays the same.
static void number(Operation *op, int64_t first, DenseMap<Attribute, int64_t> &numbers) {
  auto value = IntegerAttr::get(IntegerType::get(op->getContext(), 64), first);
  op->setDiscardableAttr(exec::kReportedAttr, value);
  if (Attribute id = op->getDiscardableAttr("reprise.id"))
    numbers[id] = first;
}

static void numberReplays(func::FuncOp step, const DenseMap<Attribute, int64_t> &numbers) {
  Builder builder(step.getContext());
  step.walk([&](Operation *op) {
    auto found = numbers.find(op->getDiscardableAttr("reprise.original"));
    if (found != numbers.end())
      op->setDiscardableAttr(exec::kReportedAttr, builder.getI64IntegerAttr(found->second));
  });
}

void describeFusion(func::FuncOp step, Object &report) {
  Array *values = report.getArray("values");
  if (!values)
    return;
  DenseSet<int64_t> stored;
  step.walk([&](exec::LaunchOp launch) {
    if (auto numbers = launch->getAttrOfType<DenseI64ArrayAttr>(exec::kReportedAttr))
      stored.insert(numbers.asArrayRef().begin(), numbers.asArrayRef().end());
  });
  for (auto [i, value] : llvm::enumerate(*values))
    (*value.getAsObject())["fused"] = !stored.contains(i);
}

Object describePlan(func::FuncOp step, const CostModel &costs) {
  Array values;
  ValueIds ids(step.getBody().front());
  DenseSet<Value> saved;
  for (Value buffer : findSavedBuffers(step))
    saved.insert(buffer);
  DenseMap<Attribute, int64_t> numbers;
  int64_t replays = 0;
  step.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    replays += isReplay(op) && !isa<LoopOp>(op) ? countExecutions(op) : 0;
    if (!op->hasAttr("reprise.decisions"))
      return;
    number(op, values.size(), numbers);
    for (OpResult value : op->getResults())
      values.push_back(describeValue(value, ids.get(value), saved.contains(value), costs));
  });
  numberReplays(step, numbers);
  step->setDiscardableAttr(exec::kPartsAttr, UnitAttr::get(step.getContext()));
  Object report{{"version", 1}, {"replayed_ops", replays}, {"bound", nullptr}, {"gap", nullptr}};
  auto total = step->getParentOfType<ModuleOp>()->getAttrOfType<IntegerAttr>("reprise.saved_bytes");
  report["saved_bytes"] = total ? total.getInt() : 0;
  report["values"] = std::move(values);
  return report;
}

void printReport(llvm::raw_ostream &stream, StringRef path, const Object &report) {
  if (path.ends_with(".html"))
    return printHtml(stream, report);
  if (path.ends_with(".txt"))
    return printText(stream, report);
  stream << llvm::formatv("{0:2}\n", llvm::json::Value(Object(report)));
}

void describeBundle(const runtime::Bundle &bundle, Object &report) {
  report["target"] = bundle.target;
  report["threads"] = bundle.threads;
  report["arena_bytes"] = bundle.arenaBytes();
  report["persistent_bytes"] = bundle.persistentBytes();
  report["workspace_bytes"] = bundle.workspaceBytes(bundle.threads);
  const runtime::Program *step = bundle.program("step");
  report["replay_checks"] = static_cast<int64_t>(bundle.replayChecks.size());
  report["commands"] = step ? static_cast<int64_t>(step->commands.size()) : 0;
}

void sortByBytes(std::vector<const llvm::json::Object *> &values) {
  std::vector<std::pair<int64_t, size_t>> order;
  for (auto [i, value] : llvm::enumerate(values))
    order.push_back({-value->getInteger("bytes").value_or(0), i});
  llvm::sort(order);
  std::vector<const llvm::json::Object *> sorted;
  for (auto [bytes, i] : order)
    sorted.push_back(values[i]);
  values = std::move(sorted);
}

std::vector<const llvm::json::Object *> valuesByBytes(const llvm::json::Object &report) {
  std::vector<const llvm::json::Object *> rows;
  if (const llvm::json::Array *values = report.getArray("values"))
    for (const llvm::json::Value &value : *values)
      rows.push_back(value.getAsObject());
  sortByBytes(rows);
  return rows;
}

} // namespace reprise
