// reprise: replaces arrays of a step by parts of their rows
#include "RowSplitter.h"

#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/PlanAttributes.h"
#include "reprise/Dialect/Reprise/Transforms/PartReduction.h"
#include "reprise/Interfaces/Interfaces.h"
#include "reprise/Interfaces/Kinds.h"

using namespace mlir;
using namespace reprise;
using namespace reprise::pipe;

bool reprise::pipe::hasRows(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() > 0 && tensor.getDimSize(0) > 1 && tensor.getNumElements() > 0;
}

bool reprise::pipe::isRowwise(Operation *op) {
  if (!isElementwise(op) || isa<RandomOpInterface>(op) || !isMemoryEffectFree(op) ||
      op->getNumRegions() != 0 || op->getNumResults() != 1 || !hasRows(op->getResult(0).getType()))
    return false;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(op->getResult(0).getType()).getShape();
  return llvm::all_of(op->getOperandTypes(),
                      [&](Type type) { return cast<RankedTensorType>(type).getShape() == shape; });
}

RankedTensorType reprise::pipe::getPartType(Type whole, int64_t rows) {
  auto type = cast<RankedTensorType>(whole);
  SmallVector<int64_t> shape(type.getShape());
  shape.front() = rows;
  return type.clone(shape);
}

void reprise::pipe::copyMarks(Operation *op, Operation *from) {
  for (StringRef name : {StringRef(kBlockAttr), StringRef(kPrimalAttr), StringRef(kCotangentAttr),
                         StringRef(kOrderAttr), StringRef(kStageAttr), StringRef(kMicrobatchAttr)})
    if (Attribute attribute = from->getDiscardableAttr(name))
      op->setDiscardableAttr(name, attribute);
}

int64_t reprise::pipe::countRows(Value value) {
  return cast<RankedTensorType>(value.getType()).getDimSize(0);
}

void reprise::pipe::connectRows(ProgramOp step, function_ref<bool(Value)> isConnecting,
                                llvm::EquivalenceClasses<void *> &connected) {
  for (BlockArgument argument : step.getArguments())
    if (isConnecting(argument))
      connected.insert(argument.getAsOpaquePointer());
  for (Operation &op : step.getBody().front()) {
    for (Value result : op.getResults())
      if (isConnecting(result))
        connected.insert(result.getAsOpaquePointer());
    if (!isRowwise(&op) || !isConnecting(op.getResult(0)))
      continue;
    for (Value operand : op.getOperands())
      if (isConnecting(operand))
        connected.unionSets(op.getResult(0).getAsOpaquePointer(), operand.getAsOpaquePointer());
  }
  EntrySignature signature(step);
  Operation *ends = step.getBody().front().getTerminator();
  for (auto [value, replaced] : llvm::zip(ends->getOperands(), signature.getReplacedArguments()))
    if (replaced >= 0 && isConnecting(value) && isConnecting(step.getArgument(replaced)))
      connected.unionSets(value.getAsOpaquePointer(),
                          step.getArgument(replaced).getAsOpaquePointer());
}

RowSplitter::RowSplitter(ProgramOp step, const RowParts &parts)
    : step(step), parts(parts), names(EntrySignature(step).getNames()) {}

void RowSplitter::run() {
  splitArguments();
  Block &block = step.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
    replace(op);
  splitResults();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
  llvm::BitVector unused(step.getNumArguments());
  for (BlockArgument argument : step.getArguments())
    if (partsOf.contains(argument))
      unused.set(argument.getArgNumber());
  (void)step.eraseArguments(unused);
}

/// Returns the attributes of a part of an argument or a result.
DictionaryAttr RowSplitter::describePart(DictionaryAttr whole, RowRange part, int64_t rows) {
  auto name = whole.getAs<StringAttr>(EntrySignature::kName);
  return EntrySignature::Rows{name, part.first, part.end, rows}.describe(whole, names);
}

