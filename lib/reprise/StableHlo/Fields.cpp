// reprise: fields of StableHLO's attributes and pretty forms
#include "PrettyForm.h"

using namespace mlir;

namespace reprise::stablehlo {

/// Parses the rest behind `[`: integers, or words and nested lists.
static ParseResult parseList(AsmParser &parser, Attribute &value) {
  SmallVector<int64_t> integers;
  SmallVector<Attribute> others;
  auto parseElement = [&]() -> ParseResult {
    int64_t integer;
    OptionalParseResult isInteger = parser.parseOptionalInteger(integer);
    if (isInteger.has_value()) {
      integers.push_back(integer);
      return *isInteger;
    }
    return parseFieldValue(parser, others.emplace_back());
  };
  if (failed(parser.parseOptionalRSquare()) &&
      (parser.parseCommaSeparatedList(parseElement) || parser.parseRSquare()))
    return failure();
  if (!others.empty() && !integers.empty())
    return parser.emitError(parser.getCurrentLocation(), "expected a list of one kind");
  if (others.empty())
    value = parser.getBuilder().getDenseI64ArrayAttr(integers);
  else
    value = parser.getBuilder().getArrayAttr(others);
  return success();
}

ParseResult parseFieldValue(AsmParser &parser, Attribute &value) {
  int64_t integer;
  OptionalParseResult isInteger = parser.parseOptionalInteger(integer);
  if (isInteger.has_value()) {
    value = parser.getBuilder().getI64IntegerAttr(integer);
    return *isInteger;
  }
  StringRef word;
  if (succeeded(parser.parseOptionalKeyword(&word))) {
    value = parser.getBuilder().getStringAttr(word);
    return success();
  }
  std::string text;
  if (succeeded(parser.parseOptionalString(&text))) {
    value = parser.getBuilder().getStringAttr(text);
    return success();
  }
  if (succeeded(parser.parseOptionalLSquare()))
    return parseList(parser, value);
  return parser.parseAttribute(value);
}

ParseResult parseFields(AsmParser &parser, NamedAttrList &list) {
  auto parseField = [&]() -> ParseResult {
    StringRef name;
    Attribute value;
    if (parser.parseKeyword(&name) || parser.parseEqual() || parseFieldValue(parser, value))
      return failure();
    list.set(name, value);
    return success();
  };
  return failure(failed(parser.parseCommaSeparatedList(parseField)) ||
                 failed(parser.parseGreater()));
}

/// The letters and numbers of one operand's dimensions.
static ParseResult parseDims(AsmParser &parser, SmallVectorImpl<Attribute> &lists) {
  SmallVector<Attribute> dims;
  auto parseDim = [&]() -> ParseResult {
    int64_t number;
    OptionalParseResult isNumber = parser.parseOptionalInteger(number);
    StringRef word;
    if (isNumber.has_value())
      dims.push_back(parser.getBuilder().getStringAttr(Twine(number)));
    else if (succeeded(parser.parseKeyword(&word)))
      dims.push_back(parser.getBuilder().getStringAttr(word));
    else
      return failure();
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseDim))
    return failure();
  lists.push_back(parser.getBuilder().getArrayAttr(dims));
  return success();
}

Attribute parseConvolutionDims(AsmParser &parser) {
  SmallVector<Attribute> lists;
  if (parseDims(parser, lists) || parser.parseKeyword("x") || parseDims(parser, lists) ||
      parser.parseArrow() || parseDims(parser, lists))
    return {};
  (void)parser.parseOptionalGreater();
  return parser.getBuilder().getArrayAttr(lists);
}

} // namespace reprise::stablehlo
