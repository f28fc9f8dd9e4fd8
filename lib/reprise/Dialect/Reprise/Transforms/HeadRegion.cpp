// reprise: the ops that can run in slices of rows of the widest contraction
#include "HeadRegion.h"

#include "Plan.h"
#include "reprise/Dialect/Reprise/IR/Labels.h"

using namespace mlir;
using namespace reprise;

/// Slices at most: each one has its own launches.
static constexpr int64_t mostSlices = 16;

static int64_t countElements(Value value) {
  return cast<RankedTensorType>(value.getType()).getNumElements();
}

/// Returns the dimensions of operand 0 that a contraction, a sum or a mean adds over, slowest
/// first.
static SmallVector<int64_t> getSummedDims(Operation *op) {
  if (auto dot = dyn_cast<DotGeneralOp>(op))
    return llvm::to_vector(dot.getLhsContracting());
  return cast<ReductionOpInterface>(op).getReducedDims();
}

namespace {

class RegionFinder {
public:
  RegionFinder(DotGeneralOp leader, HeadPart part, int64_t fewestRows)
      : block(*leader->getBlock()), leader(leader), part(part), width(countElements(leader)),
        fewestRows(fewestRows) {}

  /// Tries the cut along one dimension of the leader's result.
  std::optional<HeadRegion> find(int64_t dim) {
    if (!beginAt(dim))
      return std::nullopt;
    collectOps();
    bool isCut = llvm::all_of(region.ops, [&](Operation *op) { return op == leader || visit(op); });
    if (!isCut || !isOfPart() || !isReadAsExpected() || !choosePerSlice())
      return std::nullopt;
    return std::move(region);
  }

private:
  bool isWide(Value value) const { return countElements(value) == width; }

  bool beginAt(int64_t dim) {
    std::optional<BatchCut> cut =
        findWindow(leader->getResult(0), dim, leader.getType().getDimSize(dim));
    if (!cut)
      return false;
    region.units = cut->factors.factors[cut->factor].size;
    cut->each = 1;
    setRows(leader, *cut);
    region.cuts[leader] = std::move(*cut);
    return true;
  }

  /// Collects the readers of wide values that the leader leads to, and what they need of the
  /// leader.
  void collectOps() {
    llvm::SetVector<Operation *> dependents;
    DenseSet<Operation *> needed{leader};
    DenseSet<Value> wide{leader.getResult()};
    dependents.insert(leader);
    for (Operation *op = leader->getNextNode(); op != block.getTerminator();
         op = op->getNextNode()) {
      if (llvm::none_of(getReadOps(op), [&](Operation *read) { return dependents.contains(read); }))
        continue;
      dependents.insert(op);
      if (llvm::none_of(op->getOperands(), [&](Value value) { return wide.contains(value); }))
        continue;
      needed.insert(op);
      for (Value result : op->getResults())
        if (isa<RankedTensorType>(result.getType()) && isWide(result))
          wide.insert(result);
    }
    for (Operation *op : llvm::reverse(dependents))
      if (needed.contains(op))
        for (Operation *read : getReadOps(op))
          if (dependents.contains(read))
            needed.insert(read);
    for (Operation *op : dependents)
      (needed.contains(op) ? region.ops : region.followers).insert(op);
  }