/// Inserts the parts behind each array, all at once: one at a time takes quadratic time.
void RowSplitter::splitArguments() {
  SmallVector<BlockArgument> arrays;
  SmallVector<unsigned> places, counts;
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attributes;
  SmallVector<Location> locations;
  for (BlockArgument argument : step.getArguments()) {
    if (!parts.contains(argument))
      continue;
    DictionaryAttr whole = step.getArgAttrDict(argument.getArgNumber());
    SmallVector<RowRange> ranges = parts.getParts(argument);
    arrays.push_back(argument);
    counts.push_back(static_cast<unsigned>(ranges.size()));
    places.append(ranges.size(), argument.getArgNumber() + 1);
    locations.append(ranges.size(), argument.getLoc());
    for (auto [k, range] : llvm::enumerate(ranges)) {
      NamedAttrList described = describePart(whole, range, countRows(argument));
      parts.describeArgument(argument, static_cast<int64_t>(k), described);
      attributes.push_back(described.getDictionary(step.getContext()));
      types.push_back(getPartType(argument.getType(), range.size()));
    }
  }
  if (arrays.empty() || failed(step.insertArguments(places, types, attributes, locations)))
    return;
  for (auto [argument, count] : llvm::zip(arrays, counts))
    for (unsigned k = 0; k < count; ++k)
      partsOf[argument].push_back(step.getArgument(argument.getArgNumber() + 1 + k));
}

void RowSplitter::splitResults() {
  Operation *ends = step.getBody().front().getTerminator();
  SmallVector<Value> values;
  SmallVector<Attribute> attributes;
  for (auto [i, value] : llvm::enumerate(ends->getOperands())) {
    DictionaryAttr whole = step.getResultAttrDict(i);
    if (!parts.contains(value) || !whole.get(EntrySignature::kName)) {
      values.push_back(parts.contains(value) ? join(value, ends) : Value(value));
      attributes.push_back(whole);
      continue;
    }
    for (auto [k, range] : llvm::enumerate(parts.getParts(value))) {
      values.push_back(getPart(value, range, static_cast<int64_t>(k), ends, Value()));
      attributes.push_back(describePart(whole, range, countRows(value)));
    }
  }
  ends->setOperands(values);
  step.setFunctionType(FunctionType::get(step.getContext(), step.getArgumentTypes(),
                                         llvm::to_vector(ValueRange(values).getTypes())));
  step.setAllResultAttrs(attributes);
}

void RowSplitter::replace(Operation &op) {
  if (op.getNumResults() == 1 && parts.contains(op.getResult(0))) {
    if (isRowwise(&op))
      splitOp(op);
    else
      partsOf[op.getResult(0)].assign(op.operand_begin(), op.operand_end()); // joined rows
    return;
  }
  if (reducesParts(&op) && parts.contains(op.getOperand(0)) && parts.reduces(&op)) {
    auto mark = [&](Operation *made, int64_t part) { parts.markReduction(made, &op, part); };
    op.replaceAllUsesWith(ValueRange(reduceParts(&op, partsOf.at(op.getOperand(0)), mark)));
    op.erase();
    return;
  }
  if (auto slice = dyn_cast<reprise::SliceOp>(op))
    if (parts.contains(slice.getOperand()) && takePart(slice))
      return;
  op.walk([&](Operation *inner) {
    for (OpOperand &operand : inner->getOpOperands())
      if (parts.contains(operand.get()))
        operand.set(join(operand.get(), &op));
  });
}

void RowSplitter::splitOp(Operation &op) {
  Value whole = op.getResult(0);
  OpBuilder builder(&op);
  for (auto [k, range] : llvm::enumerate(parts.getParts(whole))) {
    auto part = static_cast<int64_t>(k);
    IRMapping mapping;
    for (Value operand : op.getOperands())
      mapping.map(operand, getPart(operand, range, part, &op, whole));
    Operation *copy = builder.clone(op, mapping);
    copy->getResult(0).setType(getPartType(whole.getType(), range.size()));
    parts.markCopy(copy, &op, part);
    partsOf[whole].push_back(copy->getResult(0));
  }
}

