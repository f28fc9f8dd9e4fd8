// reprise: the pretty forms of StableHLO's ops
#include "PrettyForm.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace reprise::stablehlo {
namespace {

using Operands = SmallVector<OpAsmParser::UnresolvedOperand>;

class Form {
public:
  Form(OpAsmParser &parser, OperationState &state)
      : parser(parser), state(state), name(state.name.getStringRef().split('.').second) {}

  ParseResult parse() {
    if (state.name.getDialectNamespace() == "sdy")
      return name == "mesh" ? parseMesh() : parseConstraint();
    if (name == "constant")
      return parseConstant();
    if (name == "compare")
      return parseCompare();
    if (name == "slice")
      return parseSlice();
    if (name == "convolution")
      return parseConvolution();
    if (name == "reduce")
      return parseReduce();
    if (name == "while")
      return parseWhile();
    return parseCommon();
  }

private:
  //===-- Parts ------------------------------------------------------------------------------===//

  ParseResult parseOperand() { return parser.parseOperand(operands.emplace_back()); }

  /// The name that the generic form has for a field.
  StringRef fullName(StringRef field) {
    return llvm::StringSwitch<StringRef>((name + "." + field).str())
        .Case("broadcast_in_dim.dims", "broadcast_dimensions")
        .Case("transpose.dims", "permutation")
        .Case("reverse.dims", "dimensions")
        .Case("iota.dim", "iota_dimension")
        .Case("concatenate.dim", "dimension")
        .Case("dynamic_slice.sizes", "slice_sizes")
        .Case("pad.low", "edge_padding_low")
        .Case("pad.high", "edge_padding_high")
        .Case("pad.interior", "interior_padding")
        .Case("rng_bit_generator.algorithm", "rng_algorithm")
        .Default(field);
  }

  /// `NAME = VALUE`, or `NAME = LIST x LIST` for the two operands of a dot product.
  ParseResult parseField(StringRef field) {
    Attribute value, second;
    if (parser.parseEqual() || parseFieldValue(parser, value))
      return failure();
    if (field.ends_with("ing_dims") && name == "dot_general") {
      if (parser.parseKeyword("x") || parseFieldValue(parser, second))
        return failure();
      StringRef dims = field == "batching_dims" ? "batching_dimensions" : "contracting_dimensions";
      dotDims.set(("lhs_" + dims).str(), value);
      dotDims.set(("rhs_" + dims).str(), second);
      return success();
    }
    state.addAttribute(fullName(field), value);
    return success();
  }

  /// Parses operands and fields, in any number, with commas between them.
  ParseResult parseItems() {
    do {
      OpAsmParser::UnresolvedOperand operand;
      OptionalParseResult isOperand = parser.parseOptionalOperand(operand);
      if (isOperand.has_value()) {
        if (failed(*isOperand))
          return failure();
        operands.push_back(operand);
        continue;
      }
      StringRef field;
      if (failed(parser.parseOptionalKeyword(&field)))
        break;
      if (parseField(field))
        return failure();
    } while (succeeded(parser.parseOptionalComma()));
    return success();
  }

  ParseResult resolve(ArrayRef<Type> types) {
    if (types.size() != operands.size())
      return parser.emitError(parser.getNameLoc())
             << "expected types of " << operands.size() << " operands, got " << types.size();
    return parser.resolveOperands(operands, types, parser.getNameLoc(), state.operands);
  }

  /// Resolves a list of types without an arrow: a single type is that of all operands and of the
  /// result.
  ParseResult resolveShort(ArrayRef<Type> types) {
    bool isPlaced = name == "optimization_barrier" || name == "return";
    if (!isPlaced && name == "select" && types.size() == 2) {
      state.addTypes(types[1]);
      return resolve({types[0], types[1], types[1]});
    }
    if (!isPlaced && types.size() != 1)
      return parser.emitError(parser.getNameLoc(), "expected one type");
    if (name != "return")
      state.addTypes(types);
    return resolve(isPlaced ? SmallVector<Type>(types)
                            : SmallVector<Type>(operands.size(), types[0]));
  }

