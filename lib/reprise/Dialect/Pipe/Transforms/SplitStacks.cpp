// reprise: gives each stage the rows of the stacks that it reads
#include "reprise/Dialect/Pipe/Transforms/Passes.h"

#include "Stacks.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/PlanAttributes.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

using namespace mlir;

namespace reprise::pipe {
#define GEN_PASS_DEF_SPLITSTACKSPASS
#include "reprise/Dialect/Pipe/Transforms/Passes.h.inc"

namespace {

RankedTensorType getRowType(Type stack) {
  auto type = cast<RankedTensorType>(stack);
  SmallVector<int64_t> shape(type.getShape());
  shape.front() = 1;
  return type.clone(shape);
}

/// Copies the marks of the op `from`, for which rows are moved, to `op`.
void takePart(Operation *op, Operation *from) {
  for (StringRef name : {StringRef(kBlockAttr), StringRef(kPrimalAttr), StringRef(kCotangentAttr),
                         StringRef(kOrderAttr), StringRef(kStageAttr), StringRef(kMicrobatchAttr)})
    if (Attribute attribute = from->getDiscardableAttr(name))
      op->setDiscardableAttr(name, attribute);
}

/// Sets the stage of one row, from an op that has a stage per iteration.
void takeStage(Operation *op, int64_t row, int64_t rows) {
  auto stages = dyn_cast_or_null<DenseI64ArrayAttr>(op->getDiscardableAttr(kStageAttr));
  if (!stages)
    return;
  op->removeDiscardableAttr(kStageAttr);
  if (stages.size() == rows)
    op->setDiscardableAttr(kStageAttr, Builder(op->getContext()).getI64IntegerAttr(stages[row]));
}

class StackSplitter {
public:
  StackSplitter(ProgramOp step, const Stacks &stacks) : step(step), stacks(stacks) {
    EntrySignature signature(step);
    for (unsigned i = 0; i < step.getNumArguments(); ++i)
      names.insert(signature.getArgumentName(i));
    for (unsigned i = 0; i < step.getNumResults(); ++i)
      names.insert(signature.getResultName(i));
  }

  void run() {
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
      if (rowsOf.contains(argument))
        unused.set(argument.getArgNumber());
    (void)step.eraseArguments(unused);
  }

private:
  /// The attributes of row `row` of an argument or a result.
  DictionaryAttr describeRow(DictionaryAttr whole, int64_t row, int64_t rows) {
    NamedAttrList attributes(whole);
    Builder builder(step.getContext());
    auto name = whole.getAs<StringAttr>(EntrySignature::kName);
    attributes.set(EntrySignature::kName, nameRow(name, row));
    attributes.set(EntrySignature::kWhole, name);
    attributes.set(EntrySignature::kRows, builder.getDenseI64ArrayAttr({row, row + 1, rows}));
    return attributes.getDictionary(step.getContext());
  }

  /// Returns the name of a row: the same for an argument and its next value, and otherwise unique.
  StringAttr nameRow(StringAttr whole, int64_t row) {
    std::string name = (whole.getValue() + "[" + Twine(row) + "]").str();
    StringAttr made = StringAttr::get(step.getContext(), name);
    while (names.contains(made))
      made = StringAttr::get(step.getContext(), name += "'");
    return made;
  }

  void splitArguments() {
    for (BlockArgument argument : llvm::to_vector(step.getArguments())) {
      if (!stacks.contains(argument))
        continue;
      int64_t rows = Stacks::countRows(argument);
      DictionaryAttr whole = step.getArgAttrDict(argument.getArgNumber());
      for (int64_t k = 0; k < rows; ++k) {
        unsigned place = argument.getArgNumber() + 1 + static_cast<unsigned>(k);
        (void)step.insertArgument(place, getRowType(argument.getType()),
                                  describeRow(whole, k, rows), argument.getLoc());
        rowsOf[argument].push_back(step.getArgument(place));
      }
    }
  }

  void splitResults() {
    Operation *ends = step.getBody().front().getTerminator();
    SmallVector<Value> values;
    SmallVector<Attribute> attributes;
    for (auto [i, value] : llvm::enumerate(ends->getOperands())) {
      DictionaryAttr whole = step.getResultAttrDict(i);
      if (!stacks.contains(value) || !whole.get(EntrySignature::kName)) {
        values.push_back(stacks.contains(value) ? join(value, ends) : Value(value));
        attributes.push_back(whole);
        continue;
      }
      int64_t rows = Stacks::countRows(value);
      for (int64_t k = 0; k < rows; ++k) {
        values.push_back(getRow(value, k, ends, std::nullopt));
        attributes.push_back(describeRow(whole, k, rows));
      }
    }
    ends->setOperands(values);
    step.setFunctionType(FunctionType::get(step.getContext(), step.getArgumentTypes(),
                                           llvm::to_vector(ValueRange(values).getTypes())));
    step.setAllResultAttrs(attributes);
  }

  void replace(Operation &op) {
    if (op.getNumResults() == 1 && stacks.contains(op.getResult(0))) {
      if (Stacks::isRowwise(&op))
        splitOp(op);
      else
        rowsOf[op.getResult(0)].assign(op.operand_begin(), op.operand_end()); // joined rows
      return;
    }
    if (std::optional<int64_t> row = Stacks::getRow(&op); row && stacks.contains(op.getOperand(0)))
      return takeRow(cast<reprise::SliceOp>(op), *row);
    for (OpOperand &operand : op.getOpOperands())
      if (stacks.contains(operand.get()))
        operand.set(join(operand.get(), &op));
  }

