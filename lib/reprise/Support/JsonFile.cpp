// reprise: JSON files of users, with errors at line and column
#include "reprise/Support/JsonFile.h"

#include "mlir/IR/Diagnostics.h"
#include "reprise/Planning/JsonScanner.h"
#include "reprise/Runtime/File.h"
#include "reprise/Runtime/FileKind.h"
#include "reprise/Support/Locations.h"
#include "reprise/Support/Wording.h"
#include "llvm/ADT/StringExtras.h"
#include <cerrno>
#include <system_error>

using namespace mlir;
using llvm::json::Object;

namespace reprise {

SmallVector<const Object::value_type *> sortedMembers(const Object &object) {
  SmallVector<const Object::value_type *> members(llvm::make_pointer_range(object));
  llvm::sort(members, [](const auto *a, const auto *b) {
    return StringRef(a->first) < StringRef(b->first);
  });
  return members;
}

/// Returns the first place deeper than kDeepestJson; none if there is none. Outside of strings
/// every bracket counts, whether or not the text is JSON.
static std::optional<size_t> findTooDeep(StringRef text) {
  unsigned depth = 0;
  bool isString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (isString && c == '\\')
      ++i;
    else if (c == '"')
      isString = !isString;
    else if (!isString && (c == '[' || c == '{') && ++depth > kDeepestJson)
      return i;
    else if (!isString && (c == ']' || c == '}') && depth > 0)
      --depth;
  }
  return std::nullopt;
}

/// Finds a key that stands twice in one object, which llvm::json accepts; the last value would
/// count.
static std::optional<JsonFault> findRepeatedKey(StringRef text) {
  JsonScanner scanner(text);
  scanner.skip();
  if (scanner.error().empty())
    return std::nullopt;
  JsonScanner::Place place = scanner.errorPlace();
  return JsonFault{scanner.errorText(), static_cast<unsigned>(place.line),
                   static_cast<unsigned>(place.column)};
}

/// Reads llvm::json's error "[LINE:COLUMN, byte=N]: MESSAGE".
static JsonFault readFault(llvm::Error error) {
  std::string message = llvm::toString(std::move(error));
  StringRef rest = message;
  JsonFault fault;
  if (rest.consume_front("[") && !rest.consumeInteger(10, fault.line) && rest.consume_front(":") &&
      !rest.consumeInteger(10, fault.column))
    rest = rest.split("]: ").second;
  fault.column = std::max(fault.column, 1u);
  fault.message = "syntax error: " + (rest.empty() ? message : rest.str());
  return fault;
}

static JsonFault placeFault(StringRef text, size_t at, std::string message) {
  StringRef before = text.take_front(at);
  size_t lineStart = before.rfind('\n') + 1; // 0 in the first line
  return {std::move(message), static_cast<unsigned>(before.count('\n') + 1),
          static_cast<unsigned>(at - lineStart + 1)};
}

std::optional<JsonFault> parseJson(StringRef text, llvm::json::Value &value) {
  if (text.starts_with("\xEF\xBB\xBF"))
    return JsonFault{"unexpected byte-order mark: save the file as UTF-8 without it"};
  if (std::optional<size_t> deep = findTooDeep(text))
    return placeFault(text, *deep, "syntax error: values nest too deep");
  llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(text);
  if (!parsed)
    return readFault(parsed.takeError());
  value = std::move(*parsed);
  return findRepeatedKey(text);
}

FailureOr<llvm::json::Value> parseJson(StringRef text, StringRef path, MLIRContext *context) {
  std::string wrong = runtime::findMisplaced(path.str(), text, runtime::FileKind::Json);
  if (!wrong.empty())
    return emitError(FileLineColLoc::get(context, path, 1, 1)) << wrong;
  llvm::json::Value value = nullptr;
  std::optional<JsonFault> fault = parseJson(text, value);
  if (!fault)
    return std::move(value);
  return emitError(FileLineColLoc::get(context, path, fault->line, fault->column))
         << fault->message;
}

std::string NumberRange::describe() const {
  char text[96];
  snprintf(text, sizeof text, "%sa number from %g to %g", allowsZero ? "0 or " : "", least, most);
  return text;
}

LogicalResult emitUnreadable(Location from, StringRef path, StringRef message) {
  StringRef reason = message;
  bool isNamed =
      getFlag(from).ends_with(path) && reason.consume_front(("cannot read '" + path + "': ").str());
  if (isNamed && reason == std::generic_category().message(ENOENT))
    reason = "no such file";
  return emitError(from) << (isNamed ? reason : message);
}

FailureOr<JsonFile> JsonFile::read(StringRef path, StringRef what, ArrayRef<StringRef> keys,
                                   Location from) {
  runtime::Expected<std::vector<uint8_t>> bytes = runtime::readFile(path.str());
  if (!bytes)
    return emitUnreadable(from, path, bytes.message());
  StringRef text(reinterpret_cast<const char *>(bytes->data()), bytes->size());
  FailureOr<llvm::json::Value> parsed = parseJson(text, path, from.getContext());
  if (failed(parsed))
    return failure();
  JsonFile file(path, std::move(*parsed), text, from.getContext());
  if (failed(file.checkHead(what, keys)))
    return failure();
  return file;
}

LogicalResult JsonFile::checkHead(StringRef what, ArrayRef<StringRef> keys) const {
  const Object *object = value.getAsObject();
  if (!object) {
    std::string quoted = llvm::join(
        llvm::map_range(keys, [](StringRef key) { return ("'" + key + "'").str(); }), " and ");
    return fail("", "expected an object with " + quoted);
  }
  const llvm::json::Value *version = object->get("version");
  if (!version)
    return fail("", "expected 'version'");
  if (version->getAsInteger() != 1)
    return fail("version", "this compiler reads " + what + "s of version 1");
  return success();
}

FileLineColLoc JsonFile::locate(StringRef where) const {
  JsonPlaces::Place place = places.find(where);
  return FileLineColLoc::get(context, path, place.line, place.column);
}

LogicalResult JsonFile::fail(const Twine &where, const Twine &message) const {
  return emitError(locate(where.str())) << message;
}

LogicalResult JsonFile::checkKeys(const Object &object, ArrayRef<StringRef> known,
                                  const std::string &prefix) const {
  for (const Object::value_type *member : sortedMembers(object))
    if (!llvm::is_contained(known, StringRef(member->first)))
      return fail(prefix + member->first.str(), "unknown key '" + member->first.str() + "'" +
                                                    suggest(StringRef(member->first), known));
  return success();
}

} // namespace reprise