  /// `{ATTRIBUTES} : TYPES`, where types are a list, `LIST -> LIST`, or a function's.
  ParseResult parseRest() {
    if (parser.parseOptionalAttrDict(state.attributes))
      return failure();
    if (!dotDims.empty())
      state.addAttribute("dot_dimension_numbers", dotDims.getDictionary(parser.getContext()));
    if (failed(parser.parseOptionalColon()))
      return success();
    SmallVector<Type> types, results;
    if (succeeded(parser.parseOptionalLParen())) {
      if (failed(parser.parseOptionalRParen()) &&
          (parser.parseTypeList(types) || parser.parseRParen()))
        return failure();
      if (parser.parseArrowTypeList(state.types))
        return failure();
      return resolve(types);
    }
    if (parser.parseTypeList(types))
      return failure();
    if (failed(parser.parseOptionalArrow()))
      return resolveShort(types);
    if (succeeded(parser.parseOptionalLParen())) {
      if (parser.parseTypeList(results) || parser.parseRParen())
        return failure();
    } else if (parser.parseTypeList(results)) {
      return failure();
    }
    state.addTypes(results);
    return types.size() == 1 ? resolve(SmallVector<Type>(operands.size(), types[0]))
                             : resolve(types);
  }

  //===-- Ops --------------------------------------------------------------------------------===//

  /// `OP [@NAME] [(] ITEMS [)] REST`.
  ParseResult parseCommon() {
    StringAttr symbol;
    if (succeeded(parser.parseOptionalSymbolName(symbol)))
      state.addAttribute("call_target_name", symbol);
    bool isInParentheses = succeeded(parser.parseOptionalLParen());
    if (parseItems() || (isInParentheses && parser.parseRParen()))
      return failure();
    return parseRest();
  }

  ParseResult parseConstant() {
    ElementsAttr value;
    if (succeeded(parser.parseOptionalLParen()) && parser.parseRParen())
      return failure();
    if (parser.parseOptionalAttrDict(state.attributes) || parser.parseAttribute(value))
      return failure();
    state.addAttribute("value", value);
    state.addTypes(value.getShapedType());
    return success();
  }

  ParseResult parseCompare() {
    StringRef direction, type;
    if (parser.parseKeyword(&direction) || parser.parseComma() || parseOperand() ||
        parser.parseComma() || parseOperand())
      return failure();
    state.addAttribute("comparison_direction", parser.getBuilder().getStringAttr(direction));
    if (succeeded(parser.parseOptionalComma())) {
      if (parser.parseKeyword(&type))
        return failure();
      state.addAttribute("compare_type", parser.getBuilder().getStringAttr(type));
    }
    return parseRest();
  }

  /// `%x [START:LIMIT:STRIDE, …]`
  ParseResult parseSlice() {
    SmallVector<int64_t> starts, limits, strides;
    auto parseRange = [&]() -> ParseResult {
      strides.push_back(1);
      if (parser.parseInteger(starts.emplace_back()) || parser.parseColon() ||
          parser.parseInteger(limits.emplace_back()))
        return failure();
      return succeeded(parser.parseOptionalColon()) ? parser.parseInteger(strides.back())
                                                    : ParseResult(success());
    };
    if (parseOperand() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseRange))
      return failure();
    Builder &builder = parser.getBuilder();
    state.addAttribute("start_indices", builder.getDenseI64ArrayAttr(starts));
    state.addAttribute("limit_indices", builder.getDenseI64ArrayAttr(limits));
    state.addAttribute("strides", builder.getDenseI64ArrayAttr(strides));
    return parseRest();
  }

