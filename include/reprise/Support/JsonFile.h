// reprise: JSON files of users, with errors at line and column
#ifndef REPRISE_SUPPORT_JSONFILE_H
#define REPRISE_SUPPORT_JSONFILE_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"

namespace reprise {

/// Fault of a text as JSON, with line and column from 1.
struct JsonFault {
  std::string message;
  unsigned line = 1, column = 1;
};

/// Reads a text as JSON. Errors, with their places: a syntax error; a key that stands twice in one
/// object; a byte-order mark; too many nested values, since llvm::json recurses into them.
std::optional<JsonFault> parseJson(llvm::StringRef text, llvm::json::Value &value);
/// Reads the text of a file at `path`; reports a fault at its line and column.
mlir::FailureOr<llvm::json::Value> parseJson(llvm::StringRef text, llvm::StringRef path,
                                             mlir::MLIRContext *context);

/// Returns the members in a deterministic order.
llvm::SmallVector<const llvm::json::Object::value_type *>
sortedMembers(const llvm::json::Object &object);

/// Range of numbers that a file may give.
struct NumberRange {
  double least, most;
  bool allowsZero;

  bool holds(double number) const {
    return (number >= least && number <= most) || (allowsZero && number == 0);
  }
  /// Returns a text such as "0 or a number from 1 to 1e+24".
  std::string describe() const;
};

/// Reports that a file cannot be read; `message` is that of runtime::readFile. If a flag names the
/// file, the message is short: "--policy=rules.json: no such file".
mlir::LogicalResult emitUnreadable(mlir::Location from, llvm::StringRef path,
                                   llvm::StringRef message);

/// Lines and columns, from 1, of the values of a valid JSON text by their paths: "" is the whole, a
/// deeper path is rules[2].match.kind. The place of a member of an object is that of its key.
/// llvm::json has places only for syntax errors.
class JsonPlaces {
public:
  explicit JsonPlaces(llvm::StringRef text);
  std::pair<unsigned, unsigned> find(llvm::StringRef path) const;

private:
  llvm::StringMap<size_t> offsets;
  std::vector<size_t> lineStarts = {0};
};

class JsonFile {
public:
  /// Reads an object. `what` is the kind of file for messages, such as "rule file". Errors: a file
  /// that cannot be read, at `from`; a text that is no JSON; a value other than an object with
  /// `keys`, the first of them "version", which must be 1.
  static mlir::FailureOr<JsonFile> read(llvm::StringRef path, llvm::StringRef what,
                                        llvm::ArrayRef<llvm::StringRef> keys, mlir::Location from);

  const llvm::json::Object &root() const { return *value.getAsObject(); }
  llvm::StringRef getPath() const { return path; }

  /// Returns the location of a path of JsonPlaces, such as rules[2].match.kind.
  mlir::FileLineColLoc locate(llvm::StringRef where) const;
  mlir::LogicalResult fail(const llvm::Twine &where, const llvm::Twine &message) const;
  /// Fails if the object has a key outside of `known`; paths of its members start with `prefix`.
  mlir::LogicalResult checkKeys(const llvm::json::Object &object,
                                llvm::ArrayRef<llvm::StringRef> known,
                                const std::string &prefix) const;

  /// Visits the elements of a list of objects with their paths, `where`[0] and so on. Fails at an
  /// element that is no object, which the message calls `what`, and where `visit` fails.
  mlir::LogicalResult
  forEach(const llvm::json::Array &list, llvm::StringRef where, llvm::StringRef what,
          llvm::function_ref<mlir::LogicalResult(const llvm::json::Object &, const std::string &)>
              visit) const;

private:
  JsonFile(llvm::StringRef path, llvm::json::Value value, llvm::StringRef text,
           mlir::MLIRContext *context)
      : path(path), value(std::move(value)), places(text), context(context) {}

  mlir::LogicalResult checkHead(llvm::StringRef what, llvm::ArrayRef<llvm::StringRef> keys) const;

  std::string path;
  llvm::json::Value value;
  JsonPlaces places;
  mlir::MLIRContext *context;
};

} // namespace reprise

#endif // REPRISE_SUPPORT_JSONFILE_H
