// reprise: the built-in policies, and the composition of labels from several sources.
#include "reprise/Policy/Policy.h"

#include "Builtins.h"
#include "Plugin.h"
#include "reprise/Policy/Rules.h"
#include "reprise/Policy/Table.h"
#include "reprise/Support/Wording.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace reprise {

namespace {
/// Registry of policies that a context's dialect carries.
class PolicyTable : public DialectInterface::Base<PolicyTable> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PolicyTable)
  explicit PolicyTable(Dialect *dialect) : Base(dialect) {}
  PolicyRegistry registry;
};
} // namespace

void registerPolicies(DialectRegistry &registry) {
  registry.addExtension(
      +[](MLIRContext *, RepriseDialect *dialect) { dialect->addInterfaces<PolicyTable>(); });
}

PolicyRegistry::PolicyRegistry() { addBuiltins(*this); }

PolicyRegistry &PolicyRegistry::of(MLIRContext *context) {
  auto *dialect = context->getLoadedDialect<RepriseDialect>();
  auto *table = dialect ? dialect->getRegisteredInterface<PolicyTable>() : nullptr;
  if (!table)
    llvm::report_fatal_error("the context has no policies: call registerAllDialects first");
  return table->registry;
}

std::string PolicyContext::findFile(StringRef path) const {
  if (folder.empty() || llvm::sys::path::is_absolute(path))
    return path.str();
  SmallString<256> beside(folder);
  llvm::sys::path::append(beside, path);
  return beside.str().str();
}

bool PolicyRegistry::add(Entry entry) {
  std::string name = entry.name;
  return entries.emplace(std::move(name), std::move(entry)).second;
}

bool PolicyRegistry::add(std::string name, std::string summary,
                         std::function<std::optional<Label>(Operation *)> labelOp,
                         std::function<std::optional<Label>(StringRef)> labelName) {
  PolicyPtr policy = makeSingleOpPolicy(name, std::move(labelOp), std::move(labelName));
  auto make = [policy](ArrayRef<StringRef>, const PolicyContext &) -> FailureOr<PolicyPtr> {
    return policy;
  };
  return add({std::move(name), std::move(summary), "", make});
}

const PolicyRegistry::Entry *PolicyRegistry::find(StringRef name) const {
  auto found = entries.find(std::string_view(name));
  return found == entries.end() ? nullptr : &found->second;
}

std::vector<std::string> PolicyRegistry::names() const {
  std::vector<std::string> result;
  for (const auto &[name, entry] : entries)
    if (entry.arguments.empty())
      result.push_back(name);
  return result;
}

SmallVector<StringRef> splitPolicies(StringRef text) {
  SmallVector<StringRef> parts;
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    char c = i < text.size() ? text[i] : ',';
    depth += c == '(' || c == '{' || c == '[';
    depth -= c == ')' || c == '}' || c == ']';
    if (c != ',' || (depth > 0 && i < text.size()))
      continue;
    parts.push_back(text.slice(begin, i).trim());
    begin = i + 1;
  }
  return parts;
}

/// The name that was meant, or all names with their arguments.
static std::string suggestPolicy(StringRef given, const PolicyRegistry &registry) {
  std::vector<std::string> names, known;
  for (const auto &[name, entry] : registry.all()) {
    names.push_back(name);
    known.push_back(entry.arguments.empty() ? name : name + "(" + entry.arguments + ")");
  }
  std::string nearest = findNearest(given, names);
  return nearest.empty() ? ", expected one of " + llvm::join(known, ", ")
                         : ", did you mean '" + nearest + "'?";
}

FailureOr<PolicyContext> enterPolicy(StringRef policy, const PolicyContext &context) {
  PolicyContext inner = context;
  inner.within.push_back(policy.str());
  if (!llvm::is_contained(context.within, policy))
    return inner;
  return emitError(context.location)
         << "policy '" << policy << "' refers to itself: " << llvm::join(inner.within, " -> ");
}

static constexpr StringLiteral kPluginPrefix = "plugin:";

bool isPolicyFile(StringRef text) {
  text = text.trim();
  return text.starts_with(kPluginPrefix) || text.ends_with(".json");
}

std::string findWrongPolicy(StringRef name, const rp_policy &table) {
  if (name.empty() || name != name.trim() || name.starts_with("@") || isPolicyFile(name) ||
      name.find_first_of("()[]{},") != StringRef::npos)
    return "'" + name.str() +
           "' cannot be the name of a policy, because the option 'policy' would read this text "
           "differently";
  std::string wrong = checkTable(table);
  return wrong.empty() ? "" : "policy '" + name.str() + "' " + wrong;
}

FailureOr<PolicyPtr> parsePolicy(StringRef text, const PolicyContext &context) {
  text = text.trim();
  if (StringRef plugin = text; plugin.consume_front(kPluginPrefix))
    return loadPlugin(plugin, context);
  if (text.ends_with(".json"))
    return readRuleFile(context.findFile(text), context);
  if (StringRef symbol = text; symbol.consume_front("@"))
    return readPolicyOp(symbol, context);
  auto [name, rest] = text.split('(');
  name = name.trim();
  bool hasArguments = text.contains('(');
  if (hasArguments && !rest.consume_back(")"))
    return emitError(context.location) << "expected ')' at the end of policy '" << text << "'";
  const PolicyRegistry &registry = PolicyRegistry::of(context.location.getContext());
  const PolicyRegistry::Entry *entry = registry.find(name);
  if (!entry)
    return emitError(context.location)
           << "unknown policy '" << name << "'" << suggestPolicy(name, registry);
  if (hasArguments == entry->arguments.empty())
    return emitError(context.location)
           << "policy '" << name << "' expects "
           << (hasArguments ? "no arguments" : "arguments: " + name + "(" + entry->arguments + ")");
  return entry->make(hasArguments ? splitPolicies(rest) : SmallVector<StringRef>(), context);
}

std::optional<Label> getIntrinsicLabel(Operation *op) {
  if (isa<ElementwiseOpInterface, MaxPoolOp>(op) || op->getNumOperands() == 0)
    return std::nullopt;
  bool fromFloats = isa<FloatType>(getElementTypeOrSelf(op->getOperand(0).getType()));
  bool discrete = llvm::any_of(op->getResultTypes(),
                               [](Type type) { return getElementTypeOrSelf(type).isIntOrIndex(); });
  return fromFloats && discrete ? std::optional(Label::prefer_save) : std::nullopt;
}

const LabelSource *resolveLabels(ArrayRef<LabelSource> sources,
                                 std::optional<std::pair<LabelSource, LabelSource>> &clash) {
  const LabelSource *must = nullptr;
  for (const LabelSource &source : sources) {
    if (!isMust(source.label))
      continue;
    if (must && must->label != source.label) {
      clash.emplace(*must, source);
      return nullptr;
    }
    if (!must)
      must = &source;
  }
  if (must)
    return must;
  return sources.empty() ? nullptr : &sources.front();
}

} // namespace reprise
