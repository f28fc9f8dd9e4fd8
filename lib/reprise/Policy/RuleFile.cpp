// reprise: rule sets as JSON files
#include "JsonPlaces.h"
#include "reprise/Policy/Rules.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using llvm::json::Array;
using llvm::json::Object;
using JsonValue = llvm::json::Value;

namespace reprise {
namespace {

/// In an order that is always the same.
SmallVector<const Object::value_type *> sortedMembers(const Object &object) {
  SmallVector<const Object::value_type *> members(llvm::make_pointer_range(object));
  llvm::sort(members, [](const auto *a, const auto *b) {
    return StringRef(a->first) < StringRef(b->first);
  });
  return members;
}

class Reader {
public:
  Reader(StringRef path, StringRef text, const PolicyContext &context)
      : path(path), text(text), context(context) {}

  FailureOr<PolicyPtr> run();

private:
  Location locate(StringRef where) const {
    JsonPlaces::Place place = places->find(where);
    return FileLineColLoc::get(context.location.getContext(), path, place.line, place.column);
  }
  LogicalResult fail(const Twine &where, const Twine &message) const {
    return emitError(locate(where.str())) << message;
  }
  LogicalResult reportSyntax(llvm::Error error) const;
  LogicalResult checkKeys(const Object &object, ArrayRef<StringRef> known,
                          const std::string &prefix) const;
  LogicalResult readRules(const Array &list);
  LogicalResult readRule(const Object &entry, const std::string &where);
  LogicalResult readSelector(const Object &match, const std::string &where, Selector &selector);
  LogicalResult readPolicy(const JsonValue &value, const std::string &where);
  FailureOr<Label> readLabel(const JsonValue &value, const std::string &where);
  Rule makeRule(Selector selector, Label label, const std::string &where) const;

