// reprise: calls of a policy behind the C interface
#include "PluginChild.h"

#include "PluginGraph.h"
#include "reprise/Policy/Table.h"
#include "reprise/Support/Wording.h"

#include <cstring>
#include <dlfcn.h>

using namespace reprise;
using llvm::ArrayRef;
using llvm::StringRef;

static void put(std::string &bytes, StringRef text) {
  uint64_t size = text.size();
  bytes.append(reinterpret_cast<const char *>(&size), sizeof size);
  bytes += text;
}

std::string PluginAnswer::write() const {
  std::string bytes;
  put(bytes, error);
  put(bytes, name);
  put(bytes, StringRef(reinterpret_cast<const char *>(labels.data()), labels.size()));
  for (const std::string &reason : reasons)
    put(bytes, reason);
  return bytes;
}

static bool get(StringRef &bytes, StringRef &text) {
  uint64_t size = 0;
  if (bytes.size() < sizeof size)
    return false;
  std::memcpy(&size, bytes.data(), sizeof size);
  bytes = bytes.drop_front(sizeof size);
  if (bytes.size() < size)
    return false;
  text = bytes.take_front(size);
  bytes = bytes.drop_front(size);
  return true;
}

bool PluginAnswer::read(StringRef bytes) {
  StringRef text;
  if (!get(bytes, text))
    return false;
  error = text.str();
  if (!get(bytes, text))
    return false;
  name = text.str();
  if (!get(bytes, text))
    return false;
  labels.assign(text.bytes_begin(), text.bytes_end());
  reasons.clear();
  while (!bytes.empty()) {
    if (!get(bytes, text))
      return false;
    reasons.push_back(text.str());
  }
  return reasons.size() == (error.empty() ? labels.size() : 0);
}

std::string reprise::checkTable(const rp_policy &table) {
  std::string own = std::to_string(RP_POLICY_ABI_MAJOR);
  if (RP_HAS(&table, rp_policy, abi_minor) && table.abi_major != RP_POLICY_ABI_MAJOR)
    return "is built for policy ABI " + std::to_string(table.abi_major) +
           ", this compiler has ABI " + own;
  if (!RP_HAS(&table, rp_policy, decide))
    return "has a table of " + groupDigits(table.struct_size) + " bytes, too short for ABI " + own +
           ", which needs " + std::to_string(offsetof(rp_policy, decide) + sizeof(table.decide));
  if (!table.decide)
    return "has no function 'decide'";
  return !table.name.data || table.name.size == 0 ? "has no name" : "";
}

/// Returns the library's table, if this compiler supports it; otherwise null, with the reason in
/// `error`.
static const rp_policy *getTable(void *library, std::string &error) {
  auto get = reinterpret_cast<rp_get_policy>(dlsym(library, "rpGetPolicy"));
  if (!get) {
    error = "has no function rpGetPolicy";
    return nullptr;
  }
  const rp_policy *table = get(RP_POLICY_ABI_MAJOR, RP_POLICY_ABI_MINOR);
  if (!table)
    error = "refuses policy ABI " + std::to_string(RP_POLICY_ABI_MAJOR) + "." +
            std::to_string(RP_POLICY_ABI_MINOR) + ", which this compiler has";
  else
    error = checkTable(*table);
  return error.empty() ? table : nullptr;
}

/// The slots lie between bytes that must not change.
static void decide(const rp_policy *table, void *self, const rp_graph &graph,
                   PluginAnswer &answer) {
  constexpr size_t guard = 64;
  constexpr uint8_t pattern = 0xa5;
  size_t count = graph.ops.size();
  std::vector<uint8_t> slots(count + 2 * guard, pattern);
  std::fill_n(slots.begin() + guard, count, RP_NO_LABEL);
  std::string message = "no reason given";
  rp_host host = makePluginHost(&message);
  if (table->decide(self, &host, &graph, slots.data() + guard, count) != RP_OK) {
    answer.error = "failed: " + message;
    return;
  }
  auto isPattern = [](uint8_t byte) { return byte == pattern; };
  if (!llvm::all_of(ArrayRef(slots).take_front(guard), isPattern) ||
      !llvm::all_of(ArrayRef(slots).take_back(guard), isPattern))
    answer.error = "wrote outside its " + std::to_string(count) + " slots";
  answer.labels.assign(slots.begin() + guard, slots.end() - guard);
}

static void explain(const rp_policy *table, void *self, PluginAnswer &answer) {
  bool explains = RP_HAS(table, rp_policy, explain) && table->explain;
  answer.reasons.resize(answer.labels.size());
  for (size_t op = 0; explains && op < answer.labels.size(); ++op) {
    rp_string reason = {nullptr, 0};
    if (answer.labels[op] == RP_NO_LABEL || table->explain(self, op, &reason) != RP_OK)
      continue;
    std::optional<std::string> text = copyString(reason);
    if (!text) {
      answer.error = "gives op " + std::to_string(op) + " a reason that is a null string of " +
                     groupDigits(reason.size) + " bytes";
      return answer.reasons.clear();
    }
    answer.reasons[op] = *text;
  }
}

PluginAnswer reprise::askTable(const rp_policy &table, void *self, const rp_graph &graph) {
  PluginAnswer answer;
  answer.error = checkTable(table);
  if (!answer.error.empty())
    return answer;
  answer.name = copyString(table.name).value_or("");
  decide(&table, self, graph, answer);
  if (answer.error.empty())
    explain(&table, self, answer);
  return answer;
}

PluginAnswer reprise::askPlugin(const std::string &path, StringRef options, const rp_graph &graph) {
  PluginAnswer answer;
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    answer.error = std::string("cannot be loaded: ") + dlerror();
    return answer;
  }
  const rp_policy *table = getTable(library, answer.error);
  if (!table)
    return answer;
  std::string message = "no reason given";
  rp_host host = makePluginHost(&message);
  void *self = nullptr;
  if (table->create && table->create(&host, {options.data(), options.size()}, &self) != RP_OK) {
    answer.error = "cannot start: " + message;
    return answer;
  }
  answer = askTable(*table, self, graph);
  if (table->destroy)
    table->destroy(self);
  return answer;
}
