// reprise: the dialect of command lists: assembly and verification.
#include "reprise/Dialect/Exec/IR/Exec.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "reprise/Dialect/Exec/IR/Storage.h"
#include "reprise/Dialect/Reprise/IR/Pause.h"
#include "reprise/Interfaces/Interfaces.h"
#include "reprise/Support/ByteSize.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace reprise::exec;

#include "reprise/Dialect/Exec/IR/ExecDialect.cpp.inc"
#include "reprise/Dialect/Exec/IR/ExecEnums.cpp.inc"
#include "reprise/Dialect/Exec/IR/ExecInterfaces.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "reprise/Dialect/Exec/IR/ExecTypes.cpp.inc"
#define GET_OP_CLASSES
#include "reprise/Dialect/Exec/IR/ExecOps.cpp.inc"

void ExecDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "reprise/Dialect/Exec/IR/ExecOps.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "reprise/Dialect/Exec/IR/ExecTypes.cpp.inc"
      >();
}

/// `(%a = %x, …) : (types) -> types { … } attributes`
ParseResult LaunchOp::parse(OpAsmParser &parser, OperationState &state) {
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  auto pair = [&]() -> ParseResult {
    return failure(parser.parseArgument(arguments.emplace_back()) || parser.parseEqual() ||
                   parser.parseOperand(operands.emplace_back()));
  };
  SMLoc location = parser.getCurrentLocation();
  FunctionType type;
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, pair) ||
      parser.parseColonType(type))
    return failure();
  if (type.getNumInputs() != arguments.size())
    return parser.emitError(location, "expected one type per input");
  for (auto [argument, argumentType] : llvm::zip(arguments, type.getInputs()))
    argument.type = argumentType;
  state.addTypes(type.getResults());
  return failure(parser.parseRegion(*state.addRegion(), arguments) ||
                 parser.parseOptionalAttrDict(state.attributes) ||
                 parser.resolveOperands(operands, type.getInputs(), location, state.operands));
}

void LaunchOp::print(OpAsmPrinter &printer) {
  printer << " (";
  llvm::interleaveComma(llvm::zip(getBody().getArguments(), getInputs()), printer, [&](auto pair) {
    printer << std::get<0>(pair) << " = " << std::get<1>(pair);
  });
  printer << ") : " << FunctionType::get(getContext(), getOperandTypes(), getResultTypes()) << " ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
  printer.printOptionalAttrDict((*this)->getAttrs());
}

LogicalResult LaunchOp::verify() {
  if (getBody().getArgumentTypes() != getInputs().getTypes())
    return emitOpError("expected arguments of the inputs' types");
  auto stored = dyn_cast<ReturnOp>(getBody().front().empty() ? nullptr : &getBody().front().back());
  if (!stored || stored.getOperandTypes() != getResultTypes())
    return emitOpError("expected a body that returns values of the results' types");
  if (auto scratch = getScratch(); scratch && scratch->size() != 2)
    return emitOpError("expected an offset and a number of bytes in 'scratch'");
  auto count = static_cast<int64_t>(getStreams().value_or(ArrayRef<int64_t>()).size());
  WalkResult result = getBody().walk([&](RandomOpInterface random) -> WalkResult {
    std::optional<int64_t> stream = random.getStreamNumber();
    if (!stream || (*stream >= 0 && *stream < count))
      return success();
    return random->emitOpError("expected 'stream' below ")
           << count << ", the number of 'streams' of its launch, got " << *stream;
  });
  return failure(result.wasInterrupted());
}

LogicalResult reprise::exec::detail::verifyPlaces(Operation *op) {
  auto storing = cast<StoringOpInterface>(op);
  for (auto places : {storing.getArguments(), storing.getOffsets()})
    if (places && places->size() != storing.getStoredResults().size())
      return op->emitOpError("expected one place per result");
  if (!storing.getArguments() != !storing.getOffsets())
    return op->emitOpError("expected 'arguments' and 'offsets' together");
  return success();
}

