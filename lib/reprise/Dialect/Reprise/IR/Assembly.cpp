// reprise: the hand-written parts of the ops' assembly.
#include "Assembly.h"

using namespace mlir;
using namespace reprise;

/// Parses one type if all three types agree, otherwise the function type.
ParseResult reprise::parseBroadcastTypes(OpAsmParser &parser, Type &lhs, Type &rhs, Type &result) {
  if (failed(parser.parseOptionalLParen())) {
    if (parser.parseType(lhs))
      return failure();
    rhs = result = lhs;
    return success();
  }
  return failure(parser.parseType(lhs) || parser.parseComma() || parser.parseType(rhs) ||
                 parser.parseRParen() || parser.parseArrow() || parser.parseType(result));
}

void reprise::printBroadcastTypes(OpAsmPrinter &printer, Operation *, Type lhs, Type rhs,
                                  Type result) {
  if (lhs == rhs && lhs == result)
    printer << lhs;
  else
    printer << "(" << lhs << ", " << rhs << ") -> " << result;
}

ParseResult reprise::parseCompareTypes(OpAsmParser &parser, Type &lhs, Type &rhs, Type &result) {
  SMLoc location = parser.getCurrentLocation();
  if (failed(parser.parseOptionalLParen())) {
    if (parser.parseType(lhs))
      return failure();
    rhs = lhs;
    auto shaped = dyn_cast<RankedTensorType>(lhs);
    if (!shaped)
      return parser.emitError(location, "expected a ranked tensor type");
    result = shaped.clone(IntegerType::get(lhs.getContext(), 1));
    return success();
  }
  return failure(parser.parseType(lhs) || parser.parseComma() || parser.parseType(rhs) ||
                 parser.parseRParen() || parser.parseArrow() || parser.parseType(result));
}

void reprise::printCompareTypes(OpAsmPrinter &printer, Operation *, Type lhs, Type rhs,
                                Type result) {
  if (lhs == rhs && cast<ShapedType>(lhs).getShape() == cast<ShapedType>(result).getShape())
    printer << lhs;
  else
    printer << "(" << lhs << ", " << rhs << ") -> " << result;
}

ParseResult reprise::parseDims(OpAsmParser &parser, DenseI64ArrayAttr &dims) {
  SmallVector<int64_t> values;
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square,
                                     [&] { return parser.parseInteger(values.emplace_back()); }))
    return failure();
  dims = parser.getBuilder().getDenseI64ArrayAttr(values);
  return success();
}

static ParseResult parsePair(OpAsmParser &parser, DenseI64ArrayAttr &lhs, DenseI64ArrayAttr &rhs) {
  return failure(parseDims(parser, lhs) || parser.parseKeyword("x") || parseDims(parser, rhs));
}

/// Parses `batch [0] x [0] contracting [1] x [0]`; the batch part is optional.
ParseResult reprise::parseDotDims(OpAsmParser &parser, DenseI64ArrayAttr &lhsBatch,
                                  DenseI64ArrayAttr &rhsBatch, DenseI64ArrayAttr &lhsContracting,
                                  DenseI64ArrayAttr &rhsContracting) {
  lhsBatch = rhsBatch = parser.getBuilder().getDenseI64ArrayAttr({});
  if (succeeded(parser.parseOptionalKeyword("batch")) && parsePair(parser, lhsBatch, rhsBatch))
    return failure();
  return failure(parser.parseKeyword("contracting") ||
                 parsePair(parser, lhsContracting, rhsContracting));
}

void reprise::printDotDims(OpAsmPrinter &printer, Operation *, DenseI64ArrayAttr lhsBatch,
                           DenseI64ArrayAttr rhsBatch, DenseI64ArrayAttr lhsContracting,
                           DenseI64ArrayAttr rhsContracting) {
  auto pair = [&](StringRef word, DenseI64ArrayAttr lhs, DenseI64ArrayAttr rhs) {
    printer << word << " [";
    llvm::interleaveComma(lhs.asArrayRef(), printer);
    printer << "] x [";
    llvm::interleaveComma(rhs.asArrayRef(), printer);
    printer << "]";
  };
  if (!lhsBatch.empty()) {
    pair("batch", lhsBatch, rhsBatch);
    printer << " ";
  }
  pair("contracting", lhsContracting, rhsContracting);
}
