// reprise: loops: assembly, verification, removal of unread stacks, slices and carries.
#include "reprise/Dialect/Reprise/IR/Reprise.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace reprise;

/// Returns the type of one row, or null if `type` has no rows.
static RankedTensorType getRowType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.getRank() == 0)
    return {};
  return tensor.clone(tensor.getShape().drop_front());
}

void LoopOp::build(OpBuilder &builder, OperationState &state, int64_t trip, ValueRange inits,
                   ValueRange xs, TypeRange results, bool reverse) {
  Properties &properties = state.getOrAddProperties<Properties>();
  properties.trip = builder.getI64IntegerAttr(trip);
  properties.replay = builder.getI64IntegerAttr(0);
  if (reverse)
    properties.reverse = builder.getUnitAttr();
  properties.operandSegmentSizes = {static_cast<int32_t>(inits.size()),
                                    static_cast<int32_t>(xs.size())};
  state.addOperands(inits);
  state.addOperands(xs);
  state.addTypes(results);
  Block &block = state.addRegion()->emplaceBlock();
  for (Value init : inits)
    block.addArgument(init.getType(), state.location);
  for (Value stack : xs)
    block.addArgument(getRowType(stack.getType()), state.location);
}

//===-- Assembly ------------------------------------------------------------------------------===//

/// `(%a = %x, %b = %y)`
static ParseResult parseBindings(OpAsmParser &parser,
                                 SmallVectorImpl<OpAsmParser::Argument> &arguments,
                                 SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands) {
  return parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, [&]() -> ParseResult {
    return failure(parser.parseArgument(arguments.emplace_back()) || parser.parseEqual() ||
                   parser.parseOperand(operands.emplace_back()));
  });
}

ParseResult LoopOp::parse(OpAsmParser &parser, OperationState &state) {
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  Properties &properties = state.getOrAddProperties<Properties>();
  int64_t trip;
  if (parser.parseInteger(trip) || parseBindings(parser, arguments, operands))
    return failure();
  size_t carries = operands.size();
  if (succeeded(parser.parseOptionalKeyword("over")) && parseBindings(parser, arguments, operands))
    return failure();
  Builder &builder = parser.getBuilder();
  properties.trip = builder.getI64IntegerAttr(trip);
  if (succeeded(parser.parseOptionalKeyword("reverse")))
    properties.reverse = builder.getUnitAttr();
  properties.operandSegmentSizes = {static_cast<int32_t>(carries),
                                    static_cast<int32_t>(operands.size() - carries)};
  SMLoc location = parser.getCurrentLocation();
  FunctionType type;
  if (parser.parseColonType(type))
    return failure();
  if (arguments.size() != type.getNumInputs())
    return parser.emitError(location, "expected one type per operand");
  for (auto [i, input] : llvm::enumerate(type.getInputs())) {
    arguments[i].type = i < carries ? input : getRowType(input);
    if (!arguments[i].type)
      return parser.emitError(location, "expected a tensor with a leading dimension to iterate "
                                        "over, got ")
             << input;
  }
  state.addTypes(type.getResults());
  return failure(parser.parseRegion(*state.addRegion(), arguments) ||
                 parser.parseOptionalAttrDict(state.attributes) ||
                 parser.resolveOperands(operands, type.getInputs(), location, state.operands));
}

void LoopOp::print(OpAsmPrinter &printer) {
  auto bind = [&](ValueRange arguments, ValueRange operands) {
    printer << "(";
    llvm::interleaveComma(llvm::zip(arguments, operands), printer, [&](auto pair) {
      printer << std::get<0>(pair) << " = " << std::get<1>(pair);
    });
    printer << ")";
  };
  printer << " " << getTrip() << " ";
  bind(getCarryArguments(), getInits());
  if (!getXs().empty()) {
    printer << " over ";
    bind(getSliceArguments(), getXs());
  }
  if (getReverse())
    printer << " reverse";
  printer << " : " << FunctionType::get(getContext(), getOperandTypes(), getResultTypes()) << " ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
  SmallVector<StringRef> known = {"trip", "reverse", "operandSegmentSizes"};
  if (getReplay() == 0)
    known.push_back("replay");
  printer.printOptionalAttrDict((*this)->getAttrs(), known);
}

//===-- Verification --------------------------------------------------------------------------===//