  void splitOp(Operation &op) {
    Value stack = op.getResult(0);
    int64_t rows = Stacks::countRows(stack);
    OpBuilder builder(&op);
    for (int64_t k = 0; k < rows; ++k) {
      IRMapping mapping;
      for (Value operand : op.getOperands())
        mapping.map(operand, getRow(operand, k, &op, stacks.getStage(stack, k)));
      Operation *copy = builder.clone(op, mapping);
      copy->getResult(0).setType(getRowType(stack.getType()));
      takeStage(copy, k, rows);
      rowsOf[stack].push_back(copy->getResult(0));
    }
  }

  /// A slice of row `row` of a stack.
  void takeRow(reprise::SliceOp op, int64_t row) {
    Value own = getRow(op.getOperand(), row, op, std::nullopt);
    if (own.getType() != op.getType()) {
      OpBuilder builder(op);
      SmallVector<int64_t> starts(op.getStarts()), ends(op.getLimits());
      starts.front() = 0;
      ends.front() = 1;
      Operation *window = reprise::SliceOp::create(builder, op.getLoc(), op.getType(), own, starts,
                                                   ends, op.getStrides());
      window->setDiscardableAttrs(op->getDiscardableAttrDictionary());
      own = window->getResult(0);
    }
    op.replaceAllUsesWith(own);
  }

  /// Returns row `k` of a value that `reader` reads, on the stage that runs it, if that is known.
  Value getRow(Value value, int64_t k, Operation *reader, std::optional<int64_t> stage) {
    if (auto known = rowsOf.find(value); known != rowsOf.end())
      return known->second[k];
    Operation *maker = value.getDefiningOp();
    if (auto constant = dyn_cast_or_null<ConstantOp>(maker))
      if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue()))
        return getConstant(constant, splat);
    if (auto broadcast = dyn_cast_or_null<BroadcastOp>(maker))
      if (!llvm::is_contained(broadcast.getDims(), 0))
        return getBroadcast(broadcast, k, stage);
    return slice(value, k, reader);
  }

  Value getConstant(ConstantOp whole, SplatElementsAttr splat) {
    Value &row = common[{whole, -1}];
    if (!row) {
      OpBuilder builder(whole);
      Operation *made = ConstantOp::create(
          builder, whole.getLoc(), splat.resizeSplat(getRowType(whole.getResult().getType())));
      made->setDiscardableAttrs(whole->getDiscardableAttrDictionary());
      row = made->getResult(0);
    }
    return row;
  }

  /// Returns one broadcast for each stage, which computes it from the smaller value.
  Value getBroadcast(BroadcastOp whole, int64_t k, std::optional<int64_t> stage) {
    bool isMarked = whole->hasAttr(kStageAttr) || !stage;
    Value &row = common[{whole, isMarked ? -1 - k : *stage}];
    if (!row) {
      OpBuilder builder(whole);
      Operation *made =
          BroadcastOp::create(builder, whole.getLoc(), getRowType(whole.getResult().getType()),
                              whole.getOperand(), whole.getDims());
      made->setDiscardableAttrs(whole->getDiscardableAttrDictionary());
      takeStage(made, k, Stacks::countRows(whole.getResult()));
      if (!isMarked)
        made->setDiscardableAttr(kStageAttr, builder.getI64IntegerAttr(*stage));
      row = made->getResult(0);
    }
    return row;
  }

  Value slice(Value value, int64_t k, Operation *reader) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> starts(type.getRank(), 0), ends(type.getShape()),
        strides(type.getRank(), 1);
    starts.front() = k;
    ends.front() = k + 1;
    OpBuilder builder(reader);
    Operation *made = reprise::SliceOp::create(builder, reader->getLoc(), getRowType(type), value,
                                               starts, ends, strides);
    takePart(made, reader);
    takeStage(made, k, type.getDimSize(0));
    return made->getResult(0);
  }

  /// Returns the whole stack, for an op that cannot read rows.
  Value join(Value stack, Operation *reader) {
    OpBuilder builder(reader);
    Operation *made =
        ConcatenateOp::create(builder, reader->getLoc(), stack.getType(), rowsOf.at(stack), 0);
    takePart(made, reader);
    takeStage(made, 0, Stacks::countRows(stack));
    return made->getResult(0);
  }

  ProgramOp step;
  const Stacks &stacks;
  DenseSet<StringAttr> names; ///< names of whole arguments and results
  DenseMap<Value, SmallVector<Value>> rowsOf;
  std::map<std::pair<Operation *, int64_t>, Value> common; ///< equal rows
};

struct SplitStacksPass : impl::SplitStacksPassBase<SplitStacksPass> {
  using Base::Base;

  void runOnOperation() override {
    ProgramOp step = getOperation();
    Stacks stacks(step);
    if (stacks.empty())
      return markAllAnalysesPreserved();
    StackSplitter(step, stacks).run();
  }
};

} // namespace
} // namespace reprise::pipe
