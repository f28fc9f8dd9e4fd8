// reprise: replaces the ops of a step by an op per part of the model
#include "ModelSplitter.h"

#include "ModelSums.h"
#include "RandomWindow.h"
#include "mlir/IR/Remarks.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/Dialect/Reprise/IR/Naming.h"
#include "reprise/Dialect/Reprise/IR/PlanAttributes.h"
#include "reprise/Dialect/Reprise/IR/Transfers.h"
#include "reprise/Dialect/Reprise/Transforms/PartReduction.h"
#include "reprise/Support/ByteSize.h"

using namespace mlir;
using namespace reprise;

void ModelSplitter::run() {
  splitArguments();
  for (Operation &op : llvm::make_early_inc_range(step.getBody().front().without_terminator())) {
    const ModelCut *cut = cuts.get(&op);
    if (cut && cut->isSum())
      splitSum(cast<DotGeneralOp>(op), *cut);
    else if (cut && parts > 1)
      split(&op, *cut);
    else
      takeWhole(op);
  }
  splitResults();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(step.getBody().front())))
    if (const ModelCut *cut = cuts.get(&op); cut && (cut->isSum() || parts > 1) && op.use_empty())
      op.erase();
  llvm::BitVector unused(step.getNumArguments());
  for (BlockArgument argument : step.getArguments())
    if (partsOf.contains(argument))
      unused.set(argument.getArgNumber());
  (void)step.eraseArguments(unused);
}

RankedTensorType ModelSplitter::getPartType(Type whole, int64_t dim) const {
  auto type = cast<RankedTensorType>(whole);
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] /= parts;
  return type.clone(shape);
}

/// Returns the attributes of a part of an argument or a result.
DictionaryAttr ModelSplitter::describePart(DictionaryAttr array, Type whole, int64_t dim,
                                           int64_t part) const {
  int64_t rows = cast<RankedTensorType>(whole).getDimSize(dim), size = rows / parts;
  auto name = array.getAs<StringAttr>(EntrySignature::kName);
  return EntrySignature::Rows{name, part * size, (part + 1) * size, rows, dim}.describe(array,
                                                                                        names);
}

/// Inserts the parts behind each array, all at once: one at a time takes quadratic time.
void ModelSplitter::splitArguments() {
  SmallVector<BlockArgument> arrays;
  SmallVector<unsigned> places;
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> described;
  SmallVector<Location> locations;
  for (BlockArgument argument : step.getArguments()) {
    if (parts == 1 || !cuts.isInParts(argument))
      continue;
    int64_t dim = cuts.getDim(argument);
    DictionaryAttr array = step.getArgAttrDict(argument.getArgNumber());
    arrays.push_back(argument);
    places.append(parts, argument.getArgNumber() + 1);
    types.append(parts, getPartType(argument.getType(), dim));
    locations.append(parts, argument.getLoc());
    for (int64_t part = 0; part < parts; ++part)
      described.push_back(describePart(array, argument.getType(), dim, part));
  }
  if (arrays.empty() || failed(step.insertArguments(places, types, described, locations)))
    return;
  for (BlockArgument argument : arrays)
    for (int64_t part = 0; part < parts; ++part)
      partsOf[argument].push_back(
          step.getArgument(argument.getArgNumber() + 1 + static_cast<unsigned>(part)));
}

/// Returns the parts of the next values of arrays in parts, and joins all other results.
void ModelSplitter::splitResults() {
  Operation *ends = step.getBody().front().getTerminator();
  EntrySignature signature(step);
  SmallVector<Value> values;
  SmallVector<Attribute> attributes;
  for (auto [i, value] : llvm::enumerate(llvm::to_vector(ends->getOperands()))) {
    DictionaryAttr array = step.getResultAttrDict(i);
    int64_t replaced = signature.getReplacedArguments()[i];
    if (replaced < 0 || !partsOf.contains(step.getArgument(replaced))) {
      values.push_back(partsOf.contains(value) ? join(value, ends) : value);
      attributes.push_back(array);
      continue;
    }
    int64_t dim = cuts.getDim(step.getArgument(replaced));
    for (int64_t part = 0; part < parts; ++part) {
      values.push_back(getPart(value, dim, part, ends));
      attributes.push_back(describePart(array, value.getType(), dim, part));
    }
  }
  ends->setOperands(values);
  step.setFunctionType(FunctionType::get(step.getContext(), step.getArgumentTypes(),
                                         llvm::to_vector(ValueRange(values).getTypes())));
  step.setAllResultAttrs(attributes);
}

