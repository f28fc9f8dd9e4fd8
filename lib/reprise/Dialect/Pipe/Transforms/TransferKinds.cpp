// reprise: purposes of the transfers between the pieces of a step
#include "TransferKinds.h"

#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/Dialect/Reprise/IR/Naming.h"
#include "reprise/Dialect/Reprise/IR/PlanAttributes.h"

using namespace mlir;

namespace reprise::pipe {

void takeTransfer(Operation *op, PieceOp piece) {
  Attribute purpose = op->removeDiscardableAttr(kTransferAttr);
  if (!purpose) {
    bool isSum = op->hasAttr(kBatchSumAttr);
    StringRef kind = isSum ? TransferPurpose::kSum : TransferPurpose::kSend;
    purpose = TransferPurpose{kind, describeOp(op), std::nullopt}.write(op->getContext());
  }
  piece->setAttr(kTransferAttr, purpose);
}

/// Returns the op in a piece that computes a value; null for an argument.
static Operation *findMaker(Value value) {
  auto piece = value.getDefiningOp<PieceOp>();
  if (!piece)
    return value.getDefiningOp();
  unsigned number = cast<OpResult>(value).getResultNumber();
  return piece.getYield()->getOperand(number).getDefiningOp();
}

/// Returns the part of the step that a piece belongs to; empty without a piece.
static StringRef findPart(PieceOp piece) {
  if (!piece)
    return "";
  Operation &first = piece.getBody().front().front();
  return first.hasAttr(kPrimalAttr)      ? "forward"
         : first.hasAttr(kCotangentAttr) ? "backward"
                                         : "update";
}

static std::string describeValue(ProgramOp step, Value value) {
  if (Operation *maker = findMaker(value))
    return describeOp(maker);
  auto argument = dyn_cast<BlockArgument>(value);
  StringAttr name =
      argument ? EntrySignature(step).getArgumentName(argument.getArgNumber()) : StringAttr();
  return name ? name.str() : "";
}

TransferPurpose findTransfer(ProgramOp step, Value value, PieceOp reader, bool crossesReplicas) {
  auto piece = value.getDefiningOp<PieceOp>();
  auto mark = piece ? piece->getAttrOfType<DictionaryAttr>(kTransferAttr) : DictionaryAttr();
  TransferPurpose purpose;
  if (mark)
    purpose = TransferPurpose::read(mark);
  else
    purpose = {piece && crossesReplicas ? TransferPurpose::kSum : TransferPurpose::kSend,
               describeValue(step, value), std::nullopt};
  bool isPlain = !mark || purpose.kind == TransferPurpose::kSend;
  if (isPlain)
    for (Operation *user : value.getUsers())
      if (auto join = dyn_cast<ConcatenateOp>(user)) {
        purpose.kind = TransferPurpose::kGather;
        purpose.dim = static_cast<int64_t>(join.getDim());
      }
  purpose.part = findPart(reader);
  return purpose;
}

} // namespace reprise::pipe
