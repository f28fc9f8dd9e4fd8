// reprise: runs the widest contraction and its readers in slices of rows
#include "reprise/Dialect/Reprise/Transforms/SliceHead.h"

#include "HeadRegion.h"
#include "Plan.h"
#include "reprise/Dialect/Reprise/Transforms/Passes.h"
#include "reprise/Interfaces/Kinds.h"
#include "reprise/Support/ByteSize.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace reprise {
#define GEN_PASS_DEF_SLICEHEADPASS
#include "reprise/Dialect/Reprise/Transforms/Passes.h.inc"

namespace {

/// The sum of all slices of a contraction, a sum or a mean, in the compute type. Slices continue a
/// chain until it is as long as a block of terms. Closed chains, and slices of whole blocks, meet
/// in the tree of neighbours.
class SlicedSum {
public:
  /// Adds the terms of a slice, in the order of the whole.
  void add(OpBuilder &builder, Operation *op, ValueRange operands) {
    Type compute = getComputeType(getElementTypeOrSelf(operands[0]));
    auto type = cast<RankedTensorType>(op->getResult(0).getType()).clone(compute);
    Operation *made;
    if (auto dot = dyn_cast<DotGeneralOp>(op))
      made = addProducts(builder, dot, type, operands);
    else
      made = SumOp::create(builder, op->getLoc(), widen(builder, operands[0], compute),
                           llvm::to_vector(cast<ReductionOpInterface>(op).getReducedDims()));
    sum = made->getResult(0);
    terms += countTerms(op, operands[0].getType());
    if (terms % countBlockTerms(op) == 0)
      close(builder, op->getLoc());
  }

  /// Returns the result of the whole.
  Value finish(OpBuilder &builder, Operation *op) {
    if (sum)
      close(builder, op->getLoc());
    Value total = waiting.pop_back_val();
    while (!waiting.empty())
      total = AddOp::create(builder, op->getLoc(), waiting.pop_back_val(), total);
    auto type = cast<RankedTensorType>(total.getType());
    if (isa<MeanOp>(op)) {
      auto count = builder.getFloatAttr(type.getElementType(), static_cast<double>(countTerms(op)));
      Value divisor =
          ConstantOp::create(builder, op->getLoc(), DenseElementsAttr::get(type, Attribute(count)));
      total = DivOp::create(builder, op->getLoc(), total, divisor);
    }
    if (type != op->getResult(0).getType())
      total = CastOp::create(builder, op->getLoc(), op->getResult(0).getType(), total);
    return total;
  }

private:
  static Value widen(OpBuilder &builder, Value value, Type compute) {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getElementType() == compute)
      return value;
    return CastOp::create(builder, value.getLoc(), type.clone(compute), value);
  }

  Operation *addProducts(OpBuilder &builder, DotGeneralOp dot, Type type, ValueRange operands) {
    if (sum)
      return DotAccumulateOp::create(builder, dot.getLoc(), type, operands[0], operands[1], sum,
                                     dot.getLhsBatchAttr(), dot.getRhsBatchAttr(),
                                     dot.getLhsContractingAttr(), dot.getRhsContractingAttr(),
                                     dot.getAccumulationAttr(), dot.getReplayAttr());
    return DotGeneralOp::create(builder, dot.getLoc(), type, operands[0], operands[1],
                                dot.getLhsBatchAttr(), dot.getRhsBatchAttr(),
                                dot.getLhsContractingAttr(), dot.getRhsContractingAttr(),
                                dot.getAccumulationAttr(), dot.getReplayAttr());
  }

  /// Pushes the sum as a carry through the bits of a counter.
  void close(OpBuilder &builder, Location location) {
    for (int64_t rest = closed++; rest & 1; rest >>= 1)
      sum = AddOp::create(builder, location, waiting.pop_back_val(), sum);
    waiting.push_back(sum);
    sum = {};
  }

  Value sum; ///< null if the next slice begins a chain
  int64_t terms = 0, closed = 0;
  SmallVector<Value> waiting; ///< sums of subtrees, larger ones first
};

/// Makes the op one of the backward pass of a gradient.
void markAsCotangent(Operation *op, Attribute order) {
  for (StringRef name : {kPrimalAttr, kLabelAttr, kRuleAttr, kResultLabelsAttr, kResultRulesAttr})
    op->removeDiscardableAttr(name);
  op->setDiscardableAttr(kCotangentAttr, UnitAttr::get(op->getContext()));
  op->setDiscardableAttr(kOrderAttr, order);
}

