// reprise: tables of the attributes that passes and models put on ops, arguments and results
#ifndef REPRISE_DIALECT_REPRISE_IR_ATTRIBUTETABLE_H
#define REPRISE_DIALECT_REPRISE_IR_ATTRIBUTETABLE_H

#include "mlir/IR/Operation.h"
#include <string>

namespace reprise {

/// Op, or an argument or a result of a function, with an attribute.
struct AttributePlace {
  enum Kind { Op, Argument, Result };

  Kind kind;
  mlir::Operation *op;
  unsigned number = 0;  ///< number of the argument or the result
  mlir::Type type = {}; ///< type of the argument or the result
};

/// Set of places, and its name after "on" in messages.
struct PlaceKind {
  llvm::StringLiteral words;
  bool (*contains)(const AttributePlace &place);
};

/// Set of values, and its name after "to be" in messages.
struct ValueKind {
  llvm::StringLiteral words;
  bool (*contains)(const AttributePlace &place, mlir::Attribute value);
  /// Returns a closer message for a value that is not in the set; null or empty for "to be
  /// {words}".
  std::string (*explain)(const AttributePlace &place, mlir::Attribute value) = nullptr;
};

/// Row of the table of attributes. Verifier and documentation use only the row.
struct AttributeRow {
  llvm::StringLiteral name;
  PlaceKind place;
  ValueKind value;
  /// First phase whose result may have the attribute; "model" if a model may have the attribute.
  llvm::StringLiteral first;
  /// Last phase whose result may have the attribute; empty if `first` removes the attribute.
  llvm::StringLiteral last;
  llvm::StringLiteral meaning;
};

/// Finds the row of `name`; null if the table has none.
const AttributeRow *findAttribute(llvm::ArrayRef<AttributeRow> table, llvm::StringRef name);

/// Verifies the name, the place and the value of an attribute. Errors stand at the op. The verifier
/// of MLIR calls this function before it has checked the operands and the regions of the op.
mlir::LogicalResult verifyAttribute(llvm::ArrayRef<AttributeRow> table, const AttributePlace &place,
                                    mlir::NamedAttribute attribute);
/// Verifies an attribute of an argument of a function.
mlir::LogicalResult verifyArgumentAttribute(llvm::ArrayRef<AttributeRow> table, mlir::Operation *op,
                                            unsigned number, mlir::NamedAttribute attribute);
/// Verifies an attribute of a result of a function.
mlir::LogicalResult verifyResultAttribute(llvm::ArrayRef<AttributeRow> table, mlir::Operation *op,
                                          unsigned number, mlir::NamedAttribute attribute);

/// Removes from `root` and from all ops in `root` the attributes whose last phase is `last`. The
/// pass that follows `last` and reads these attributes calls this function at its end.
void dropAttributes(mlir::Operation *root, llvm::ArrayRef<AttributeRow> table,
                    llvm::StringRef last);

/// Lists the attributes of the dialect `reprise`.
llvm::ArrayRef<AttributeRow> getAttributeTable();

//===-- Places and values of several rows -----------------------------------------------------===//

bool isOpOfFunction(const AttributePlace &place);
bool isFunction(const AttributePlace &place);
bool isFunctionOrModule(const AttributePlace &place);
bool isLoop(const AttributePlace &place);
bool isArgument(const AttributePlace &place);
bool isResult(const AttributePlace &place);
bool isArgumentOrResult(const AttributePlace &place);

inline constexpr PlaceKind kOnOp{"an op of a function", isOpOfFunction};
inline constexpr PlaceKind kOnFunction{"a function", isFunction};
inline constexpr PlaceKind kOnFunctionOrModule{"a function or on a module", isFunctionOrModule};
inline constexpr PlaceKind kOnLoop{"a loop", isLoop};
inline constexpr PlaceKind kOnArgument{"an argument of a function", isArgument};
inline constexpr PlaceKind kOnResult{"a result of a function", isResult};
inline constexpr PlaceKind kOnArgumentOrResult{"an argument or a result of a function",
                                               isArgumentOrResult};

/// Largest number that passes can add or count on from without an overflow.
inline constexpr int64_t kMostOfCount = (int64_t(1) << 62) - 1;
/// Largest number of a stage or micro-batch.
inline constexpr int64_t kMostOfIndex = (int64_t(1) << 20) - 1;

/// Returns true for an i64 from 0 to `most`.
bool isNumber(mlir::Attribute value, int64_t most);
/// Returns true for an array of i64 from 0 to `most`.
bool isNumbers(mlir::Attribute value, int64_t most);

bool isMark(const AttributePlace &place, mlir::Attribute value);
bool isCount(const AttributePlace &place, mlir::Attribute value);
bool isIndex(const AttributePlace &place, mlir::Attribute value);

inline constexpr ValueKind kMark{"a unit attribute", isMark};
inline constexpr ValueKind kCount{"an i64 from 0 to 2^62 - 1", isCount};
inline constexpr ValueKind kIndex{"an i64 from 0 to 2^20 - 1", isIndex};

} // namespace reprise

#endif // REPRISE_DIALECT_REPRISE_IR_ATTRIBUTETABLE_H
