// reprise: names, blocks, checkpoints and differentiation: assembly and verification.
#include "Assembly.h"

using namespace mlir;
using namespace reprise;

//===-- block, checkpoint ---------------------------------------------------------------------===//

static LogicalResult verifyYield(Operation *op, Region &body) {
  auto yield = body.front().empty() ? YieldOp() : dyn_cast<YieldOp>(body.front().back());
  if (!yield)
    return op->emitOpError("expected a body that ends in reprise.yield");
  if (yield.getOperandTypes() != op->getResultTypes())
    return yield.emitOpError("expected operands of the types of the enclosing op's results");
  return success();
}

LogicalResult YieldOp::verify() {
  if (isa<func::FuncOp>((*this)->getParentOp()))
    return emitOpError("cannot end a function; expected func.return");
  if (isa<ProgramOp>((*this)->getParentOp()))
    return emitOpError("cannot end a device program; expected reprise.return");
  return success();
}

LogicalResult BlockOp::verify() { return verifyYield(*this, getBody()); }
LogicalResult CheckpointOp::verify() { return verifyYield(*this, getBody()); }

//===-- custom_vjp ----------------------------------------------------------------------------===//

LogicalResult CustomVjpOp::verify() {
  if (getPrimals().getTypes() != getResultTypes())
    return emitOpError("expected results of the types of the primals");
  SmallVector<Type> cotangents = llvm::filter_to_vector(
      getResultTypes(), [](Type type) { return isa<FloatType>(getElementTypeOrSelf(type)); });
  if (TypeRange(getBody().getArgumentTypes()) != TypeRange(cotangents))
    return emitOpError("expected a body with one cotangent per primal of floats: ")
           << TypeRange(cotangents);
  auto yield = dyn_cast<YieldOp>(getBody().front().empty() ? nullptr : &getBody().front().back());
  if (!yield)
    return emitOpError("expected a body that ends in reprise.yield");
  if (yield.getOperandTypes() != getInputs().getTypes())
    return yield.emitOpError("expected cotangents of the types of the inputs: ")
           << getInputs().getTypes();
  return success();
}

//===-- value_and_grad ------------------------------------------------------------------------===//

/// `@f(%x, %y)` or `(%a = %x, %b = %y)`.
static ParseResult parseOperands(OpAsmParser &parser, OperationState &state, bool hasRegion,
                                 SmallVectorImpl<OpAsmParser::Argument> &arguments,
                                 SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands) {
  return parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, [&]() -> ParseResult {
    if (hasRegion && (parser.parseArgument(arguments.emplace_back()) || parser.parseEqual()))
      return failure();
    return parser.parseOperand(operands.emplace_back());
  });
}

ParseResult ValueAndGradOp::parse(OpAsmParser &parser, OperationState &state) {
  FlatSymbolRefAttr callee;
  OptionalParseResult symbol = parser.parseOptionalAttribute(callee, "callee", state.attributes);
  bool hasRegion = !symbol.has_value();
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  DenseI64ArrayAttr wrt, of = parser.getBuilder().getDenseI64ArrayAttr({0});
  if ((symbol.has_value() && failed(*symbol)) ||
      parseOperands(parser, state, hasRegion, arguments, operands) || parser.parseKeyword("wrt") ||
      parseDims(parser, wrt))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("of")) && parseDims(parser, of))
    return failure();
  state.addAttribute("wrt", wrt);
  state.addAttribute("of", of);
  Region *body = state.addRegion();
  SMLoc location = parser.getCurrentLocation();
  FunctionType type;
  // The types of the region's arguments stand behind the region, so we first parse the trailing
  // function type.
  if (hasRegion) {
    SmallVector<Type> types;
    if (parser.parseColonType(type))
      return failure();
    for (auto [argument, argumentType] : llvm::zip(arguments, type.getInputs()))
      argument.type = argumentType;
    if (arguments.size() != type.getNumInputs())
      return parser.emitError(location, "expected one type per operand");
    if (parser.parseRegion(*body, arguments) || parser.parseOptionalAttrDict(state.attributes))
      return failure();
  } else if (parser.parseOptionalAttrDict(state.attributes) || parser.parseColonType(type)) {
    return failure();
  }
  state.addTypes(type.getResults());
  return parser.resolveOperands(operands, type.getInputs(), location, state.operands);
}

