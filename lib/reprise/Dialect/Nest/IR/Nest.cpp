// reprise: the dialect of launches as loop nests: assembly and verifiers
#include "reprise/Dialect/Nest/IR/Nest.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace reprise;
using namespace reprise::nests;

//===-- Places -----------------------------------------------------------------------------===//

Place::Place(ValueRange indices, ArrayRef<int64_t> coefficients) : offset(coefficients.back()) {
  for (auto [index, coefficient] : llvm::zip_equal(indices, coefficients.drop_back()))
    terms.push_back({index, coefficient});
}

int64_t Place::coefficient(Value index) const {
  for (auto [term, coefficient] : terms)
    if (term == index)
      return coefficient;
  return 0;
}

SmallVector<int64_t> Place::coefficients() const {
  SmallVector<int64_t> numbers = llvm::to_vector(llvm::make_second_range(terms));
  numbers.push_back(offset);
  return numbers;
}

/// `[%i * 96 + %j + 5]`; nothing but the offset is `[5]`.
static ParseResult parsePlace(OpAsmParser &parser,
                              SmallVectorImpl<OpAsmParser::UnresolvedOperand> &indices,
                              DenseI64ArrayAttr &coefficients) {
  SmallVector<int64_t> factors;
  int64_t offset = 0;
  auto parseTerm = [&]() -> ParseResult {
    OpAsmParser::UnresolvedOperand index;
    OptionalParseResult parsed = parser.parseOptionalOperand(index);
    int64_t number = 1;
    if (!parsed.has_value()) {
      if (parser.parseInteger(number))
        return failure();
      offset += number;
      return success();
    }
    if (failed(*parsed) || (succeeded(parser.parseOptionalStar()) && parser.parseInteger(number)))
      return failure();
    indices.push_back(index);
    factors.push_back(number);
    return success();
  };
  if (parser.parseLSquare() || parseTerm())
    return failure();
  while (succeeded(parser.parseOptionalPlus()))
    if (parseTerm())
      return failure();
  factors.push_back(offset);
  coefficients = parser.getBuilder().getDenseI64ArrayAttr(factors);
  return parser.parseRSquare();
}

static void printPlace(OpAsmPrinter &printer, Operation *, OperandRange indices,
                       DenseI64ArrayAttr coefficients) {
  Place place(indices, coefficients);
  printer << '[';
  llvm::interleave(
      place.terms, printer.getStream(),
      [&](auto term) {
        printer << term.first;
        if (term.second != 1)
          printer << " * " << term.second;
      },
      " + ");
  if (place.isConstant() || place.offset != 0)
    printer << (place.isConstant() ? "" : " + ") << place.offset;
  printer << ']';
}

bool nests::isElement(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 0;
}

//===-- Buffers ----------------------------------------------------------------------------===//

static constexpr StringLiteral slotNames[] = {"input", "output", "shared", "stream"};

SmallVector<int64_t> nests::spellSlots(ArrayRef<BufferSlot> buffers) {
  SmallVector<int64_t> numbers;
  for (const BufferSlot &slot : buffers)
    numbers.append({slot.kind, slot.index, slot.offset});
  return numbers;
}

SmallVector<BufferSlot> nests::readSlots(ArrayRef<int64_t> numbers) {
  SmallVector<BufferSlot> buffers;
  for (; numbers.size() >= 3; numbers = numbers.drop_front(3))
    buffers.push_back({static_cast<BufferSlot::Kind>(numbers[0]), numbers[1], numbers[2]});
  return buffers;
}

/// `input 0`, `shared 0 + 64`.
static ParseResult parseSlot(OpAsmParser &parser, SmallVectorImpl<int64_t> &numbers) {
  SMLoc location = parser.getCurrentLocation();
  StringRef name;
  int64_t index = 0, offset = 0;
  if (parser.parseKeyword(&name))
    return failure();
  const auto *kind = llvm::find(slotNames, name);
  if (kind == std::end(slotNames))
    return parser.emitError(location, "expected input, output, shared or stream");
  if (parser.parseInteger(index) ||
      (succeeded(parser.parseOptionalPlus()) && parser.parseInteger(offset)))
    return failure();
  numbers.append({kind - std::begin(slotNames), index, offset});
  return success();
}

