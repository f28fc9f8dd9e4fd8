// reprise: rule sets as JSON files
#include "reprise/Policy/Rules.h"

#include "reprise/Support/JsonFile.h"
#include "reprise/Support/Wording.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using llvm::json::Array;
using llvm::json::Object;
using JsonValue = llvm::json::Value;

namespace reprise {
namespace {

class Reader {
public:
  Reader(const JsonFile &file, const PolicyContext &context) : file(file), context(context) {}

  FailureOr<PolicyPtr> run();

private:
  LogicalResult readRules(const Array &list);
  LogicalResult readRule(const Object &entry, const std::string &where);
  LogicalResult readSelector(const Object &match, const std::string &where, Selector &selector);
  LogicalResult readPolicy(const JsonValue &value, const std::string &where);
  FailureOr<Label> readLabel(const JsonValue &value, const std::string &where);
  Rule makeRule(Selector selector, Label label, const std::string &where) const;

  const JsonFile &file;
  const PolicyContext &context;
  std::vector<Rule> rules;
  std::optional<Rule> fallback;
};

Rule Reader::makeRule(Selector selector, Label label, const std::string &where) const {
  FileLineColLoc location = file.locate(where);
  std::string shown = (llvm::sys::path::filename(file.getPath()) + ":" + Twine(location.getLine()) +
                       ":" + Twine(location.getColumn()))
                          .str();
  return {std::move(selector), label, location, shown};
}

FailureOr<Label> Reader::readLabel(const JsonValue &value, const std::string &where) {
  std::optional<Label> label = symbolizeLabel(value.getAsString().value_or(""));
  if (label)
    return *label;
  SmallVector<StringRef> names;
  for (uint32_t i = 1; std::optional<Label> known = symbolizeLabel(i); ++i)
    names.push_back(stringifyLabel(*known));
  StringRef given = value.getAsString().value_or("");
  return file.fail(where, given.empty()
                              ? "expected a label, one of " + llvm::join(names, ", ")
                              : "unknown label '" + given.str() + "'" + suggest(given, names));
}

LogicalResult Reader::readSelector(const Object &match, const std::string &where,
                                   Selector &selector) {
  for (const Object::value_type *member : sortedMembers(match))
    if (llvm::Error error = readKey(StringRef(member->first), member->second.getAsString(),
                                    member->second.getAsInteger(), selector))
      return file.fail(where + "." + member->first.str(), llvm::toString(std::move(error)));
  return success();
}

/// Reads a policy; relative paths in a rule file are relative to the folder of that file.
LogicalResult Reader::readPolicy(const JsonValue &value, const std::string &where) {
  std::optional<StringRef> text = value.getAsString();
  if (!text)
    return file.fail(where, "expected a string with a policy");
  PolicyContext own = context;
  own.location = file.locate(where);
  own.folder = llvm::sys::path::parent_path(file.getPath());
  FailureOr<PolicyPtr> policy = parsePolicy(*text, own);
  if (failed(policy))
    return failure();
  rules.push_back(makeRule({}, Label::must_save, where));
  rules.back().policy = *policy;
  return success();
}

LogicalResult Reader::readRule(const Object &entry, const std::string &where) {
  if (fallback)
    return file.fail(where, "expected no rule behind the default, which matches all ops");
  if (failed(file.checkKeys(entry, {"match", "label", "default", "policy"}, where + ".")))
    return failure();
  if (const JsonValue *policy = entry.get("policy"))
    return entry.size() == 1 ? readPolicy(*policy, where + ".policy")
                             : file.fail(where, "expected no key beside 'policy'");
  if (const JsonValue *label = entry.get("default")) {
    if (entry.size() != 1)
      return file.fail(where, "expected no key beside 'default'");
    FailureOr<Label> given = readLabel(*label, where + ".default");
    if (succeeded(given))
      fallback = makeRule({}, *given, where);
    return given;
  }
  const Object *match = entry.getObject("match");
  if (!match || match->empty())
    return file.fail(where, "expected 'match' with one key or more");
  if (!entry.get("label"))
    return file.fail(where, "expected 'label'");
  Selector selector;
  if (failed(readSelector(*match, where + ".match", selector)))
    return failure();
  FailureOr<Label> label = readLabel(*entry.get("label"), where + ".label");
  if (succeeded(label))
    rules.push_back(makeRule(std::move(selector), *label, where));
  return label;
}

LogicalResult Reader::readRules(const Array &list) {
  return file.forEach(list, "rules", "a rule", [&](const Object &entry, const std::string &where) {
    return LogicalResult(readRule(entry, where));
  });
}

FailureOr<PolicyPtr> Reader::run() {
  const Object &root = file.root();
  if (failed(file.checkKeys(root, {"version", "rules"}, "")))
    return failure();
  const Array *list = root.getArray("rules");
  if (!list)
    return file.fail(root.get("rules") ? "rules" : "", "expected 'rules', an array");
  if (failed(readRules(*list)))
    return failure();
  return PolicyPtr(std::make_shared<RuleSet>(std::move(rules), std::move(fallback),
                                             context.allowUnmatchedRules));
}

} // namespace

FailureOr<PolicyPtr> readRuleFile(StringRef path, const PolicyContext &context) {
  FailureOr<PolicyContext> own = enterPolicy(path, context);
  if (failed(own))
    return failure();
  FailureOr<JsonFile> file =
      JsonFile::read(path, "rule file", {"version", "rules"}, context.location);
  if (failed(file))
    return failure();
  return Reader(*file, *own).run();
}

} // namespace reprise