static void printDims(OpAsmPrinter &printer, StringRef keyword, ArrayRef<int64_t> dims) {
  printer << " " << keyword << " [";
  llvm::interleaveComma(dims, printer);
  printer << "]";
}

void ValueAndGradOp::print(OpAsmPrinter &printer) {
  auto type = FunctionType::get(getContext(), getOperandTypes(), getResultTypes());
  printer << " ";
  bool hasRegion = !getBody().empty();
  if (hasRegion) {
    printer << "(";
    llvm::interleaveComma(
        llvm::zip(getBody().getArguments(), getOperands()), printer,
        [&](auto pair) { printer << std::get<0>(pair) << " = " << std::get<1>(pair); });
    printer << ")";
  } else {
    printer << getCalleeAttr() << "(" << getOperands() << ")";
  }
  printDims(printer, "wrt", getWrt());
  if (getOf() != ArrayRef<int64_t>{0})
    printDims(printer, "of", getOf());
  if (hasRegion) {
    printer << " : " << type << " ";
    printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
  }
  printer.printOptionalAttrDict((*this)->getAttrs(), {"callee", "wrt", "of"});
  if (!hasRegion)
    printer << " : " << type;
}

/// Checks the op against the types of the differentiated function.
static LogicalResult verifyDerivative(ValueAndGradOp op, TypeRange inputs, TypeRange primal) {
  if (op.getOperandTypes() != inputs)
    return op.emitOpError("expected operands of the types of the function's arguments");
  SmallVector<Type> expected(primal.begin(), primal.end());
  for (int64_t result : op.getOf()) {
    auto type = result >= 0 && result < static_cast<int64_t>(primal.size())
                    ? dyn_cast<RankedTensorType>(primal[result])
                    : RankedTensorType();
    if (!type || type.getRank() != 0 || !isa<FloatType>(type.getElementType()))
      return op.emitOpError("expected result ")
             << result << " of the function to be a scalar of floats";
    for (int64_t argument : op.getWrt()) {
      if (argument < 0 || argument >= static_cast<int64_t>(inputs.size()))
        return op.emitOpError("expected 'wrt' to list arguments of the function, got ") << argument;
      if (!isa<FloatType>(cast<ShapedType>(inputs[argument]).getElementType()))
        return op.emitOpError("expected floats to differentiate by, but argument ")
               << argument << " is " << inputs[argument];
      expected.push_back(inputs[argument]);
    }
  }
  if (op.getResultTypes() != TypeRange(expected))
    return op.emitOpError("expected the function's results and one gradient per 'wrt' argument: ")
           << TypeRange(expected);
  return success();
}

LogicalResult ValueAndGradOp::verify() {
  if (getCalleeAttr() && !getBody().empty())
    return emitOpError("expected a function or a body, not both");
  if (!getCalleeAttr() && getBody().empty())
    return emitOpError("expected a function or a body");
  if (getOf().empty())
    return emitOpError("expected at least one result to differentiate");
  if (getBody().empty())
    return success();
  auto yield = dyn_cast<YieldOp>(getBody().front().empty() ? nullptr : &getBody().front().back());
  if (!yield)
    return emitOpError("expected a body that ends in reprise.yield");
  return verifyDerivative(*this, getBody().getArgumentTypes(), yield.getOperandTypes());
}

LogicalResult ValueAndGradOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (!getCalleeAttr())
    return success();
  auto function = symbols.lookupNearestSymbolFrom<func::FuncOp>(*this, getCalleeAttr());
  if (!function)
    return emitOpError("'") << *getCallee() << "' is not a function";
  return verifyDerivative(*this, function.getArgumentTypes(), function.getResultTypes());
}

void ValueAndGradOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  bool draws = false;
  auto visit = [&](Operation *op) {
    auto random = dyn_cast<RandomOpInterface>(op);
    draws |= random && random.draws() && !random.getSeedOperand();
    // A call that is not inlined yet may draw.
    draws |= isa<CallOpInterface>(op) ||
             (isa<ValueAndGradOp>(op) && cast<ValueAndGradOp>(op).getCalleeAttr());
  };
  if (getCalleeAttr())
    draws = true;
  getBody().walk(visit);
  if (draws)
    effects.emplace_back(MemoryEffects::Write::get());
}