  StringRef path, text;
  const PolicyContext &context;
  std::optional<JsonPlaces> places; ///< once the text is known to be JSON
  std::vector<Rule> rules;
  std::optional<Rule> fallback;
};

Rule Reader::makeRule(Selector selector, Label label, const std::string &where) const {
  auto location = cast<FileLineColLoc>(locate(where));
  std::string shown = (llvm::sys::path::filename(path) + ":" + Twine(location.getLine()) + ":" +
                       Twine(location.getColumn()))
                          .str();
  return {std::move(selector), label, location, shown};
}

/// llvm::json says "[LINE:COLUMN, byte=N]: MESSAGE".
LogicalResult Reader::reportSyntax(llvm::Error error) const {
  std::string message = llvm::toString(std::move(error));
  StringRef rest = message;
  unsigned line = 1, column = 1;
  if (rest.consume_front("[") && !rest.consumeInteger(10, line) && rest.consume_front(":") &&
      !rest.consumeInteger(10, column))
    rest = rest.split("]: ").second;
  column = std::max(column, 1u);
  return emitError(FileLineColLoc::get(context.location.getContext(), path, line, column))
         << "syntax error: " << (rest.empty() ? StringRef(message) : rest);
}

LogicalResult Reader::checkKeys(const Object &object, ArrayRef<StringRef> known,
                                const std::string &prefix) const {
  for (const Object::value_type *member : sortedMembers(object))
    if (!llvm::is_contained(known, StringRef(member->first)))
      return fail(prefix + member->first.str(), "unknown key '" + member->first.str() +
                                                    "', expected one of " +
                                                    llvm::join(known, ", "));
  return success();
}

FailureOr<Label> Reader::readLabel(const JsonValue &value, const std::string &where) {
  std::optional<Label> label = symbolizeLabel(value.getAsString().value_or(""));
  if (label)
    return *label;
  SmallVector<StringRef> names;
  for (uint32_t i = 0; std::optional<Label> known = symbolizeLabel(i); ++i)
    names.push_back(stringifyLabel(*known));
  return fail(where, "expected a label, one of " + llvm::join(names, ", "));
}

LogicalResult Reader::readSelector(const Object &match, const std::string &where,
                                   Selector &selector) {
  for (const Object::value_type *member : sortedMembers(match))
    if (llvm::Error error = readKey(StringRef(member->first), member->second.getAsString(),
                                    member->second.getAsInteger(), selector))
      return fail(where + "." + member->first.str(), llvm::toString(std::move(error)));
  return success();
}

/// Files that a rule file names lie beside it.
LogicalResult Reader::readPolicy(const JsonValue &value, const std::string &where) {
  std::optional<StringRef> text = value.getAsString();
  if (!text)
    return fail(where, "expected a policy, a string");
  SmallString<256> file(*text);
  if (text->ends_with(".json") && !text->contains('(') && llvm::sys::path::is_relative(*text)) {
    file = llvm::sys::path::parent_path(path);
    llvm::sys::path::append(file, *text);
  }
  PolicyContext own = context;
  own.location = locate(where);
  FailureOr<PolicyPtr> policy = parsePolicy(file, own);
  if (failed(policy))
    return failure();
  rules.push_back(makeRule({}, Label::must_save, where));
  rules.back().policy = *policy;
  return success();
}

LogicalResult Reader::readRule(const Object &entry, const std::string &where) {
  if (fallback)
    return fail(where, "no rule can match behind the default");
  if (failed(checkKeys(entry, {"match", "label", "default", "policy"}, where + ".")))
    return failure();
  if (const JsonValue *policy = entry.get("policy"))
    return entry.size() == 1 ? readPolicy(*policy, where + ".policy")
                             : fail(where, "a policy has nothing beside it");
  if (const JsonValue *label = entry.get("default")) {
    if (entry.size() != 1)
      return fail(where, "a default has nothing but a label");
    FailureOr<Label> given = readLabel(*label, where + ".default");
    if (succeeded(given))
      fallback = makeRule({}, *given, where);
    return given;
  }
  const Object *match = entry.getObject("match");
  if (!match || match->empty())
    return fail(where, "expected 'match' with one key or more");
  if (!entry.get("label"))
    return fail(where, "expected 'label'");
  Selector selector;
  if (failed(readSelector(*match, where + ".match", selector)))
    return failure();
  FailureOr<Label> label = readLabel(*entry.get("label"), where + ".label");
  if (succeeded(label))
    rules.push_back(makeRule(std::move(selector), *label, where));
  return label;
}

LogicalResult Reader::readRules(const Array &list) {
  for (auto [i, value] : llvm::enumerate(list)) {
    std::string where = "rules[" + std::to_string(i) + "]";
    const Object *entry = value.getAsObject();
    if (!entry)
      return fail(where, "expected a rule, an object");
    if (failed(readRule(*entry, where)))
      return failure();
  }
  return success();
}

FailureOr<PolicyPtr> Reader::run() {
  llvm::Expected<JsonValue> parsed = llvm::json::parse(text);
  if (!parsed)
    return reportSyntax(parsed.takeError());
  places.emplace(text);
  const Object *file = parsed->getAsObject();
  if (!file)
    return fail("", "expected an object with 'version' and 'rules'");
  if (failed(checkKeys(*file, {"version", "rules"}, "")))
    return failure();
  const JsonValue *version = file->get("version");
  if (!version)
    return fail("", "expected 'version'");
  if (version->getAsInteger() != 1)
    return fail("version", "this compiler reads rule files of version 1");
  const Array *list = file->getArray("rules");
  if (!list)
    return fail(file->get("rules") ? "rules" : "", "expected 'rules', an array");
  if (failed(readRules(*list)))
    return failure();
  return PolicyPtr(std::make_shared<RuleSet>(std::move(rules), std::move(fallback),
                                             context.allowUnmatchedRules));
}

} // namespace

FailureOr<PolicyPtr> readRuleFile(StringRef path, const PolicyContext &context) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    return emitError(context.location)
           << "cannot read rule file '" << path << "': " << buffer.getError().message();
  FailureOr<PolicyContext> own = enterPolicy(path, context);
  if (failed(own))
    return failure();
  return Reader(path, (*buffer)->getBuffer(), *own).run();
}

} // namespace reprise