/// Wide values of the forward pass, which cotangents compute again.
class WideCopies {
public:
  /// Copies the wide values that the leader leads to before their first cotangent.
  explicit WideCopies(DotGeneralOp leader) {
    SmallVector<Operation *> ops{leader};
    DenseSet<Value> wide{leader.getResult()};
    int64_t width = leader.getType().getNumElements();
    Operation *firstCotangent = nullptr;
    for (Operation *op = leader->getNextNode(); op && !firstCotangent; op = op->getNextNode()) {
      if (llvm::none_of(op->getOperands(), [&](Value value) { return wide.contains(value); }))
        continue;
      if (isCotangent(op))
        firstCotangent = op;
      else if (isPrimal(op) && op->getNumResults() == 1 &&
               cast<ShapedType>(op->getResult(0).getType()).getNumElements() == width &&
               wide.insert(op->getResult(0)).second)
        ops.push_back(op);
    }
    if (!firstCotangent || !firstCotangent->hasAttr(kOrderAttr))
      return;
    IRMapping mapping;
    OpBuilder builder(firstCotangent);
    for (Operation *op : ops)
      markAsCotangent(copies.emplace_back(builder.clone(*op, mapping)),
                      firstCotangent->getAttr(kOrderAttr));
    originals = ops;
    for (Operation *op = copies.back(); op; op = op->getNextNode())
      if (isCotangent(op))
        for (OpOperand &operand : op->getOpOperands())
          operand.set(mapping.lookupOrDefault(operand.get()));
  }

  /// Returns the copy of the leader; null if no cotangent reads a wide value.
  DotGeneralOp getLeader() const {
    return copies.empty() ? DotGeneralOp() : cast<DotGeneralOp>(copies.front());
  }

  /// Undoes the copies.
  void erase() {
    for (auto [original, copy] : llvm::zip(originals, copies))
      copy->getResult(0).replaceAllUsesWith(original->getResult(0));
    for (Operation *copy : llvm::reverse(copies))
      copy->erase();
  }

private:
  SmallVector<Operation *> originals, copies;
};

/// Builds the ops of a region once per slice.
class HeadSlicer {
public:
  explicit HeadSlicer(const HeadRegion &region)
      : region(region), last(region.ops.back()), builder(last) {
    for (Operation *op : region.ops)
      if (isCotangent(op))
        order = op->getAttr(kOrderAttr);
  }

  void run() {
    Operation *before = last->getPrevNode();
    for (int64_t begin = 0; begin < region.units; begin += region.perSlice)
      runSlice(begin, std::min(begin + region.perSlice, region.units));
    replaceResults();
    for (Operation *op = before ? before->getNextNode() : &last->getBlock()->front(); op != last;
         op = op->getNextNode())
      marks.push_back(op);
    for (Operation *op : region.followers)
      if (op->isBeforeInBlock(last)) {
        op->moveBefore(last);
        if (order)
          marks.push_back(op);
      }
    for (Operation *op : marks)
      mark(op);
    eraseRegion();
  }

private:
  using Window = std::tuple<Value, int64_t, int64_t>;

  void runSlice(int64_t begin, int64_t end) {
    first = begin;
    size = end - begin;
    own.clear();
    windows.clear();
    for (Operation *op : region.ops) {
      const BatchCut &cut = region.cuts.at(op);
      SmallVector<Value> operands = findOperands(op, cut);
      if (cut.isReduced()) {
        sums[op].add(builder, op, operands);
        continue;
      }
      Operation *made =
          cloneOnPart(builder, op, operands, cut.factors, cut.factor, cut.each * size);
      for (auto [result, part] : llvm::zip(op->getResults(), made->getResults()))
        own[result] = part;
    }
    for (auto [value, rows] : region.rows)
      if (isReadOutside(value))
        parts[value].push_back(own.lookup(value));
  }

  SmallVector<Value> findOperands(Operation *op, const BatchCut &cut) {
    SmallVector<Value> operands;
    for (auto [operand, dims] : llvm::zip(op->getOperands(), cut.factors.operands)) {
      int64_t dim = OpFactors::findDim(dims, cut.factor);
      operands.push_back(dim < 0 ? operand : findPart(operand, dim, cut.countRows(dims[dim])));
    }
    return operands;
  }

  /// Returns the rows of a value that the slice reads.
  Value findPart(Value value, int64_t dim, int64_t rows) {
    if (Value part = own.lookup(value))
      return part;
    if (Value known = windows.lookup({value, dim, rows}))
      return known;
    Value made = makeWindow(value, dim, rows);
    windows[{value, dim, rows}] = made;
    return made;
  }