  /// Returns the ops of the block that `op`, or an op inside it, reads.
  SmallVector<Operation *> getReadOps(Operation *op) const {
    SmallVector<Operation *> read;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *producer = operand.getDefiningOp();
            producer && producer->getBlock() == &block)
          read.push_back(producer);
    });
    return read;
  }

  /// Finds the cut of an op from its operands with rows.
  bool visit(Operation *op) {
    auto random = dyn_cast<RandomOpInterface>(op);
    auto batchable = dyn_cast<BatchableOpInterface>(op);
    if (!batchable || (random && random.draws()))
      return false;
    BatchCut cut;
    cut.factors = batchable.getFactors();
    for (auto [operand, dims] : llvm::zip(op->getOperands(), cut.factors.operands))
      if (auto found = region.rows.find(operand); found != region.rows.end())
        if (!join(cut, dims[found->second.dim], found->second.rows))
          return false;
    if (cut.factor < 0 || !readsRows(op, cut))
      return false;
    if (cut.isReduced() ? !addSum(op, cut) : !cut.is(FactorKind::Parallel))
      return false;
    setRows(op, cut);
    region.cuts[op] = std::move(cut);
    return true;
  }

  /// Cuts the first factor of a dimension so that a unit has `rows` of its rows.
  bool join(BatchCut &cut, const OpFactors::Dim &dims, int64_t rows) {
    int factor = dims.front();
    int64_t inner = cut.factors.countRows(dims);
    if (rows % inner != 0 || !cut.factors.canCut(factor))
      return false;
    bool isSame = cut.factor < 0 || (cut.factor == factor && cut.each == rows / inner);
    cut.factor = factor;
    cut.each = rows / inner;
    return isSame;
  }

  /// Tells whether every operand of the region has the rows that the cut needs.
  bool readsRows(Operation *op, const BatchCut &cut) const {
    return llvm::all_of(llvm::zip(op->getOperands(), cut.factors.operands), [&](auto pair) {
      auto &[operand, dims] = pair;
      auto found = region.rows.find(operand);
      if (found == region.rows.end())
        return !region.contains(operand.getDefiningOp());
      int64_t dim = OpFactors::findDim(dims, cut.factor);
      return dim >= 0 && found->second == UnitRows{dim, cut.countRows(dims[dim])};
    });
  }

  /// Adds a sum whose terms come in the order of the units.
  bool addSum(Operation *op, const BatchCut &cut) {
    if (!isa<DotGeneralOp, SumOp, MeanOp>(op) || getReplayNumber(op) != 0)
      return false;
    auto type = cast<RankedTensorType>(op->getOperand(0).getType());
    for (int64_t dim : getSummedDims(op)) {
      if (cut.factors.operands[0][dim].front() == cut.factor) {
        region.sums.push_back(op);
        return true;
      }
      if (type.getDimSize(dim) != 1)
        return false;
    }
    return false;
  }

  void setRows(Operation *op, const BatchCut &cut) {
    for (auto [result, dims] : llvm::zip(op->getResults(), cut.factors.results)) {
      int64_t dim = OpFactors::findDim(dims, cut.factor);
      if (dim >= 0)
        region.rows[result] = {dim, cut.countRows(dims[dim])};
    }
  }

  /// Tells whether the cotangents of the region are those of its part, all of one gradient, and
  /// whether the labels allow that wide values are gone after each slice.
  bool isOfPart() const {
    std::optional<int64_t> order;
    for (Operation *op : region.ops) {
      if (llvm::any_of(op->getResults(), [&](OpResult result) { return isKept(result); }))
        return false;
      if (!isCotangent(op))
        continue;
      if (order && *order != getOrder(op))
        return false;
      order = getOrder(op);
    }
    return order.has_value() == (part != HeadPart::Forward);
  }

  /// Tells whether a label wants the value on the host, or saved for a later backward pass.
  bool isKept(OpResult result) const {
    std::optional<Label> label = getLabel(result);
    if (!label || asksToRecompute(*label))
      return false;
    return !asksToSave(*label) || (part == HeadPart::Forward && isWide(result));
  }

  /// Tells whether no wide value leaves the region, and nothing in between needs its results.
  bool isReadAsExpected() const {
    for (Operation *op : region.ops)
      for (OpResult result : op->getResults())
        if (isWide(result) && llvm::any_of(result.getUsers(),
                                           [&](Operation *user) { return !region.contains(user); }))
          return false;
    return true;
  }

  /// Chooses the smallest slices that have rows enough and keep the bits of all sums.
  bool choosePerSlice() {
    ArrayRef<int64_t> shape = leader.getType().getShape();
    int64_t rowsPerUnit = width / shape.back() / region.units;
    int64_t least = std::max(llvm::divideCeil(region.units, mostSlices),
                             llvm::divideCeil(fewestRows, std::max<int64_t>(1, rowsPerUnit)));
    for (int64_t units = least; units * 2 <= region.units + units - 1; ++units)
      if (llvm::all_of(region.sums, [&](Operation *op) { return keepsBits(op, units); })) {
        region.perSlice = units;
        return units < region.units;
      }
    return false;
  }

  /// Tells whether slices of so many units add up to the bits of the whole: the chain of a
  /// contraction continues, and slices of whole blocks are subtrees of the sum.
  bool keepsBits(Operation *op, int64_t units) const {
    int64_t block = countBlockTerms(op), terms = countTerms(op) / region.units * units;
    bool isChain =
        isa<DotGeneralOp>(op) && (countTerms(op) <= block || (terms > 0 && block % terms == 0));
    return isChain || (terms % block == 0 && llvm::isPowerOf2_64(terms / block));
  }

  Block &block;
  DotGeneralOp leader;
  HeadPart part;
  int64_t width;      ///< elements of a wide value
  int64_t fewestRows; ///< of a slice
  HeadRegion region;
};

} // namespace

int64_t reprise::countTerms(Operation *op, Type part) {
  auto type = cast<RankedTensorType>(part ? part : op->getOperand(0).getType());
  int64_t count = 1;
  for (int64_t dim : getSummedDims(op))
    count *= type.getDimSize(dim);
  return count;
}

int64_t reprise::countBlockTerms(Operation *op) {
  static constexpr int64_t ofChains = 4096, ofLanes = 4096, ofRows = 64;
  if (isa<DotGeneralOp>(op))
    return ofChains;
  int64_t last = cast<RankedTensorType>(op->getOperand(0).getType()).getRank() - 1;
  return getSummedDims(op).back() == last ? ofLanes : ofRows;
}

DotGeneralOp reprise::findWidestContraction(ProgramOp step) {
  DotGeneralOp widest;
  for (auto dot : step.getBody().front().getOps<DotGeneralOp>())
    if (isPrimal(dot) && getOrder(dot) == 0 && !dot.getReplay() &&
        (!widest || countElements(dot) > countElements(widest)))
      widest = dot;
  return widest;
}

std::optional<HeadRegion> reprise::findHeadRegion(DotGeneralOp leader, HeadPart part,
                                                  int64_t fewestRows) {
  for (int64_t dim = 0; dim < leader.getType().getRank(); ++dim)
    if (leader.getType().getDimSize(dim) > 1)
      if (std::optional<HeadRegion> region = RegionFinder(leader, part, fewestRows).find(dim))
        return region;
  return std::nullopt;
}