/// Copies the marks of an op that reads a slice or computes the parts of a join.
static void copyMarks(Operation *op, Operation *from) {
  for (StringRef name : {StringRef(kBlockAttr), StringRef(kPrimalAttr), StringRef(kCotangentAttr),
                         StringRef(kOrderAttr), StringRef(kStageAttr), StringRef(kMicrobatchAttr)})
    if (Attribute attribute = from->getDiscardableAttr(name))
      op->setDiscardableAttr(name, attribute);
}

/// Lets an op in one piece read the parts of its operands joined.
void ModelSplitter::takeWhole(Operation &op) {
  if (reducesParts(&op) && partsOf.contains(op.getOperand(0)) &&
      cuts.getDim(op.getOperand(0)) == 0) {
    auto mark = [&](Operation *made, int64_t part) {
      copyMarks(made, &op);
      made->setAttr(kModelPartAttr, Builder(made).getI64IntegerAttr(part));
    };
    op.replaceAllUsesWith(ValueRange(reduceParts(&op, partsOf.at(op.getOperand(0)), mark)));
    op.erase();
    return;
  }
  op.walk([&](Operation *inner) {
    for (OpOperand &operand : inner->getOpOperands())
      if (partsOf.contains(operand.get()))
        operand.set(join(operand.get(), &op));
  });
}

void ModelSplitter::split(Operation *op, const ModelCut &cut) {
  SmallVector<Operation *> clones;
  for (int64_t part = 0; part < parts; ++part)
    clones.push_back(cloneForPart(op, cut, part));
  for (OpResult result : op->getResults())
    for (Operation *clone : clones)
      partsOf[result].push_back(clone->getResult(result.getResultNumber()));
}

Operation *ModelSplitter::cloneForPart(Operation *op, const ModelCut &cut, int64_t part) {
  SmallVector<Value> operands = getOperands(op, cut, part);
  OpBuilder builder(op);
  int64_t size = cut.factors.factors[cut.factor].size / parts;
  Operation *clone = cloneOnPart(builder, op, operands, cut.factors, cut.factor, size);
  if (!cut.isOfUpdate) // the device of the array computes its update
    clone->setAttr(kModelPartAttr, builder.getI64IntegerAttr(part));
  if (auto random = dyn_cast<RandomOpInterface>(clone); random && random.draws()) {
    const auto &dims = cut.factors.results[0];
    int64_t dim = OpFactors::findDim(dims, cut.factor);
    moveWindow(builder, random, dim, part * size * cut.factors.countRows(dims[dim]));
  }
  return clone;
}

/// Returns the sum of the lanes of a part, without a rounding.
Value ModelSplitter::sumPart(DotGeneralOp op, const ModelCut &cut, int64_t part) {
  SmallVector<Value> operands = getOperands(op, cut, part);
  ImplicitLocOpBuilder b(op.getLoc(), op);
  int64_t own = lanes / parts;
  RankedTensorType type = parts > 1 ? widenSums(op.getType()) : op.getType();
  int64_t dim = OpFactors::findDim(cut.factors.operands[0], cut.factor);
  const int64_t *along = llvm::find(op.getLhsContracting(), dim);
  Operation *sum =
      own > 1 ? DotLanesOp::create(b, type, operands[0], operands[1], b.getI64IntegerAttr(own),
                                   b.getI64IntegerAttr(along - op.getLhsContracting().begin()),
                                   op.getLhsBatchAttr(), op.getRhsBatchAttr(),
                                   op.getLhsContractingAttr(), op.getRhsContractingAttr(),
                                   op.getAccumulationAttr(), op.getReplayAttr())
                    .getOperation()
              : DotGeneralOp::create(b, type, operands[0], operands[1], op.getLhsBatchAttr(),
                                     op.getRhsBatchAttr(), op.getLhsContractingAttr(),
                                     op.getRhsContractingAttr(), op.getAccumulationAttr(),
                                     op.getReplayAttr());
  sum->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  if (parts > 1)
    sum->setAttr(kModelPartAttr, b.getI64IntegerAttr(part));
  return sum->getResult(0);
}