static void printSlot(OpAsmPrinter &printer, const BufferSlot &slot) {
  printer << slotNames[slot.kind] << ' ' << slot.index;
  if (slot.offset != 0)
    printer << " + " << slot.offset;
}

static ParseResult parseSlots(OpAsmParser &parser, DenseI64ArrayAttr &slots) {
  SmallVector<int64_t> numbers;
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren,
                                     [&] { return parseSlot(parser, numbers); }))
    return failure();
  slots = parser.getBuilder().getDenseI64ArrayAttr(numbers);
  return success();
}

static void printSlots(OpAsmPrinter &printer, Operation *, DenseI64ArrayAttr slots) {
  printer << '(';
  llvm::interleaveComma(readSlots(slots), printer,
                        [&](const BufferSlot &slot) { printSlot(printer, slot); });
  printer << ')';
}

//===-- The dialect ------------------------------------------------------------------------===//

#include "reprise/Dialect/Nest/IR/NestDialect.cpp.inc"
#include "reprise/Dialect/Nest/IR/NestEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "reprise/Dialect/Nest/IR/NestAttributes.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "reprise/Dialect/Nest/IR/NestTypes.cpp.inc"
#define GET_OP_CLASSES
#include "reprise/Dialect/Nest/IR/NestOps.cpp.inc"

void NestDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "reprise/Dialect/Nest/IR/NestAttributes.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "reprise/Dialect/Nest/IR/NestTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "reprise/Dialect/Nest/IR/NestOps.cpp.inc"
      >();
}

//===-- Kernels ----------------------------------------------------------------------------===//

Shape KernelOp::getShape() {
  return {llvm::to_vector(getOuter()), llvm::to_vector(getRows()), llvm::to_vector(getColumns()),
          llvm::to_vector(getStrides())};
}

SmallVector<BufferSlot> KernelOp::getBuffers() { return readSlots(getSlots()); }

unsigned KernelOp::numberOf(Value buffer) {
  size_t loops = getOuter().size() + getRows().size() + getColumns().size();
  return cast<BlockArgument>(buffer).getArgNumber() - loops;
}

/// `%r0` is the first loop over rows, `%in2` the buffer of input 2.
void KernelOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn name) {
  ValueRange arguments = region.getArguments();
  auto nameNext = [&](const Twine &text) {
    name(arguments.front(), text.str());
    arguments = arguments.drop_front();
  };
  for (auto [letter, sizes] : {std::pair('o', getOuter()), {'r', getRows()}, {'c', getColumns()}})
    for (size_t i = 0; i < sizes.size() && !arguments.empty(); ++i)
      nameNext(Twine(letter) + Twine(i));
  static constexpr StringLiteral names[] = {"in", "out", "shared", "stream"};
  for (const BufferSlot &slot : getBuffers())
    if (!arguments.empty())
      nameNext(names[slot.kind] + Twine(slot.index));
}

static ParseResult parseLoops(OpAsmParser &parser,
                              SmallVectorImpl<OpAsmParser::Argument> &arguments,
                              SmallVectorImpl<int64_t> &sizes) {
  return parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, [&]() -> ParseResult {
    OpAsmParser::Argument &argument = arguments.emplace_back();
    argument.type = parser.getBuilder().getIndexType();
    return failure(parser.parseArgument(argument) || parser.parseEqual() ||
                   parser.parseInteger(sizes.emplace_back()));
  });
}

