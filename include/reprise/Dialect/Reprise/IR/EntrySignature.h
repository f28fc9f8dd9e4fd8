// reprise: which argument and which result of an entry function is what.
#ifndef REPRISE_DIALECT_REPRISE_IR_ENTRYSIGNATURE_H
#define REPRISE_DIALECT_REPRISE_IR_ENTRYSIGNATURE_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace reprise {

/// What the attributes of an entry function's arguments and results say. A view: it reads them when
/// it is asked, but for the replaced arguments, which it finds once. `import` completes roles and
/// names; before that they may be missing.
class EntrySignature {
public:
  // The attributes.
  static constexpr llvm::StringLiteral kRole = "reprise.role", kName = "reprise.name",
                                       kInit = "reprise.init", kBatchDim = "reprise.batch_dim",
                                       kCheck = "reprise.check", kReplayOf = "reprise.replay_of",
                                       kPosition = "reprise.position", kWhole = "reprise.whole",
                                       kRows = "reprise.rows";

  explicit EntrySignature(mlir::FunctionOpInterface entry) : entry(entry) {}

  /// Null if there is none.
  mlir::StringAttr getArgumentName(unsigned argument) const;
  /// Input, parameter, state, seed, offset or step; empty if there is none.
  llvm::StringRef getRole(unsigned argument) const;
  /// How an argument that the user does not give begins; null if it has no such value.
  mlir::Attribute getInit(unsigned argument) const;
  std::optional<int64_t> getBatchDim(unsigned argument) const;

  /// Null if there is none: the result is returned for the comparison of replays only.
  mlir::StringAttr getResultName(unsigned result) const;
  /// Where an argument or a result stands among those of the step that was cut into programs; zero
  /// if it was not.
  int64_t getArgumentPosition(unsigned argument) const;
  int64_t getResultPosition(unsigned result) const;
  /// Of rows of an argument or a result that `pipe-split-stacks` has cut; none of a whole one.
  struct Rows {
    mlir::StringAttr whole; ///< its name
    int64_t first, last;    ///< of these, as a range
    int64_t of;             ///< how many rows the whole has
  };
  std::optional<Rows> getArgumentRows(unsigned argument) const;
  std::optional<Rows> getResultRows(unsigned result) const;
  /// What a result is that is returned for the comparison of replays only; else null.
  mlir::StringAttr getCheck(unsigned result) const;
  /// The result that such a replay must be equal to; none if it is the original of one.
  std::optional<int64_t> getReplayOf(unsigned result) const;

  /// The argument of each result's name, whose next value the result is; -1 for outputs.
  llvm::ArrayRef<int64_t> getReplacedArguments() const;
  /// True if the function returns the operand as an argument's next value.
  bool isNextValue(mlir::OpOperand &use) const;

private:
  mutable mlir::FunctionOpInterface entry;
  mutable std::optional<llvm::SmallVector<int64_t>> replaced;
};

} // namespace reprise

#endif
