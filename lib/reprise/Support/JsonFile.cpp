// reprise: JSON files of users, whose errors have a line and a column
#include "reprise/Support/JsonFile.h"

#include "mlir/IR/Diagnostics.h"
#include "reprise/Runtime/File.h"
#include "llvm/ADT/StringExtras.h"

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

/// The first place that lies deeper than kDeepestJson, none if there is none. Outside of strings
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

llvm::Expected<llvm::json::Value> parseJson(StringRef text) {
  std::optional<size_t> deep = findTooDeep(text);
  if (!deep)
    return llvm::json::parse(text);
  StringRef before = text.take_front(*deep);
  size_t lineStart = before.rfind('\n') + 1; // 0 in the first line
  return llvm::make_error<llvm::json::ParseError>("values nest too deep", before.count('\n') + 1,
                                                  *deep - lineStart + 1, *deep);
}

/// llvm::json says "[LINE:COLUMN, byte=N]: MESSAGE".
FailureOr<llvm::json::Value> parseJson(StringRef text, StringRef path, MLIRContext *context) {
  llvm::Expected<llvm::json::Value> parsed = parseJson(text);
  if (parsed)
    return std::move(*parsed);
  std::string message = llvm::toString(parsed.takeError());
  StringRef rest = message;
  unsigned line = 1, column = 1;
  if (rest.consume_front("[") && !rest.consumeInteger(10, line) && rest.consume_front(":") &&
      !rest.consumeInteger(10, column))
    rest = rest.split("]: ").second;
  column = std::max(column, 1u);
  return emitError(FileLineColLoc::get(context, path, line, column))
         << "syntax error: " << (rest.empty() ? StringRef(message) : rest);
}

std::string NumberRange::describe() const {
  char text[96];
  snprintf(text, sizeof text, "%sa number from %g to %g", allowsZero ? "0 or " : "", least, most);
  return text;
}

FailureOr<JsonFile> JsonFile::read(StringRef path, StringRef what, ArrayRef<StringRef> keys,
                                   Location from) {
  runtime::Expected<std::vector<uint8_t>> bytes = runtime::readFile(path.str());
  if (!bytes)
    return emitError(from) << what << ": " << bytes.message();
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
      return fail(prefix + member->first.str(), "unknown key '" + member->first.str() +
                                                    "', expected one of " +
                                                    llvm::join(known, ", "));
  return success();
}

} // namespace reprise
