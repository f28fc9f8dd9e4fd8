// reprise: policies from shared libraries, behind a C interface (include/reprise-c/Policy.h)
#include "Plugin.h"

#include "PluginChild.h"
#include "PluginGraph.h"
#include "reprise/Dialect/Reprise/IR/Naming.h"
#include "reprise/Policy/Rules.h"
#include "reprise/Runtime/Progress.h"
#include "reprise/Support/Guard.h"
#include "reprise/Support/JsonFile.h"
#include "llvm/Support/FileSystem.h"

#include <chrono>

using namespace mlir;

namespace reprise {
namespace {

/// A policy that answers through the C interface.
class AnsweredPolicy : public Policy {
public:
  /// Makes the policy; `shown` is its name in messages.
  explicit AnsweredPolicy(std::string shown) : shown(std::move(shown)) {}

  LogicalResult decide(const PolicyGraph &graph, Location location,
                       PolicyDecisions &decisions) const override;

protected:
  InFlightDiagnostic fail(Location location) const { return emitPolicyError(location, shown); }
  virtual LogicalResult ask(const rp_graph &graph, Location location,
                            PluginAnswer &answer) const = 0;

private:
  std::string shown;
};

class PluginPolicy : public AnsweredPolicy {
public:
  PluginPolicy(std::string path, std::string file, std::string options)
      : AnsweredPolicy("policy plugin '" + path + "'"), path(std::move(path)),
        file(std::move(file)), options(std::move(options)) {}

private:
  LogicalResult ask(const rp_graph &graph, Location location, PluginAnswer &answer) const override;
  LogicalResult askChild(const rp_graph &graph, Location location, PluginAnswer &answer) const;

  std::string path; ///< path in messages
  std::string file; ///< absolute path, since dlopen would search a bare name in its own folders
  std::string options;
};

class TablePolicy : public AnsweredPolicy {
public:
  TablePolicy(StringRef name, const rp_policy &table, void *self)
      : AnsweredPolicy("policy '" + name.str() + "'"), table(table), self(self) {}

private:
  LogicalResult ask(const rp_graph &graph, Location location, PluginAnswer &answer) const override {
    answer = askTable(table, self, graph);
    return answer.error.empty() ? success() : LogicalResult(fail(location) << answer.error);
  }

  const rp_policy &table;
  void *self;
};

/// Runs the plugin in a child process, because it may loop, crash or call exit(). Only its answer
/// comes back (docs/explanation/Policies.md).
LogicalResult PluginPolicy::askChild(const rp_graph &graph, Location location,
                                     PluginAnswer &answer) const {
  GuardLimits limits;
  limits.seconds = kPluginSeconds;
  limits.clockFactor = kPluginClockFactor;
  limits.keepsOutput = true;
  std::string bytes;
  Progress progress("policy plugin " + path, 0);
  std::string note = "labelling " + std::to_string(graph.ops.size()) + " ops";
  limits.whileWaiting = [&, start = std::chrono::steady_clock::now()] {
    std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    progress.update(0, note + ", " + std::to_string(static_cast<int>(passed.count())) + " s");
  };
  std::string reason =
      runInChild([&] { return askPlugin(file, options, graph).write(); }, limits, bytes);
  progress.clear();
  if (!reason.empty())
    return fail(location) << "ended before it gave labels (" << reason << ")";
  if (!answer.read(bytes))
    return fail(location) << "gave no labels";
  return success();
}

LogicalResult PluginPolicy::ask(const rp_graph &graph, Location location,
                                PluginAnswer &answer) const {
  if (PolicyRegistry::of(location.getContext()).runsPluginsHere())
    answer = askPlugin(file, options, graph);
  else if (failed(askChild(graph, location, answer)))
    return failure();
  if (!answer.error.empty())
    return fail(location) << answer.error;
  return success();
}

LogicalResult AnsweredPolicy::decide(const PolicyGraph &graph, Location location,
                                     PolicyDecisions &decisions) const {
  PluginAnswer answer;
  if (failed(ask(rp_graph(graph), location, answer)))
    return failure();
  DenseMap<Operation *, unsigned> slots;
  for (auto [i, op] : llvm::enumerate(graph.ops)) {
    unsigned slot = slots.try_emplace(op.op, slots.size()).first->second;
    if (slot >= answer.labels.size())
      return fail(location) << "gave no labels";
    uint8_t label = answer.labels[slot];
    if (label == RP_NO_LABEL)
      continue;
    std::optional<Label> known = symbolizeLabel(label);
    if (!known)
      return fail(location) << "gives " << describeOp(op.op) << " the unknown label "
                            << unsigned(label);
    const std::string &reason = answer.reasons[slot];
    std::string rule = answer.name + (reason.empty() ? "" : ": " + reason);
    decisions.ops[i].push_back({*known, StringAttr::get(location.getContext(), rule)});
  }
  return success();
}

} // namespace

PolicyPtr makePolicy(StringRef name, const rp_policy &table, void *self) {
  return std::make_shared<TablePolicy>(name, table, self);
}

FailureOr<PolicyPtr> loadPlugin(StringRef text, const PolicyContext &context) {
  size_t brace = text.find('{');
  StringRef path = text.take_front(brace).trim(), options = text.substr(brace).trim();
  std::string shown = context.findFile(path);
  auto fail = [&] { return emitPolicyError(context.location, "policy plugin '" + shown + "'"); };
  llvm::json::Value parsed = nullptr;
  if (!options.empty())
    if (std::optional<JsonFault> fault = parseJson(options, parsed))
      return fail() << "cannot read its options: " << fault->message << " at line " << fault->line
                    << ", column " << fault->column;
  SmallString<256> file(shown);
  llvm::sys::fs::file_status status;
  std::error_code error = llvm::sys::fs::status(file, status);
  if (!error)
    error = llvm::sys::fs::make_absolute(file);
  if (error)
    return fail() << "cannot be loaded: " << error.message();
  return PolicyPtr(std::make_shared<PluginPolicy>(shown, file.str().str(), options.str()));
}

} // namespace reprise
