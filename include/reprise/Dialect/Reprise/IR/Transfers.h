// reprise: purposes of transfers between devices, for reports
#ifndef REPRISE_DIALECT_REPRISE_IR_TRANSFERS_H
#define REPRISE_DIALECT_REPRISE_IR_TRANSFERS_H

#include "mlir/IR/Builders.h"
#include <optional>
#include <string>

namespace reprise {

/// Purpose of the transfer of an op's result to other parts of the model; on a `pipe.piece` the
/// purpose for the results of the piece, and on a send the purpose of the send.
inline constexpr llvm::StringLiteral kTransferAttr = "reprise.transfer";

/// Purpose of a transfer: `sum` sends a summand, `gather` a part of a value that is read joined,
/// `exchange` a slice of a part for another cut, and `send` any other value.
struct TransferPurpose {
  llvm::StringRef kind;
  std::string value;          ///< op and scope that compute the value, or name of the argument
  std::optional<int64_t> dim; ///< dimension that is cut; none for a whole value
  llvm::StringRef part = "";  ///< forward, backward or update: the part of the step that reads it

  static constexpr llvm::StringLiteral kGather = "gather", kSum = "sum", kExchange = "exchange",
                                       kSend = "send";

  mlir::DictionaryAttr write(mlir::MLIRContext *context) const;
  static TransferPurpose read(mlir::DictionaryAttr attribute);
  /// Returns whether an attribute is a purpose.
  static bool isValid(mlir::Attribute attribute);
};

} // namespace reprise

#endif // REPRISE_DIALECT_REPRISE_IR_TRANSFERS_H
