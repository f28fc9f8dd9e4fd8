// reprise: how the model axis cuts the values and ops of a step
#include "ModelCuts.h"

#include "ModelArrays.h"
#include "reprise/Dialect/Reprise/Transforms/PartReduction.h"
#include "reprise/Support/ByteSize.h"

using namespace mlir;
using namespace reprise;

ModelCuts::ModelCuts(ProgramOp step, const ArgumentCuts &arguments, int64_t lanes, int64_t parts)
    : step(step), parts(parts), divisor(lanes),
      hasGradients(llvm::any_of(step.getBody().front(), isOfGradient)) {
  for (BlockArgument argument : step.getArguments())
    if (auto found = arguments.find(argument.getArgNumber()); found != arguments.end()) {
      ruled.insert(argument);
      dims[argument] = found->second;
    }
  sweep();
  if (parts == 1)
    return;
  divisor = parts;
  round = Round::Follow;
  cutArrays(arguments);
  shareSums();
  sweep();
  round = Round::Share;
  sweep();
}

/// Sweeps down and up the step until no op gets a cut.
void ModelCuts::sweep() {
  auto chooseAll = [&](auto &&ops, bool isForward) {
    bool hasChanged = false;
    for (Operation &op : ops)
      hasChanged |= choose(op, isForward);
    return hasChanged;
  };
  Block &block = step.getBody().front();
  for (bool hasChanged = true; hasChanged;) {
    hasChanged = chooseAll(block.without_terminator(), true);
    hasChanged |= chooseAll(llvm::reverse(block.without_terminator()), false);
  }
}

/// Cuts arrays with rules, their states and their updates.
void ModelCuts::cutArrays(const ArgumentCuts &arguments) {
  DenseMap<Value, int64_t> arrays = findModelArrays(step, arguments);
  for (BlockArgument argument : step.getArguments())
    if (auto found = arrays.find(argument); found != arrays.end()) {
      dims[argument] = found->second;
      inParts.insert(argument);
    }
  for (Operation &op : step.getBody().front()) {
    auto found = op.getNumResults() == 1 ? arrays.find(op.getResult(0)) : arrays.end();
    if (found == arrays.end() || cuts.contains(&op))
      continue;
    ModelCut cut{cast<BatchableOpInterface>(op).getFactors()};
    cut.factor = cut.factors.results[0][found->second].front();
    cut.isOfUpdate = true;
    dims[op.getResult(0)] = found->second;
    cuts.try_emplace(&op, std::move(cut));
  }
}

/// Cuts the results of contractions with lanes.
void ModelCuts::shareSums() {
  wanted.clear();
  for (Operation &op : step.getBody().front())
    if (const ModelCut *cut = get(&op); cut && cut->isSum())
      if (int factor = findFactorOfResults(cut->factors, &op); factor >= 0)
        dims[op.getResult(0)] = OpFactors::findDim(cut->factors.results[0], factor);
}

const ModelCut *ModelCuts::get(Operation *op) const {
  auto found = cuts.find(op);
  return found == cuts.end() ? nullptr : &found->second;
}

int64_t ModelCuts::getDim(Value value) const {
  auto found = dims.find(value);
  return found == dims.end() ? -1 : found->second;
}

/// Returns whether parts of the factor compute parts of the results, or terms of a contraction.
bool ModelCuts::allows(Operation *op, const OpFactors &factors, int factor) const {
  const OpFactors::Factor &own = factors.factors[factor];
  if (!factors.canCut(factor) || own.size == 0 || own.size % divisor != 0)
    return false;
  if (own.kind == FactorKind::Summed)
    return isa<DotGeneralOp>(op) && round == Round::Terms;
  return own.kind == FactorKind::Parallel && llvm::all_of(factors.results, [&](const auto &dims) {
           return OpFactors::findDim(dims, factor) >= 0;
         });
}

/// Returns the factor of an op at the dimension of an operand or result that is cut; -1 if the op
/// cannot be cut there.
int ModelCuts::findFactor(Operation *op, const OpFactors &factors, ArrayRef<OpFactors::Dim> ownDims,
                          int64_t dim) const {
  if (dim < 0 || ownDims[dim].empty())
    return -1;
  int factor = ownDims[dim].front();
  return allows(op, factors, factor) ? factor : -1;
}

/// Returns the factor of the first dimension of the results that may be cut; -1 without one.
int ModelCuts::findFactorOfResults(const OpFactors &factors, Operation *op) const {
  for (int64_t dim = 0; dim < static_cast<int64_t>(factors.results[0].size()); ++dim)
    if (int factor = findFactor(op, factors, factors.results[0], dim); factor >= 0)
      return factor;
  return -1;
}

static int64_t countBytes(ValueRange values) {
  int64_t bytes = 0;
  for (Value value : values)
    bytes += getByteSize(value.getType());
  return bytes;
}

