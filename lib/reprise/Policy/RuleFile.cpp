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
  LogicalResult readKey(StringRef key, const JsonValue &value, const std::string &where,
                        Selector &selector);
  LogicalResult readCount(const JsonValue &value, const std::string &where, int64_t &count);
  FailureOr<Label> readLabel(const JsonValue &value, const std::string &where);
  Rule makeRule(Selector selector, Label label, const std::string &where) const;

  /// Takes what `create` makes of a text.
  template <class T>
  LogicalResult read(const JsonValue &value, const std::string &where, std::optional<T> &to) {
    std::optional<StringRef> given = value.getAsString();
    if (!given)
      return fail(where, "expected a string");
    llvm::Expected<T> made = T::create(*given);
    if (!made)
      return fail(where, llvm::toString(made.takeError()));
    to = std::move(*made);
    return success();
  }

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

LogicalResult Reader::readCount(const JsonValue &value, const std::string &where, int64_t &count) {
  std::optional<int64_t> given = value.getAsInteger();
  if (!given || *given < 1)
    return fail(where, "expected a positive integer");
  count = *given;
  return success();
}

LogicalResult Reader::readKey(StringRef key, const JsonValue &value, const std::string &where,
                              Selector &selector) {
  if (key == "op")
    return read(value, where, selector.op);
  if (key == "name")
    return read(value, where, selector.name);
  if (key == "scope")
    return read(value, where, selector.scope);
  if (key == "bytes")
    return read(value, where, selector.bytes);
  if (key == "flops")
    return read(value, where, selector.flops);
  if (key == "every")
    return readCount(value, where, selector.every);
  if (key == "first")
    return readCount(value, where, selector.first);
  if (key == "last")
    return readCount(value, where, selector.last);
  if (key == "kind") {
    selector.kind = parseOpKind(value.getAsString().value_or(""));
    return selector.kind
               ? success()
               : fail(where, "expected a kind, one of " + llvm::join(opKindNames(), ", "));
  }
  if (key == "dtype") {
    selector.dtype = value.getAsString().value_or("").str();
    static constexpr StringLiteral dtypes[] = {"bf16", "f16", "f32", "f64", "i1", "i32", "i64"};
    return llvm::is_contained(dtypes, selector.dtype)
               ? success()
               : fail(where, "expected a dtype, one of " + llvm::join(ArrayRef(dtypes), ", "));
  }
  return fail(where, "unknown key '" + key +
                         "', expected one of op, name, scope, bytes, flops, "
                         "kind, dtype, every, first, last");
}

LogicalResult Reader::readRule(const Object &entry, const std::string &where) {
  if (fallback)
    return fail(where, "no rule can match behind the default");
  if (failed(checkKeys(entry, {"match", "label", "default"}, where + ".")))
    return failure();
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
  for (const Object::value_type *member : sortedMembers(*match))
    if (failed(readKey(member->first, member->second, where + ".match." + member->first.str(),
                       selector)))
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
  return Reader(path, (*buffer)->getBuffer(), context).run();
}

} // namespace reprise
