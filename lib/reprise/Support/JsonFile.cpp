// reprise: JSON files of users, with errors at line and column
#include "reprise/Support/JsonFile.h"

#include "mlir/IR/Diagnostics.h"
#include "reprise/Json/JsonScanner.h"
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

std::optional<JsonFault> parseJson(StringRef text, llvm::json::Value &value) {
  JsonScanner scanner(text);
  bool isSyntax = !hasByteOrderMark(text);
  scanner.skip();
  scanner.finish();
  if (!scanner.error().empty()) {
    auto [line, column] = scanner.errorPlace();
    isSyntax &= !StringRef(scanner.errorText()).ends_with(" is repeated");
    return JsonFault{(isSyntax ? "syntax error: " : "") + scanner.errorText(),
                     static_cast<unsigned>(line), static_cast<unsigned>(column)};
  }
  llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(text);
  if (!parsed) // such as a text that is no UTF-8
    return readFault(parsed.takeError());
  value = std::move(*parsed);
  return std::nullopt;
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

LogicalResult
JsonFile::forEach(const llvm::json::Array &list, StringRef where, StringRef what,
                  function_ref<LogicalResult(const Object &, const std::string &)> visit) const {
  for (auto [i, element] : llvm::enumerate(list)) {
    std::string at = (where + "[" + Twine(i) + "]").str();
    const Object *object = element.getAsObject();
    if (!object)
      return fail(at, "expected an object with " + what);
    if (failed(visit(*object, at)))
      return failure();
  }
  return success();
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

JsonPlaces::JsonPlaces(StringRef text) {
  for (size_t at = text.find('\n'); at != StringRef::npos; at = text.find('\n', at + 1))
    lineStarts.push_back(at + 1);
  JsonScanner scanner(text);
  std::function<void(std::string)> visit = [&](const std::string &path) {
    size_t index = 0;
    offsets.try_emplace(path, scanner.offset());
    if (scanner.peek() == '{')
      scanner.readObject([&](StringRef key) {
        std::string member = (path.empty() ? path : path + ".") + key.str();
        offsets[member] = key.data() - text.data() - 1; // the quote
        visit(member);
      });
    else if (scanner.peek() == '[')
      scanner.readArray([&] { visit(path + "[" + std::to_string(index++) + "]"); });
    else
      scanner.skip();
  };
  visit("");
}

std::pair<unsigned, unsigned> JsonPlaces::find(StringRef path) const {
  size_t offset = offsets.lookup(path);
  auto after = llvm::upper_bound(lineStarts, offset);
  return {after - lineStarts.begin(), offset - *std::prev(after) + 1};
}

FileLineColLoc JsonFile::locate(StringRef where) const {
  auto [line, column] = places.find(where);
  return FileLineColLoc::get(context, path, line, column);
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
