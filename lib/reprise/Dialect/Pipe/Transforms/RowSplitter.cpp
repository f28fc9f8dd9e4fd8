// reprise: replaces arrays of a step by parts of their rows
#include "RowSplitter.h"

#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/PlanAttributes.h"
#include "reprise/Dialect/Reprise/Transforms/PartReduction.h"
#include "reprise/Interfaces/Interfaces.h"
#include "reprise/Interfaces/Kinds.h"

#include <set>

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
    if (runsOf.contains(argument))
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
    setParts(argument, step.getArguments().slice(argument.getArgNumber() + 1, count));
}

/// Each part of an array becomes a run of its own.
void RowSplitter::setParts(Value whole, ValueRange values) {
  for (auto [k, range, value] : llvm::enumerate(parts.getParts(whole), values))
    runsOf[whole].push_back({static_cast<int64_t>(k), range, value});
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
      setParts(op.getResult(0), op.getOperands()); // joined rows
    return;
  }
  if (reducesParts(&op) && parts.contains(op.getOperand(0)) && parts.reduces(&op)) {
    auto mark = [&](Operation *made, int64_t part) { parts.markReduction(made, &op, part); };
    SmallVector<Value> values;
    for (auto [k, range] : llvm::enumerate(parts.getParts(op.getOperand(0))))
      values.push_back(getPart(op.getOperand(0), range, static_cast<int64_t>(k), &op, Value()));
    op.replaceAllUsesWith(ValueRange(reduceParts(&op, values, mark)));
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

/// Returns the rows that each copy of an op computes. A copy reads one run of each operand.
SmallVector<RowSplitter::Run> RowSplitter::formRuns(Operation &op) {
  std::set<int64_t> starts;
  llvm::copy(parts.getRuns(&op), std::inserter(starts, starts.end()));
  for (Value operand : op.getOperands())
    if (auto known = runsOf.find(operand); known != runsOf.end())
      for (const Run &run : known->second)
        starts.insert(run.part);
  SmallVector<RowRange> ranges = parts.getParts(op.getResult(0));
  SmallVector<Run> runs;
  for (int64_t start : starts) {
    if (!runs.empty())
      runs.back().rows.end = ranges[start].first;
    runs.push_back({start, {ranges[start].first, ranges.back().end}, Value()});
  }
  return runs;
}

void RowSplitter::splitOp(Operation &op) {
  Value whole = op.getResult(0);
  OpBuilder builder(&op);
  SmallVector<Run> runs = formRuns(op);
  for (Run &run : runs) {
    IRMapping mapping;
    for (Value operand : op.getOperands())
      mapping.map(operand, getPart(operand, run.rows, run.part, &op, whole));
    Operation *copy = builder.clone(op, mapping);
    copy->getResult(0).setType(getPartType(whole.getType(), run.rows.size()));
    parts.markCopy(copy, &op, run.part);
    run.value = copy->getResult(0);
  }
  runsOf[whole] = std::move(runs);
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

/// Returns the rows of a value that `reader` reads, to compute the same rows of `result`, if it is
/// known. The rows begin at a part, and lie in one run of a cut array.
Value RowSplitter::getPart(Value value, RowRange range, int64_t part, Operation *reader,
                           Value result) {
  Value from = value;
  RowRange rows = range;
  if (auto known = runsOf.find(value); known != runsOf.end()) {
    const Run &run = *std::prev(
        llvm::upper_bound(known->second, part, [](int64_t k, const Run &r) { return k < r.part; }));
    if (run.rows.size() == range.size())
      return run.value;
    from = run.value;
    rows = {range.first - run.rows.first, range.end - run.rows.first};
  }
  Operation *maker = value.getDefiningOp();
  if (auto constant = dyn_cast_or_null<ConstantOp>(maker))
    if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue()))
      return getConstant(constant, splat, range.size());
  if (auto broadcast = dyn_cast_or_null<BroadcastOp>(maker))
    if (!llvm::is_contained(broadcast.getDims(), 0))
      return getBroadcast(broadcast, range, part, result);
  Value made = slice(from, rows, reader);
  parts.markSlice(made.getDefiningOp(), value, reader, part);
  return made;
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

Value RowSplitter::slice(Value from, RowRange range, Operation *reader) {
  auto type = cast<RankedTensorType>(from.getType());
  SmallVector<int64_t> starts(type.getRank(), 0), ends(type.getShape()), strides(type.getRank(), 1);
  starts.front() = range.first;
  ends.front() = range.end;
  OpBuilder builder(reader);
  return reprise::SliceOp::create(builder, reader->getLoc(), getPartType(type, range.size()), from,
                                  starts, ends, strides);
}

/// Returns the whole array, for an op that cannot read parts.
Value RowSplitter::join(Value value, Operation *reader) {
  OpBuilder builder(reader);
  auto values = llvm::map_to_vector(runsOf.at(value), [](const Run &run) { return run.value; });
  Operation *made = ConcatenateOp::create(builder, reader->getLoc(), value.getType(), values, 0);
  parts.markJoin(made, value, reader);
  return made->getResult(0);
}
