// reprise: the meaning of the arguments and results of an entry function.
#ifndef REPRISE_DIALECT_REPRISE_IR_ENTRYSIGNATURE_H
#define REPRISE_DIALECT_REPRISE_IR_ENTRYSIGNATURE_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace reprise {

/// View of the attributes of an entry function's arguments and results. It reads attributes on each
/// call, except for the replaced arguments, which it computes once. `import` completes roles and
/// names; before `import` they may be missing.
class EntrySignature {
public:
  // Names of the attributes.
  static constexpr llvm::StringLiteral kRole = "reprise.role", kName = "reprise.name",
                                       kInit = "reprise.init", kBatchDim = "reprise.batch_dim",
                                       kCheck = "reprise.check", kReplayOf = "reprise.replay_of",
                                       kPosition = "reprise.position", kWhole = "reprise.whole",
                                       kRows = "reprise.rows";

  explicit EntrySignature(mlir::FunctionOpInterface entry) : entry(entry) {}

  /// Returns the name of an argument; null if it has none.
  mlir::StringAttr getArgumentName(unsigned argument) const;
  /// Returns the role of an argument: input, parameter, state, seed, offset or step; empty if it
  /// has none.
  llvm::StringRef getRole(unsigned argument) const;
  /// Returns the initializer of an argument that the user does not give; null if it has none.
  mlir::Attribute getInit(unsigned argument) const;
  std::optional<int64_t> getBatchDim(unsigned argument) const;

  /// Returns the name of a result; null for a result that is only for the comparison of replays.
  mlir::StringAttr getResultName(unsigned result) const;
  /// Returns the position of an argument or a result in the step that was cut into programs; 0 if
  /// the step was not cut.
  int64_t getArgumentPosition(unsigned argument) const;
  int64_t getResultPosition(unsigned result) const;
  /// Rows along a dimension of an argument or a result that passes have cut; none for a whole
  /// array.
  struct Rows {
    mlir::StringAttr whole; ///< name of the whole array
    int64_t first, last;    ///< range of these rows
    int64_t of;             ///< number of rows of the whole array
    int64_t dim = 0;        ///< dimension that counts the rows

    /// Returns the attributes of a part of an argument or a result with these attributes. The name
    /// of the part is unique among `names`.
    mlir::DictionaryAttr describe(mlir::DictionaryAttr array,
                                  const llvm::DenseSet<mlir::StringAttr> &names) const;
  };
  std::optional<Rows> getArgumentRows(unsigned argument) const;
  std::optional<Rows> getResultRows(unsigned result) const;
  /// Returns the names of all arguments and results.
  llvm::DenseSet<mlir::StringAttr> getNames() const;
  /// Returns the name of a result that is only for the comparison of replays; otherwise null.
  mlir::StringAttr getCheck(unsigned result) const;
  /// Returns the result that a replay must be equal to; none for the original.
  std::optional<int64_t> getReplayOf(unsigned result) const;

  /// Returns, for each result, the argument whose next value it is, by name; -1 for outputs.
  llvm::ArrayRef<int64_t> getReplacedArguments() const;
  /// Returns true if the function returns the operand as an argument's next value.
  bool isNextValue(mlir::OpOperand &use) const;

private:
  mutable mlir::FunctionOpInterface entry;
  mutable std::optional<llvm::SmallVector<int64_t>> replaced;
};

} // namespace reprise

#endif