/// Verifies that parts can be stored one behind the other, each by its own command.
LogicalResult JoinOp::verify() {
  int64_t bytes = 0;
  for (Value part : getParts()) {
    bytes += getByteSize(part.getType());
    if (getElementTypeOrSelf(part) != getElementTypeOrSelf(getWhole()))
      return emitOpError("expected parts of the result's element type");
    if (!isMade(part) || isa<LoopOp>(part.getDefiningOp()) || !part.hasOneUse() ||
        part.getParentBlock() != (*this)->getBlock())
      return emitOpError("expected parts that commands of its block store, without other readers");
  }
  if (bytes != getByteSize(getWhole().getType()))
    return emitOpError("expected parts with all bytes of the result");
  return success();
}

LogicalResult CallOp::verify() {
  if (getFunction().empty())
    return emitOpError("expected the name of a function");
  if (auto scratch = getScratch(); scratch && scratch->size() != 2)
    return emitOpError("expected an offset and a number of bytes in 'scratch'");
  return success();
}

/// Verifies that a wait reads the transfer's event. Without a wait, the time at which the buffer is
/// free again is unknown.
static LogicalResult verifyTransfer(Operation *op, Value event) {
  return event.use_empty() ? op->emitOpError("expected a wait for its event") : success();
}

LogicalResult SendOp::verify() { return verifyTransfer(*this, getEvent()); }
LogicalResult ReceiveOp::verify() { return verifyTransfer(*this, getEvent()); }
ResultRange ReceiveOp::getStoredResults() { return getOperation()->getResults().take_front(); }

LogicalResult HostOffloadOp::verify() { return verifyTransfer(*this, getEvent()); }
LogicalResult HostFetchOp::verify() { return verifyTransfer(*this, getEvent()); }
ResultRange HostFetchOp::getStoredResults() { return getOperation()->getResults().take_front(); }

LogicalResult WaitOp::verify() {
  Operation *giver = getEvent().getDefiningOp();
  if (!isa_and_present<SendOp, ReceiveOp, HostOffloadOp, HostFetchOp, RecordOp>(giver))
    return emitOpError("expected an event that a transfer or a record gives");
  if (giver->getBlock() == (*this)->getBlock())
    return success();
  InFlightDiagnostic diagnostic =
      emitOpError("stands in another block than the op that gives its event");
  diagnostic.attachNote(giver->getLoc()) << "the event";
  return diagnostic;
}

bool reprise::exec::isExplicit(Operation *op) {
  return isa<CallOp, SendOp, ReceiveOp, HostOffloadOp, HostFetchOp, RecordOp, WaitOp, PauseOp,
             reprise::PullOp>(op);
}

Value reprise::exec::getEventBeside(Operation *op) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<SendOp, ReceiveOp, HostOffloadOp, HostFetchOp>(
          [](auto move) { return move.getEvent(); })
      .Default([](Operation *) { return Value(); });
}

int64_t reprise::exec::getStream(Operation *op) {
  return llvm::TypeSwitch<Operation *, int64_t>(op)
      .Case<CallOp, SendOp, ReceiveOp, HostOffloadOp, HostFetchOp, RecordOp, WaitOp>(
          [](auto command) { return static_cast<int64_t>(command.getStream()); })
      .Default([](Operation *) { return 0; });
}

StringRef reprise::exec::getLeaderName(LaunchOp launch) {
  StringRef leader = "copy";
  int64_t most = -1;
  for (Operation &op : launch.getBody().front().without_terminator())
    if (auto cost = dyn_cast<CostOpInterface>(op); cost && cost.getFlops() > most) {
      most = cost.getFlops();
      leader = op.getName().stripDialect();
    }
  return leader;
}

std::string reprise::exec::getLabel(LaunchOp launch) {
  std::string label = getLeaderName(launch).str();
  if (auto scope = dyn_cast<NameLoc>(launch.getLoc()))
    label += " " + scope.getName().str();
  return label;
}