/// Replaces a slice that lies in one part of a cut array. Returns false if no part contains it.
bool RowSplitter::takePart(reprise::SliceOp op) {
  int64_t first = op.getStarts().front(), last = op.getLimits().front();
  SmallVector<RowRange> ranges = parts.getParts(op.getOperand());
  auto *found = llvm::find_if(
      ranges, [&](RowRange range) { return range.first <= first && last <= range.end; });
  if (found == ranges.end())
    return false;
  Value own = getPart(op.getOperand(), *found, found - ranges.begin(), op, Value());
  if (own.getType() != op.getType()) {
    OpBuilder builder(op);
    SmallVector<int64_t> starts(op.getStarts()), ends(op.getLimits());
    starts.front() -= found->first;
    ends.front() -= found->first;
    Operation *window = reprise::SliceOp::create(builder, op.getLoc(), op.getType(), own, starts,
                                                 ends, op.getStrides());
    window->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    own = window->getResult(0);
  }
  op.replaceAllUsesWith(own);
  return true;
}

/// Returns the part of a value that `reader` reads, to compute the same part of `result`, if it is
/// known.
Value RowSplitter::getPart(Value value, RowRange range, int64_t part, Operation *reader,
                           Value result) {
  if (auto known = partsOf.find(value); known != partsOf.end())
    return known->second[part];
  Operation *maker = value.getDefiningOp();
  if (auto constant = dyn_cast_or_null<ConstantOp>(maker))
    if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue()))
      return getConstant(constant, splat, range.size());
  if (auto broadcast = dyn_cast_or_null<BroadcastOp>(maker))
    if (!llvm::is_contained(broadcast.getDims(), 0))
      return getBroadcast(broadcast, range, part, result);
  return slice(value, range, part, reader);
}

Value RowSplitter::getConstant(ConstantOp whole, SplatElementsAttr splat, int64_t rows) {
  Value &made = common[{whole, -1, rows}];
  if (!made) {
    OpBuilder builder(whole);
    Operation *op = ConstantOp::create(
        builder, whole.getLoc(), splat.resizeSplat(getPartType(whole.getResult().getType(), rows)));
    op->setDiscardableAttrs(whole->getDiscardableAttrDictionary());
    made = op->getResult(0);
  }
  return made;
}

Value RowSplitter::getBroadcast(BroadcastOp whole, RowRange range, int64_t part, Value result) {
  Value &made = common[{whole, parts.getBroadcastKey(whole, part, result), range.size()}];
  if (!made) {
    OpBuilder builder(whole);
    Operation *op = BroadcastOp::create(builder, whole.getLoc(),
                                        getPartType(whole.getResult().getType(), range.size()),
                                        whole.getOperand(), whole.getDims());
    op->setDiscardableAttrs(whole->getDiscardableAttrDictionary());
    parts.markBroadcast(op, whole, part, result);
    made = op->getResult(0);
  }
  return made;
}

Value RowSplitter::slice(Value value, RowRange range, int64_t part, Operation *reader) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> starts(type.getRank(), 0), ends(type.getShape()), strides(type.getRank(), 1);
  starts.front() = range.first;
  ends.front() = range.end;
  OpBuilder builder(reader);
  Operation *made = reprise::SliceOp::create(
      builder, reader->getLoc(), getPartType(type, range.size()), value, starts, ends, strides);
  parts.markSlice(made, value, reader, part);
  return made->getResult(0);
}

/// Returns the whole array, for an op that cannot read parts.
Value RowSplitter::join(Value value, Operation *reader) {
  OpBuilder builder(reader);
  Operation *made =
      ConcatenateOp::create(builder, reader->getLoc(), value.getType(), partsOf.at(value), 0);
  parts.markJoin(made, value, reader);
  return made->getResult(0);
}