  Value makeWindow(Value value, int64_t dim, int64_t rows) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] = rows * size;
    if (auto constant = value.getDefiningOp<ConstantOp>())
      if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue()))
        return ConstantOp::create(builder, value.getLoc(), splat.resizeSplat(type.clone(shape)));
    if (std::optional<BatchCut> cut = findCheapWindow(value, dim, rows)) {
      auto result = cast<OpResult>(value);
      Operation *made =
          cloneOnPart(builder, result.getOwner(), findOperands(result.getOwner(), *cut),
                      cut->factors, cut->factor, cut->each * size);
      return made->getResult(result.getResultNumber());
    }
    SmallVector<int64_t> starts(shape.size(), 0), limits(type.getShape()), ones(shape.size(), 1);
    starts[dim] = first * rows;
    limits[dim] = (first + size) * rows;
    return SliceOp::create(builder, value.getLoc(), value, starts, limits, ones);
  }

  /// Returns how a wide value outside of the region is computed for a slice only; none if it is in
  /// memory, or no wide value.
  std::optional<BatchCut> findCheapWindow(Value value, int64_t dim, int64_t rows) {
    Operation *op = value.getDefiningOp();
    int64_t wide = cast<ShapedType>(region.ops.front()->getResult(0).getType()).getNumElements();
    auto random = dyn_cast_or_null<RandomOpInterface>(op);
    if (!op || cast<ShapedType>(value.getType()).getNumElements() < wide ||
        op->getBlock() != last->getBlock() || (random && random.draws()) ||
        !(isElementwise(op) || isa<ViewOpInterface, IotaOp>(op)))
      return std::nullopt;
    return findWindow(cast<OpResult>(value), dim, rows);
  }

  bool isReadOutside(Value value) const {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      return !region.contains(last->getBlock()->findAncestorOpInBlock(*user));
    });
  }

  void replaceResults() {
    auto replace = [&](Value value, Value made) {
      value.replaceUsesWithIf(made, [&](OpOperand &use) {
        return !region.contains(last->getBlock()->findAncestorOpInBlock(*use.getOwner()));
      });
    };
    for (Operation *op : region.ops) {
      if (auto sum = sums.find(op); sum != sums.end())
        replace(op->getResult(0), sum->second.finish(builder, op));
      for (Value result : op->getResults())
        if (auto found = parts.find(result); found != parts.end())
          replace(result, ConcatenateOp::create(builder, op->getLoc(), result.getType(),
                                                found->second, region.rows.at(result).dim));
    }
  }

  /// Makes the op one of the region's pass. The planner keeps or replays no value of the backward
  /// pass.
  void mark(Operation *op) {
    if (order)
      markAsCotangent(op, order);
    else
      op->setDiscardableAttr(kPrimalAttr, builder.getUnitAttr());
    if (!op->hasAttr(kBlockAttr) && last->hasAttr(kBlockAttr))
      op->setDiscardableAttr(kBlockAttr, last->getAttr(kBlockAttr));
  }

  /// Erases the region, and what only the region read.
  void eraseRegion() {
    llvm::SetVector<Operation *> read;
    auto erase = [&](Operation *op) {
      for (Value operand : op->getOperands())
        if (Operation *producer = operand.getDefiningOp();
            producer && producer->getBlock() == op->getBlock())
          read.insert(producer);
      read.remove(op);
      op->erase();
    };
    for (Operation *op : llvm::reverse(region.ops))
      erase(op);
    while (!read.empty())
      if (Operation *op = read.pop_back_val(); isOpTriviallyDead(op))
        erase(op);
  }

  const HeadRegion &region;
  Operation *last;
  OpBuilder builder;
  Attribute order;             ///< of the cotangents; null in the forward pass
  int64_t first = 0, size = 0; ///< units of the slice
  DenseMap<Value, Value> own;  ///< values of the region in the slice
  DenseMap<Window, Value> windows;
  DenseMap<Value, SmallVector<Value>> parts; ///< slices of values that ops outside read
  DenseMap<Operation *, SlicedSum> sums;
  SmallVector<Operation *> marks;
};

struct SliceHeadPass : impl::SliceHeadPassBase<SliceHeadPass> {
  using Base::Base;

  void runOnOperation() override { sliceHead(getOperation(), rows); }
};

} // namespace

/// Slices a region, and returns the bytes of a wide value that need not be in memory at once.
static int64_t sliceRegion(const HeadRegion &region) {
  int64_t bytes = getByteSize(region.ops.front()->getResult(0).getType());
  HeadSlicer(region).run();
  return bytes - bytes / region.units * region.perSlice;
}

/// Slices the region of one contraction, in one way or the other.
static int64_t sliceOne(DotGeneralOp leader, int64_t fewestRows) {
  if (auto both = findHeadRegion(leader, HeadPart::Both, fewestRows))
    return sliceRegion(*both);
  // The backward pass waits for the loss, such as in a step that pauses there.
  WideCopies copies(leader);
  if (!copies.getLeader())
    return 0;
  auto forward = findHeadRegion(leader, HeadPart::Forward, fewestRows);
  auto backward = findHeadRegion(copies.getLeader(), HeadPart::Backward, fewestRows);
  if (!forward || !backward) {
    copies.erase();
    return 0;
  }
  sliceRegion(*forward);
  return sliceRegion(*backward);
}

int64_t sliceHead(ProgramOp step, int64_t fewestRows) {
  int64_t width = 0, spared = 0;
  // Each micro-batch has a contraction of that size.
  while (DotGeneralOp leader = findWidestContraction(step)) {
    int64_t own = leader.getType().getNumElements();
    if (own == 0 || (width != 0 && own != width))
      break;
    width = own;
    int64_t more = sliceOne(leader, fewestRows);
    if (more == 0)
      break;
    spared = std::max(spared, more);
  }
  return spared;
}

} // namespace reprise