  ParseResult parseConvolution() {
    auto parseWindow = [&]() -> ParseResult {
      StringRef field;
      Attribute value;
      if (parser.parseKeyword(&field) || parser.parseEqual() || parseFieldValue(parser, value))
        return failure();
      state.addAttribute(llvm::StringSwitch<StringRef>(field)
                             .Case("stride", "window_strides")
                             .Case("pad", "padding")
                             .Case("lhs_dilate", "lhs_dilation")
                             .Case("rhs_dilate", "rhs_dilation")
                             .Default("window_reversal"),
                         value);
      return success();
    };
    if (parser.parseLParen() || parseOperand() || parser.parseComma() || parseOperand() ||
        parser.parseRParen() || parser.parseKeyword("dim_numbers") || parser.parseEqual())
      return failure();
    Attribute dims = parseConvolutionDims(parser);
    if (!dims || parser.parseComma() || parser.parseKeyword("window") || parser.parseEqual() ||
        parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, parseWindow))
      return failure();
    state.addAttribute("dimension_numbers", dims);
    return parseRest();
  }

  /// `(%x init: %i), … [applies OP] across dimensions = [0] : TYPES [reducer(…) … REGION]`
  ParseResult parseReduce() {
    Operands inits;
    auto parsePair = [&]() -> ParseResult {
      return failure(parser.parseLParen() || parseOperand() || parser.parseKeyword("init") ||
                     parser.parseColon() || parser.parseOperand(inits.emplace_back()) ||
                     parser.parseRParen());
    };
    if (parser.parseCommaSeparatedList(parsePair))
      return failure();
    operands.append(inits);
    StringRef field;
    bool isShort = succeeded(parser.parseOptionalKeyword("applies"));
    if (isShort) {
      FailureOr<OperationName> applied = parser.parseCustomOperationName();
      if (failed(applied))
        return failure();
      state.addAttribute("applies", parser.getBuilder().getStringAttr(applied->getStringRef()));
    }
    if (parser.parseKeyword("across") || parser.parseKeyword(&field) || parseField(field) ||
        parseRest())
      return failure();
    return isShort ? ParseResult(success()) : parseReducer(inits.size());
  }

  /// `reducer(%a: T, %b: T) (%c: U, %d: U) {…}`: the block's arguments are a, c, b, d.
  ParseResult parseReducer(size_t count) {
    SmallVector<OpAsmParser::Argument> left, right;
    if (parser.parseKeyword("reducer"))
      return failure();
    for (size_t i = 0; i < count; ++i)
      if (parser.parseLParen() || parser.parseArgument(left.emplace_back(), true) ||
          parser.parseComma() || parser.parseArgument(right.emplace_back(), true) ||
          parser.parseRParen())
        return failure();
    left.append(right);
    return parser.parseRegion(*state.addRegion(), left);
  }

  /// `(%a = %x, …) : TYPES cond REGION do REGION`
  ParseResult parseWhile() {
    SmallVector<OpAsmParser::Argument> arguments;
    auto parseCarry = [&]() -> ParseResult {
      return failure(parser.parseArgument(arguments.emplace_back()) || parser.parseEqual() ||
                     parseOperand());
    };
    SmallVector<Type> types;
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseCarry) ||
        parser.parseOptionalAttrDictWithKeyword(state.attributes))
      return failure();
    if (!operands.empty() && (parser.parseColon() || parser.parseTypeList(types)))
      return failure();
    if (parser.parseOptionalAttrDictWithKeyword(state.attributes) || resolve(types))
      return failure();
    state.addTypes(types);
    for (auto [argument, type] : llvm::zip(arguments, types))
      argument.type = type;
    return failure(parser.parseKeyword("cond") ||
                   parser.parseRegion(*state.addRegion(), arguments) || parser.parseKeyword("do") ||
                   parser.parseRegion(*state.addRegion(), arguments));
  }

  // ===-- Shardings, which are dropped -------------------------------------------------------===//

  /// `@NAME = <["x"=2, …]> {…}`
  ParseResult parseMesh() {
    StringAttr symbol;
    SmallVector<Attribute> axes;
    SmallVector<int64_t> sizes;
    auto parseAxis = [&]() -> ParseResult {
      std::string axis;
      int64_t &size = sizes.emplace_back();
      if (parser.parseString(&axis) || parser.parseEqual() || parser.parseInteger(size))
        return failure();
      axes.push_back(parser.getBuilder().getStringAttr(axis));
      return success();
    };
    if (parser.parseSymbolName(symbol) || parser.parseEqual() || parser.parseLess() ||
        parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseAxis) ||
        parser.parseGreater())
      return failure();
    state.addAttribute("sym_name", symbol);
    state.addAttribute("axes", parser.getBuilder().getArrayAttr(axes));
    state.addAttribute("sizes", parser.getBuilder().getDenseI64ArrayAttr(sizes));
    return parser.parseOptionalAttrDict(state.attributes);
  }

  /// `%x <@MESH, [{"x", ?}, …]> : TYPE`
  ParseResult parseConstraint() {
    StringAttr symbol;
    auto parseAxis = [&]() -> ParseResult {
      std::string axis;
      if (succeeded(parser.parseOptionalQuestion()))
        return success();
      return parser.parseString(&axis);
    };
    auto parseDim = [&]() {
      return parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, parseAxis);
    };
    if (parseOperand() || parser.parseLess() || parser.parseSymbolName(symbol) ||
        parser.parseComma() ||
        parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseDim) ||
        parser.parseGreater())
      return failure();
    return parseRest();
  }

  OpAsmParser &parser;
  OperationState &state;
  StringRef name;
  Operands operands;
  NamedAttrList dotDims;
};

} // namespace

ParseResult parsePrettyForm(OpAsmParser &parser, OperationState &state) {
  return Form(parser, state).parse();
}

} // namespace reprise::stablehlo