/// Returns the factor of a further cut of an op that cannot follow its operands; -1 if it stays
/// whole. Its readers join the parts, which a large result of small operands is not worth unless
/// they ask for parts. The cut is that with the fewest bytes of operands that each part reads
/// whole.
int ModelCuts::findShare(Operation &op, const OpFactors &factors, bool isAsked) const {
  bool isWorth = isAsked || isa<DotGeneralOp>(op) ||
                 countBytes(op.getResults()) <= countBytes(op.getOperands());
  if (round != Round::Share || !isWorth || (hasGradients && !isOfGradient(op)))
    return -1;
  int best = -1;
  int64_t least = INT64_MAX;
  for (int64_t dim = 0; dim < static_cast<int64_t>(factors.results[0].size()); ++dim) {
    int factor = findFactor(&op, factors, factors.results[0], dim);
    int64_t whole = 0;
    for (auto [operand, ownDims] : llvm::zip(op.getOperands(), factors.operands))
      if (OpFactors::findDim(ownDims, factor) < 0)
        whole += getByteSize(operand.getType());
    if (factor >= 0 && whole < least)
      std::tie(best, least) = std::tuple(factor, whole);
  }
  return best;
}

/// Returns true for rows of a table that is larger than they are: parts do not read it whole.
static bool takesRows(Operation &op) {
  return isa<GatherOp>(op) && isa<BlockArgument>(op.getOperand(0)) &&
         getByteSize(op.getOperand(0).getType()) > countBytes(op.getResults());
}

/// Returns true for rows of a table in one piece, which the table's device sends, and in the second
/// round also for those of a table in parts.
bool ModelCuts::keepsWhole(Operation &op) const {
  return round != Round::Terms && takesRows(op) &&
         (round == Round::Follow || getDim(op.getOperand(0)) < 0);
}

/// Returns true for an op outside of gradients whose result only reductions over all elements read,
/// as those of a norm of gradients.
static bool isSummand(Operation &op) {
  return isUpdate(op) && !op.use_empty() && llvm::all_of(op.getUsers(), reducesParts);
}

/// Cuts an op if an operand is cut, or in a backward sweep if readers ask for it.
bool ModelCuts::choose(Operation &op, bool isForward) {
  auto batchable = dyn_cast<BatchableOpInterface>(op);
  if (!batchable || op.getNumRegions() != 0 || op.getNumResults() == 0 || cuts.contains(&op) ||
      keepsWhole(op))
    return false;
  bool isOther = hasGradients && !isOfGradient(op); // of an update
  if (isOther && (round == Round::Terms || !isSummand(op)))
    return false;
  auto isCut = [&](Value value) { return getDim(value) >= 0; };
  auto isWanted = [&](Value value) { return wanted.contains(value); };
  if (isForward ? llvm::none_of(op.getOperands(), isCut) : llvm::none_of(op.getResults(), isWanted))
    return false;
  ModelCut cut{batchable.getFactors()};
  auto hear = [&](ArrayRef<OpFactors::Dim> ownDims, int64_t dim) {
    if (cut.factor < 0)
      cut.factor = findFactor(&op, cut.factors, ownDims, dim);
  };
  for (auto [operand, ownDims] : llvm::zip(op.getOperands(), cut.factors.operands))
    if (ruled.contains(operand))
      hear(ownDims, getDim(operand));
  if (cut.factor < 0 && round == Round::Share && takesRows(op))
    cut.factor = findShare(op, cut.factors, /*isAsked=*/true);
  for (auto [result, ownDims] : llvm::zip(op.getResults(), cut.factors.results))
    if (auto found = wanted.find(result); found != wanted.end())
      hear(ownDims, found->second);
  for (auto [operand, ownDims] : llvm::zip(op.getOperands(), cut.factors.operands))
    hear(ownDims, getDim(operand));
  if (cut.factor < 0)
    cut.factor = findShare(op, cut.factors, !isForward);
  if (cut.factor < 0)
    return false;
  cut.isOfUpdate = isOther;
  spread(op, cut);
  cuts.try_emplace(&op, std::move(cut));
  return true;
}

/// Cuts the results, and asks for the same cut of the operands.
void ModelCuts::spread(Operation &op, const ModelCut &cut) {
  for (auto [result, ownDims] : llvm::zip(op.getResults(), cut.factors.results))
    if (int64_t dim = OpFactors::findDim(ownDims, cut.factor); dim >= 0)
      dims[result] = dim;
  for (auto [operand, ownDims] : llvm::zip(op.getOperands(), cut.factors.operands)) {
    int64_t dim = OpFactors::findDim(ownDims, cut.factor);
    if (dim < 0 || cut.isSum() || dims.contains(operand))
      continue;
    // The smallest dimension wins, so that the order of the readers does not matter.
    auto [found, isNew] = wanted.try_emplace(operand, dim);
    found->second = std::min(found->second, dim);
  }
}