static void printLoops(OpAsmPrinter &printer, ValueRange arguments, ArrayRef<int64_t> sizes) {
  printer << '(';
  llvm::interleaveComma(llvm::zip_equal(arguments, sizes), printer, [&](auto loop) {
    printer << std::get<0>(loop) << " = " << std::get<1>(loop);
  });
  printer << ')';
}

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> arguments;
  Builder &b = parser.getBuilder();
  for (StringRef group : {"outer", "rows", "columns"}) {
    SmallVector<int64_t> sizes;
    if (succeeded(parser.parseOptionalKeyword(group)) && parseLoops(parser, arguments, sizes))
      return failure();
    result.addAttribute(group, b.getDenseI64ArrayAttr(sizes));
  }
  SmallVector<int64_t> strides, slots;
  if (succeeded(parser.parseOptionalKeyword("strides")) &&
      parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square,
                                     [&] { return parser.parseInteger(strides.emplace_back()); }))
    return failure();
  auto parseBuffer = [&]() -> ParseResult {
    OpAsmParser::Argument &argument = arguments.emplace_back();
    argument.type = BufferType::get(parser.getContext());
    return failure(parser.parseArgument(argument) || parser.parseEqual() ||
                   parseSlot(parser, slots));
  };
  if (parser.parseKeyword("buffers") ||
      parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseBuffer))
    return failure();
  result.addAttribute("strides", b.getDenseI64ArrayAttr(strides));
  result.addAttribute("slots", b.getDenseI64ArrayAttr(slots));
  return failure(parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
                 parser.parseRegion(*result.addRegion(), arguments));
}

void KernelOp::print(OpAsmPrinter &printer) {
  ValueRange arguments = getBlock().getArguments();
  auto printGroup = [&](StringRef name, ArrayRef<int64_t> sizes) {
    if (sizes.empty())
      return;
    printer << ' ' << name;
    printLoops(printer, arguments.take_front(sizes.size()), sizes);
    arguments = arguments.drop_front(sizes.size());
  };
  printGroup("outer", getOuter());
  printGroup("rows", getRows());
  printGroup("columns", getColumns());
  if (!getStrides().empty()) {
    printer << " strides [";
    llvm::interleaveComma(getStrides(), printer);
    printer << ']';
  }
  printer << " buffers(";
  llvm::interleaveComma(llvm::zip_equal(arguments, getBuffers()), printer, [&](auto buffer) {
    printer << std::get<0>(buffer) << " = ";
    printSlot(printer, std::get<1>(buffer));
  });
  printer << ')';
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                           {"outer", "rows", "columns", "strides", "slots"});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

SmallVector<BufferSlot> AloneOp::getBuffers() { return readSlots(getSlots()); }

//===-- Elements ---------------------------------------------------------------------------===//

Value DrawOp::getElement() {
  Operation *op = getOp();
  return op->getNumOperands() ? op->getOperand(0) : Value();
}

void SequenceOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn name) {
  for (BlockArgument step : region.getArguments())
    name(step, ("s" + Twine(step.getArgNumber())).str());
}

ParseResult SequenceOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<int64_t> sizes;
  SMLoc location = parser.getCurrentLocation();
  StringRef name;
  RankedTensorType type;
  Builder &b = parser.getBuilder();
  if (parser.parseKeyword(&name))
    return failure();
  std::optional<Fold> fold = symbolizeFold(name);
  if (!fold)
    return parser.emitError(location, "expected sum, product, max or min");
  if (parseLoops(parser, arguments, sizes))
    return failure();
  if (int64_t over = 0; succeeded(parser.parseOptionalKeyword("over"))) {
    if (parser.parseInteger(over))
      return failure();
    result.addAttribute("over", b.getI64IntegerAttr(over));
  }
  result.addAttribute("fold", FoldAttr::get(parser.getContext(), *fold));
  result.addAttribute("sizes", b.getDenseI64ArrayAttr(sizes));
  if (parser.parseRegion(*result.addRegion(), arguments) ||
      parser.parseOptionalAttrDict(result.attributes) || parser.parseColonType(type))
    return failure();
  result.addTypes(type);
  return success();
}

void SequenceOp::print(OpAsmPrinter &printer) {
  printer << ' ' << stringifyFold(getFold());
  printLoops(printer, getBody().front().getArguments(), getSizes());
  if (getOver())
    printer << " over " << *getOver();
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
  printer.printOptionalAttrDict((*this)->getAttrs(), {"fold", "sizes", "over"});
  printer << " : " << getType();
}