/// Removes what belongs to the result of a sum, and not to its summands.
static void dropResultMarks(Operation *op) {
  for (StringRef name : {StringRef(kLabelAttr), StringRef(kRuleAttr), StringRef(kNamesAttr),
                         StringRef(kResultLabelsAttr), StringRef(kResultRulesAttr)})
    op->removeDiscardableAttr(name);
}

/// Adds the sums of all parts, and gives the ops the marks of the contraction.
Value ModelSplitter::addSums(DotGeneralOp op, ArrayRef<Value> sums, RankedTensorType type) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Operation *before = op->getPrevNode();
  Value root =
      roundSum(b, addNeighbours(b, 0, parts, [&](int64_t part) { return sums[part]; }), type);
  for (Operation *made = before->getNextNode(); made != op; made = made->getNextNode()) {
    made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    if (made != root.getDefiningOp())
      dropResultMarks(made);
  }
  return root;
}

/// Notes the purpose of the transfers of a value to other parts.
static void markTransfer(Value value, const TransferPurpose &purpose) {
  value.getDefiningOp()->setAttr(kTransferAttr, purpose.write(value.getContext()));
}

/// Lets each part add and round its share of a sum, which is cut along `dim`.
void ModelSplitter::addShares(DotGeneralOp op, ArrayRef<Value> sums, int64_t dim) {
  RankedTensorType type = getPartType(op.getType(), dim);
  for (int64_t share = 0; share < parts; ++share) {
    SmallVector<Value> own;
    for (auto [part, sum] : llvm::enumerate(sums)) {
      own.push_back(slice(sum, dim, share, op));
      own.back().getDefiningOp()->setAttr(
          kModelPartAttr, Builder(op).getI64IntegerAttr(static_cast<int64_t>(part)));
      markTransfer(own.back(), {TransferPurpose::kSum, describeOp(op), dim});
    }
    Operation *before = op->getPrevNode();
    partsOf[op.getResult()].push_back(addSums(op, own, type));
    for (Operation *made = before->getNextNode(); made != op; made = made->getNextNode())
      made->setAttr(kModelPartAttr, Builder(op).getI64IntegerAttr(share));
  }
}

void ModelSplitter::splitSum(DotGeneralOp op, const ModelCut &cut) {
  SmallVector<Value> sums;
  for (int64_t part = 0; part < parts; ++part) {
    sums.push_back(sumPart(op, cut, part));
    if (parts > 1)
      dropResultMarks(sums.back().getDefiningOp());
  }
  if (int64_t dim = cuts.getDim(op.getResult()); dim >= 0)
    return addShares(op, sums, dim);
  if (parts > 1)
    for (Value sum : sums)
      markTransfer(sum, {TransferPurpose::kSum, describeOp(op), std::nullopt});
  op.replaceAllUsesWith(parts == 1 ? sums[0] : addSums(op, sums, op.getType()));
}

SmallVector<Value> ModelSplitter::getOperands(Operation *op, const ModelCut &cut, int64_t part) {
  SmallVector<Value> operands;
  for (auto [operand, dims] : llvm::zip(op->getOperands(), cut.factors.operands))
    operands.push_back(getPart(operand, OpFactors::findDim(dims, cut.factor), part, op));
  return operands;
}

/// Returns the pass of a reader.
static int64_t getPass(Operation *reader) {
  auto order = reader->getAttrOfType<IntegerAttr>(kOrderAttr);
  return order ? order.getInt() : 0;
}

