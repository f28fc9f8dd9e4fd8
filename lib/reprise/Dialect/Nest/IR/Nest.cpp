// reprise: the dialect of launches as loop nests: assembly and verifiers
#include "reprise/Dialect/Nest/IR/Nest.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace reprise;
using namespace reprise::nests;

//===-- Places -----------------------------------------------------------------------------===//

Place::Place(ValueRange indices, ArrayRef<int64_t> coefficients) : Sum{coefficients.back()} {
  for (auto [index, coefficient] : llvm::zip_equal(indices, coefficients.drop_back()))
    terms.push_back({index, coefficient});
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

//===-- Loops ------------------------------------------------------------------------------===//

static ParseResult parseLoops(OpAsmParser &parser,
                              SmallVectorImpl<OpAsmParser::Argument> &arguments,
                              DenseI64ArrayAttr &sizes) {
  SmallVector<int64_t> numbers;
  auto parseLoop = [&]() -> ParseResult {
    OpAsmParser::Argument &argument = arguments.emplace_back();
    argument.type = parser.getBuilder().getIndexType();
    return failure(parser.parseArgument(argument) || parser.parseEqual() ||
                   parser.parseInteger(numbers.emplace_back()));
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseLoop))
    return failure();
  sizes = parser.getBuilder().getDenseI64ArrayAttr(numbers);
  return success();
}

static void printLoops(OpAsmPrinter &printer, ValueRange arguments, ArrayRef<int64_t> sizes) {
  printer << '(';
  llvm::interleaveComma(llvm::zip_equal(arguments, sizes), printer, [&](auto loop) {
    printer << std::get<0>(loop) << " = " << std::get<1>(loop);
  });
  printer << ')';
}

/// `(%s0 = 5, %s1 = 2) over 10 { … }`.
static ParseResult parseSteps(OpAsmParser &parser, DenseI64ArrayAttr &sizes, IntegerAttr &over,
                              Region &body) {
  SmallVector<OpAsmParser::Argument> arguments;
  Type i64 = parser.getBuilder().getI64Type();
  return failure(
      parseLoops(parser, arguments, sizes) ||
      (succeeded(parser.parseOptionalKeyword("over")) && parser.parseAttribute(over, i64)) ||
      parser.parseRegion(body, arguments));
}

static void printSteps(OpAsmPrinter &printer, SequenceOp, DenseI64ArrayAttr sizes, IntegerAttr over,
                       Region &body) {
  printLoops(printer, body.getArguments(), sizes);
  if (over)
    printer << " over " << over.getInt();
  printer << ' ';
  printer.printRegion(body, /*printEntryBlockArgs=*/false);
}

/// `rows(%r0 = 8) columns(%c0 = 96) strides [96, 1] buffers(%in0 = input 0) schedule <…> { … }`.
static ParseResult parseKernel(OpAsmParser &parser, DenseI64ArrayAttr &outer,
                               DenseI64ArrayAttr &rows, DenseI64ArrayAttr &columns,
                               DenseI64ArrayAttr &strides, DenseI64ArrayAttr &slots,
                               ScheduleAttr &schedule, Region &body) {
  SmallVector<OpAsmParser::Argument> arguments;
  outer = rows = columns = parser.getBuilder().getDenseI64ArrayAttr({});
  for (auto [name, sizes] : {std::pair("outer", &outer), {"rows", &rows}, {"columns", &columns}})
    if (succeeded(parser.parseOptionalKeyword(name)) && parseLoops(parser, arguments, *sizes))
      return failure();
  SmallVector<int64_t> distances, numbers;
  auto parseStride = [&] { return parser.parseInteger(distances.emplace_back()); };
  if (succeeded(parser.parseOptionalKeyword("strides")) &&
      parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parseStride))
    return failure();
  auto parseBuffer = [&]() -> ParseResult {
    OpAsmParser::Argument &argument = arguments.emplace_back();
    argument.type = BufferType::get(parser.getContext());
    return failure(parser.parseArgument(argument) || parser.parseEqual() ||
                   parseSlot(parser, numbers));
  };
  if (parser.parseKeyword("buffers") ||
      parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseBuffer))
    return failure();
  strides = parser.getBuilder().getDenseI64ArrayAttr(distances);
  slots = parser.getBuilder().getDenseI64ArrayAttr(numbers);
  if (succeeded(parser.parseOptionalKeyword("schedule"))) {
    schedule = dyn_cast_if_present<ScheduleAttr>(ScheduleAttr::parse(parser, Type()));
    if (!schedule)
      return failure();
  }
  return parser.parseRegion(body, arguments);
}

static void printKernel(OpAsmPrinter &printer, KernelOp kernel, DenseI64ArrayAttr outer,
                        DenseI64ArrayAttr rows, DenseI64ArrayAttr columns,
                        DenseI64ArrayAttr strides, DenseI64ArrayAttr, ScheduleAttr schedule,
                        Region &body) {
  ValueRange arguments = body.getArguments();
  for (auto [name, sizes] : {std::pair("outer", outer), {"rows", rows}, {"columns", columns}}) {
    if (sizes.empty())
      continue;
    printer << name;
    printLoops(printer, arguments.take_front(sizes.size()), sizes);
    printer << ' ';
    arguments = arguments.drop_front(sizes.size());
  }
  if (!strides.empty())
    llvm::interleaveComma(strides.asArrayRef(), printer << "strides [");
  printer << (strides.empty() ? "buffers(" : "] buffers(");
  llvm::interleaveComma(llvm::zip_equal(arguments, kernel.getBuffers()), printer, [&](auto buffer) {
    printer << std::get<0>(buffer) << " = ";
    printSlot(printer, std::get<1>(buffer));
  });
  printer << ") ";
  if (schedule) {
    printer << "schedule ";
    schedule.print(printer);
    printer << ' ';
  }
  printer.printRegion(body, /*printEntryBlockArgs=*/false);
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
