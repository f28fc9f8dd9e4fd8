// reprise: policies from shared libraries, behind a C interface (include/reprise-c/Policy.h)
#include "Plugin.h"

#include "PluginGraph.h"
#include "reprise/Dialect/Reprise/IR/Naming.h"
#include "reprise/Runtime/Progress.h"
#include "llvm/Support/JSON.h"

#include <dlfcn.h>

using namespace mlir;

namespace reprise {
namespace {

StringRef take(rp_string text) { return {text.data, text.size}; }

/// A shared library that is closed with the last policy of it.
struct Library {
  void *handle;
  explicit Library(void *handle) : handle(handle) {}
  ~Library() { dlclose(handle); }
  Library(const Library &) = delete;
  Library &operator=(const Library &) = delete;
};

class PluginPolicy : public Policy {
public:
  PluginPolicy(std::unique_ptr<Library> library, const rp_policy *table, std::string path)
      : library(std::move(library)), table(table), path(std::move(path)) {}
  ~PluginPolicy() override {
    if (created && table->destroy)
      table->destroy(self);
  }

  LogicalResult create(StringRef options, Location location);
  LogicalResult decide(const PolicyGraph &graph, Location location,
                       PolicyDecisions &decisions) const override;

private:
  InFlightDiagnostic fail(Location location) const {
    return emitError(location) << "policy plugin '" << path << "' ";
  }
  LogicalResult store(const PolicyGraph &graph, ArrayRef<uint8_t> labels, Location location,
                      PolicyDecisions &decisions) const;
  StringAttr ruleOf(StringAttr name, unsigned op) const;

  std::unique_ptr<Library> library;
  const rp_policy *table;
  std::string path;
  void *self = nullptr;
  bool created = false;
};

LogicalResult PluginPolicy::create(StringRef options, Location location) {
  std::string message = "no reason given";
  rp_host host = makePluginHost(&message);
  if (table->create && table->create(&host, {options.data(), options.size()}, &self) != RP_OK)
    return fail(location) << "cannot start: " << message;
  created = true;
  return success();
}

/// The slots lie between bytes that must not change.
LogicalResult PluginPolicy::decide(const PolicyGraph &graph, Location location,
                                   PolicyDecisions &decisions) const {
  constexpr size_t guard = 64;
  constexpr uint8_t pattern = 0xa5;
  rp_graph view(graph);
  size_t count = view.ops.size();
  std::vector<uint8_t> slots(count + 2 * guard, pattern);
  std::fill_n(slots.begin() + guard, count, RP_NO_LABEL);
  std::string message = "no reason given";
  rp_host host = makePluginHost(&message);
  Progress progress("policy " + take(table->name).str(), 0);
  progress.update(0, "deciding on " + std::to_string(count) + " ops");
  if (table->decide(self, &host, &view, slots.data() + guard, count) != RP_OK)
    return fail(location) << "failed: " << message;
  auto isPattern = [](uint8_t byte) { return byte == pattern; };
  if (!llvm::all_of(ArrayRef(slots).take_front(guard), isPattern) ||
      !llvm::all_of(ArrayRef(slots).take_back(guard), isPattern))
    return fail(location) << "wrote outside of its " << count << " slots";
  return store(graph, ArrayRef(slots).slice(guard, count), location, decisions);
}

/// The name, and what the plugin says of the op.
StringAttr PluginPolicy::ruleOf(StringAttr name, unsigned op) const {
  rp_string reason = {nullptr, 0};
  if (table->explain(self, op, &reason) != RP_OK || reason.size == 0)
    return name;
  return StringAttr::get(name.getContext(), name.getValue() + ": " + take(reason));
}

LogicalResult PluginPolicy::store(const PolicyGraph &graph, ArrayRef<uint8_t> labels,
                                  Location location, PolicyDecisions &decisions) const {
  static constexpr Label known[] = {Label::must_save,        Label::prefer_save,
                                    Label::prefer_recompute, Label::must_recompute,
                                    Label::must_offload,     Label::prefer_offload};
  bool explains = RP_HAS(table, rp_policy, explain) && table->explain;
  auto name = StringAttr::get(location.getContext(), take(table->name));
  DenseMap<Operation *, unsigned> slots;
  for (auto [i, op] : llvm::enumerate(graph.ops)) {
    unsigned slot = slots.try_emplace(op.op, slots.size()).first->second;
    uint8_t label = labels[slot];
    if (label == RP_NO_LABEL)
      continue;
    if (label > std::size(known))
      return fail(location) << "gives " << describeOp(op.op) << " the label " << unsigned(label)
                            << ", which is none";
    decisions.ops[i].push_back({known[label - 1], explains ? ruleOf(name, slot) : name});
  }
  return success();
}

/// The plugin's table, if this compiler can work with it.
FailureOr<const rp_policy *> getTable(const Library &library, StringRef path, Location location) {
  auto fail = [&] { return emitError(location) << "policy plugin '" << path << "' "; };
  auto get = reinterpret_cast<rp_get_policy>(dlsym(library.handle, "rpGetPolicy"));
  if (!get)
    return fail() << "has no function rpGetPolicy";
  const rp_policy *table = get(RP_POLICY_ABI_MAJOR, RP_POLICY_ABI_MINOR);
  if (!table)
    return fail() << "refuses the policy ABI " << RP_POLICY_ABI_MAJOR << "." << RP_POLICY_ABI_MINOR
                  << " of this compiler";
  if (!RP_HAS(table, rp_policy, abi_minor) || table->abi_major != RP_POLICY_ABI_MAJOR)
    return fail() << "is built for the policy ABI " << table->abi_major << ", this compiler has "
                  << RP_POLICY_ABI_MAJOR;
  if (!RP_HAS(table, rp_policy, decide))
    return fail() << "gives a table of " << table->struct_size << " bytes, which is too short";
  if (!table->decide)
    return fail() << "has no function to decide";
  if (!table->name.data || table->name.size == 0)
    return fail() << "has no name";
  return table;
}

} // namespace

FailureOr<PolicyPtr> loadPlugin(StringRef text, const PolicyContext &context) {
  size_t brace = text.find('{');
  StringRef path = text.take_front(brace).trim(), options = text.substr(path.size()).trim();
  if (!options.empty())
    if (auto parsed = llvm::json::parse(options); !parsed)
      return emitError(context.location)
             << "options of policy plugin '" << path << "': " << llvm::toString(parsed.takeError());
  void *handle = dlopen(path.str().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return emitError(context.location) << "cannot load policy plugin: " << dlerror();
  auto library = std::make_unique<Library>(handle);
  auto table = getTable(*library, path, context.location);
  if (failed(table))
    return failure();
  auto policy = std::make_shared<PluginPolicy>(std::move(library), *table, path.str());
  if (failed(policy->create(options, context.location)))
    return failure();
  return PolicyPtr(policy);
}

} // namespace reprise