/// Returns the part that `reader` reads of a dimension, or the whole value for dimension -1.
Value ModelSplitter::getPart(Value value, int64_t dim, int64_t part, Operation *reader) {
  auto found = partsOf.find(value);
  if (found == partsOf.end())
    return dim < 0 || parts == 1 ? value : slice(value, dim, part, reader);
  if (dim < 0)
    return join(value, reader);
  return cuts.getDim(value) == dim ? found->second[part] : exchange(value, dim, part, reader);
}

/// Returns a part of a value that is cut along another dimension: each part sends a slice.
Value ModelSplitter::exchange(Value value, int64_t dim, int64_t part, Operation *reader) {
  Value &made = exchanges[value][{dim, part, getPass(reader)}];
  if (made)
    return made;
  SmallVector<Value> pieces;
  for (auto [from, own] : llvm::enumerate(llvm::to_vector(partsOf.at(value)))) {
    pieces.push_back(slice(own, dim, part, reader));
    pieces.back().getDefiningOp()->setAttr(
        kModelPartAttr, Builder(reader).getI64IntegerAttr(static_cast<int64_t>(from)));
    Operation *maker = own.getDefiningOp();
    markTransfer(pieces.back(),
                 {TransferPurpose::kExchange, describeOp(maker ? maker : reader), dim});
  }
  OpBuilder builder(reader);
  Operation *op = ConcatenateOp::create(
      builder, reader->getLoc(), getPartType(value.getType(), dim), pieces, cuts.getDim(value));
  copyMarks(op, reader);
  op->setAttr(kModelPartAttr, builder.getI64IntegerAttr(part));
  return made = op->getResult(0);
}

Value ModelSplitter::slice(Value value, int64_t dim, int64_t part, Operation *reader) {
  Value &made = slices[value][{dim, part, getPass(reader)}];
  if (!made) {
    Operation *op = makeSlice(value, dim, part, reader);
    copyMarks(op, reader);
    made = op->getResult(0);
  }
  return made;
}

/// Makes the op for a part of a value. All parts of a constant or a broadcast are alike.
Operation *ModelSplitter::makeSlice(Value value, int64_t dim, int64_t part, Operation *reader) {
  OpBuilder b(reader);
  RankedTensorType type = getPartType(value.getType(), dim);
  if (auto constant = value.getDefiningOp<ConstantOp>())
    if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue()))
      return ConstantOp::create(b, value.getLoc(), splat.resizeSplat(type));
  if (auto whole = value.getDefiningOp<BroadcastOp>();
      whole && !llvm::is_contained(whole.getDims(), dim))
    return BroadcastOp::create(b, value.getLoc(), type, whole.getOperand(), whole.getDims());
  SmallVector<int64_t> starts(type.getRank(), 0);
  SmallVector<int64_t> limits(cast<RankedTensorType>(value.getType()).getShape());
  starts[dim] = part * type.getDimSize(dim);
  limits[dim] = starts[dim] + type.getDimSize(dim);
  return reprise::SliceOp::create(b, reader->getLoc(), value, starts, limits,
                                  SmallVector<int64_t>(type.getRank(), 1));
}

/// Tells in a remark how many bytes of parts the readers of a value join.
static void remarkJoin(Value value, int64_t dim, Operation *reader, StringRef function) {
  if (!value.getContext()->getRemarkEngine())
    return;
  auto options = remark::RemarkOpts::name("joined").category("model").function(function);
  remark::missed(value.getLoc(), options)
      << remark::metric("reader", reader->getName().getStringRef())
      << remark::metric("dimension", dim) << remark::metric("bytes", getByteSize(value.getType()));
}

/// Returns the parts joined, for an op that cannot read parts.
Value ModelSplitter::join(Value value, Operation *reader) {
  Value &made = joins[value][{cuts.getDim(value), -1, getPass(reader)}];
  if (!made) {
    OpBuilder builder(reader);
    Operation *op = ConcatenateOp::create(builder, reader->getLoc(), value.getType(),
                                          partsOf.at(value), cuts.getDim(value));
    copyMarks(op, reader);
    remarkJoin(value, cuts.getDim(value), reader, step.getName());
    made = op->getResult(0);
  }
  return made;
}