static LogicalResult verifyArguments(LoopOp op) {
  for (auto [i, stack] : llvm::enumerate(op.getXs())) {
    auto type = cast<RankedTensorType>(stack.getType());
    if (type.getRank() == 0 || static_cast<uint64_t>(type.getDimSize(0)) != op.getTrip())
      return op.emitOpError("expected ")
             << op.getTrip() << " rows, one per iteration, but slice " << i << " is of " << type;
  }
  SmallVector<Type> expected(op.getInits().getTypes());
  for (Value stack : op.getXs())
    expected.push_back(getRowType(stack.getType()));
  if (op.getBlock().getArgumentTypes() != TypeRange(expected))
    return op.emitOpError("expected a body of arguments ") << TypeRange(expected);
  return success();
}

LogicalResult LoopOp::verify() {
  if (static_cast<int64_t>(getTrip()) < 1)
    return emitOpError("expected a trip count of at least 1, got ")
           << static_cast<int64_t>(getTrip());
  if (failed(verifyArguments(*this)))
    return failure();
  auto yield = getBlock().empty() ? YieldOp() : dyn_cast<YieldOp>(getBlock().back());
  if (!yield)
    return emitOpError("expected a body that ends in reprise.yield");
  SmallVector<Type> results;
  for (auto [i, type] : llvm::enumerate(yield.getOperandTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (static_cast<int64_t>(i) < getNumCarries() || !tensor) {
      results.push_back(type);
      continue;
    }
    SmallVector<int64_t> shape = {static_cast<int64_t>(getTrip())};
    llvm::append_range(shape, tensor.getShape());
    results.push_back(tensor.clone(shape));
  }
  if (yield.getNumOperands() < getInits().size() ||
      yield.getOperands().take_front(getNumCarries()).getTypes() != getInits().getTypes())
    return yield.emitOpError("expected the next carries first, of the types of the first ones");
  if (getResultTypes() != TypeRange(results))
    return emitOpError("expected the last carries and one stack per row that is yielded: ")
           << TypeRange(results);
  return success();
}

//===-- Canonicalization ----------------------------------------------------------------------===//

/// Returns true if only its own next value reads a carry, directly.
static bool isIdle(LoopOp op, unsigned carry) {
  BlockArgument argument = op.getBlock().getArgument(carry);
  if (!op.getResult(carry).use_empty())
    return false;
  return llvm::all_of(argument.getUses(), [&](OpOperand &use) {
    return use.getOwner() == op.getYield() && use.getOperandNumber() == carry;
  });
}

/// Drops the entries of dropped results from lists of names, labels and choices.
static void dropEntries(LoopOp loop, const llvm::BitVector &dropped) {
  for (NamedAttribute attribute : llvm::to_vector(loop->getDiscardableAttrs())) {
    auto list = dyn_cast<ArrayAttr>(attribute.getValue());
    if (!list || list.size() > dropped.size())
      continue;
    SmallVector<Attribute> kept;
    for (auto [i, entry] : llvm::enumerate(list))
      if (!dropped[i])
        kept.push_back(entry);
    loop->setDiscardableAttr(attribute.getName(), ArrayAttr::get(loop.getContext(), kept));
  }
}

/// Drops stacks, slices and carries without readers.
LogicalResult LoopOp::canonicalize(LoopOp op, PatternRewriter &rewriter) {
  unsigned carries = op.getNumCarries();
  llvm::BitVector arguments(op.getBlock().getNumArguments()), results(op.getNumResults());
  for (unsigned i = 0; i < carries; ++i)
    if (isIdle(op, i)) {
      arguments.set(i);
      results.set(i);
    }
  for (unsigned i = carries; i < arguments.size(); ++i)
    arguments[i] = op.getBlock().getArgument(i).use_empty();
  for (unsigned i = carries; i < results.size(); ++i)
    results[i] = op.getResult(i).use_empty();
  // A loop with only effects stays.
  if (arguments.none() && results.none())
    return failure();
  SmallVector<Value> inits, xs, kept;
  SmallVector<Type> types;
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (!arguments[i])
      (i < carries ? inits : xs).push_back(operand);
  for (OpResult result : op->getResults())
    if (!results[result.getResultNumber()]) {
      kept.push_back(result);
      types.push_back(result.getType());
    }
  rewriter.modifyOpInPlace(op.getYield(), [&] { op.getYield()->eraseOperands(results); });
  rewriter.modifyOpInPlace(op, [&] { op.getBlock().eraseArguments(arguments); });
  auto loop =
      LoopOp::create(rewriter, op.getLoc(), op.getTrip(), inits, xs, types, op.getReverse());
  loop.setReplay(op.getReplay());
  loop->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  dropEntries(loop, results);
  rewriter.eraseBlock(&loop.getBlock());
  rewriter.inlineRegionBefore(op.getBody(), loop.getBody(), loop.getBody().end());
  for (auto [value, result] : llvm::zip(kept, loop.getResults()))
    rewriter.replaceAllUsesWith(value, result);
  rewriter.eraseOp(op);
  return success();
}
