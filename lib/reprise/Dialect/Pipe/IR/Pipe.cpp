// reprise: the dialect of steps in pieces: micro-batches, pieces and transfers
#include "reprise/Dialect/Pipe/IR/Pipe.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"

using namespace mlir;
using namespace reprise::pipe;

/// `[0F0, 0B0] [1F0, 1B0]`. A piece is an integer and a word to the lexer.
static ParseResult parseRows(OpAsmParser &parser, ArrayAttr &rows) {
  SmallVector<Attribute> parsed;
  auto parsePiece = [&](std::string &row) -> ParseResult {
    int64_t stage = 0;
    StringRef rest;
    if (parser.parseInteger(stage) || parser.parseKeyword(&rest))
      return failure();
    row += (row.empty() ? "" : ", ") + std::to_string(stage) + rest.str();
    return success();
  };
  while (succeeded(parser.parseOptionalLSquare())) {
    std::string row;
    if (parser.parseCommaSeparatedList([&] { return parsePiece(row); }) || parser.parseRSquare())
      return failure();
    parsed.push_back(parser.getBuilder().getStringAttr(row));
  }
  rows = parser.getBuilder().getArrayAttr(parsed);
  return success();
}

static void printRows(OpAsmPrinter &printer, Operation *, ArrayAttr rows) {
  printer.increaseIndent();
  for (auto row : rows.getAsRange<StringAttr>()) {
    printer.printNewline();
    printer << '[' << row.getValue() << ']';
  }
  printer.decreaseIndent();
}

#include "reprise/Dialect/Pipe/IR/PipeDialect.cpp.inc"
#include "reprise/Dialect/Pipe/IR/PipeEnums.cpp.inc"
#define GET_OP_CLASSES
#include "reprise/Dialect/Pipe/IR/PipeOps.cpp.inc"

void PipeDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "reprise/Dialect/Pipe/IR/PipeOps.cpp.inc"
      >();
}

/// Returns the rows [first, end) of the dimension in a micro-batch.
static std::pair<int64_t, int64_t> findRange(int64_t size, int64_t rows, int64_t number,
                                             int64_t count) {
  int64_t samples = size / rows, each = samples / count, larger = samples % count;
  int64_t begin = number * each + std::min(number, larger);
  return {begin * rows, (begin + each + (number < larger ? 1 : 0)) * rows};
}

void SliceOp::build(OpBuilder &builder, OperationState &state, Value value, int64_t microbatch,
                    int64_t microbatches, int64_t dim, int64_t rows) {
  auto type = cast<RankedTensorType>(value.getType());
  auto [begin, end] = findRange(type.getDimSize(dim), rows, microbatch, microbatches);
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = end - begin;
  build(builder, state, type.clone(shape), value, microbatch, microbatches, dim, rows);
}

std::pair<int64_t, int64_t> SliceOp::getRange() {
  auto type = cast<RankedTensorType>(getValue().getType());
  return findRange(type.getDimSize(getDim()), getRows(), getMicrobatch(), getMicrobatches());
}

LogicalResult SliceOp::verify() {
  auto type = cast<RankedTensorType>(getValue().getType());
  if (static_cast<int64_t>(getDim()) >= type.getRank() || !type.hasStaticShape())
    return emitOpError("expected a dimension of the value, of known size");
  int64_t size = type.getDimSize(getDim()), rows = getRows(), count = getMicrobatches();
  if (size % rows != 0)
    return emitOpError("expected ") << rows << " rows per sample, and the dimension has " << size;
  if (static_cast<int64_t>(getMicrobatch()) >= count || count > size / rows)
    return emitOpError("there is no micro-batch ")
           << getMicrobatch() << " of " << count << " with " << size / rows << " samples";
  SmallVector<int64_t> shape(type.getShape());
  auto [begin, end] = getRange();
  shape[getDim()] = end - begin;
  if (getResult().getType() != type.clone(shape))
    return emitOpError("expected a result of type ")
           << type.clone(shape) << ", got " << getResult().getType();
  return success();
}

LogicalResult AccumulateOp::verify() {
  auto before = getSum().getDefiningOp<AccumulateOp>();
  if (!before || before.getMicrobatch() < getMicrobatch())
    return success();
  InFlightDiagnostic error = emitOpError("adds up micro-batch ")
                             << getMicrobatch() << " behind micro-batch " << before.getMicrobatch();
  error.attachNote(before.getLoc()) << "the sum so far";
  return error;
}

/// Checks that a merged operand is the sum of the lanes [first, end).
static LogicalResult verifyBlock(MergeOp op, Value operand, int64_t first, int64_t end) {
  auto before = operand.getDefiningOp<MergeOp>();
  if (!before || (static_cast<int64_t>(before.getFirst()) == first &&
                  static_cast<int64_t>(before.getEnd()) == end))
    return success();
  InFlightDiagnostic error = op.emitOpError("expected the sum of lanes ")
                             << first << " to " << end << ", got lanes " << before.getFirst()
                             << " to " << before.getEnd();
  error.attachNote(before.getLoc()) << "the sum of lanes";
  return error;
}

LogicalResult MergeOp::verify() {
  int64_t first = getFirst(), middle = getMiddle(), end = getEnd(), size = middle - first;
  if (size < 1 || end <= middle || end - middle > size || !llvm::isPowerOf2_64(size) ||
      first % (2 * size) != 0)
    return emitOpError("lanes ") << first << " to " << middle << " and " << middle << " to " << end
                                 << " are no neighbours in the tree";
  return success(succeeded(verifyBlock(*this, getLeft(), first, middle)) &&
                 succeeded(verifyBlock(*this, getRight(), middle, end)));
}

YieldOp PieceOp::getYield() { return cast<YieldOp>(getBody().front().getTerminator()); }

Location PieceOp::getLocOf(OpResult result) {
  return getYield()->getOperand(result.getResultNumber()).getLoc();
}

LogicalResult PieceOp::verify() {
  if (isPass() != getMicrobatch().has_value())
    return emitOpError(
        isPass() ? "expected the micro-batch of the pass"
                 : "expected no micro-batch for a piece before or after all micro-batches");
  if (!isPass() && getRound() != 0)
    return emitOpError("expected round 0 for a piece before or after all micro-batches");
  if (getKind() == PieceKind::Before && getSegment())
    return emitOpError("expected no segment of a piece before all micro-batches");
  if (getBody().getNumArguments() != 0)
    return emitOpError("expected no arguments of its body");
  auto yield = dyn_cast<YieldOp>(getBody().front().empty() ? nullptr : &getBody().front().back());
  if (!yield || yield.getOperandTypes() != getResultTypes())
    return emitOpError("expected a body that yields values of the results' types");
  return success();
}

LogicalResult PieceOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto function = cast<ProgramOp>((*this)->getParentOp());
  auto name = function->getAttrOfType<FlatSymbolRefAttr>(kScheduleRefAttr);
  if (name && symbols.lookupNearestSymbolFrom<ScheduleOp>(function, name))
    return success();
  return emitOpError("expected a function that names the schedule of its pieces in '")
         << kScheduleRefAttr << "'";
}

static LogicalResult verifyPeer(Operation *op, FlatSymbolRefAttr peer,
                                SymbolTableCollection &symbols) {
  auto program = symbols.lookupNearestSymbolFrom<reprise::ProgramOp>(op, peer);
  if (!program)
    return op->emitOpError("there is no device program ") << peer;
  if (program == op->getParentOp())
    return op->emitOpError("expected a transfer to another program");
  return success();
}

LogicalResult SendOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyPeer(*this, getPeerAttr(), symbols);
}

LogicalResult ReceiveOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyPeer(*this, getPeerAttr(), symbols);
}

ScheduleOp reprise::pipe::findSchedule(ProgramOp function) {
  auto name = function->getAttrOfType<FlatSymbolRefAttr>(kScheduleRefAttr);
  return name ? SymbolTable::lookupNearestSymbolFrom<ScheduleOp>(function, name) : nullptr;
}

SmallVector<PieceOp> reprise::pipe::getPieces(ProgramOp function) {
  return llvm::to_vector(function.getOps<PieceOp>());
}
