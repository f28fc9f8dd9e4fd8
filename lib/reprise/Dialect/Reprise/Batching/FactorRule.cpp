// reprise: the language of factor rules; ops on parts
#include "FactorRule.h"

#include "reprise/Dialect/Reprise/IR/OpList.h"

using namespace mlir;
using namespace reprise;

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

FactorRule::FactorRule(Operation *op) : op(op) {
  for (Value operand : op->getOperands())
    made.operands.emplace_back(shapeOf(operand).size());
  for (Value result : op->getResults())
    made.results.emplace_back(shapeOf(result).size());
}

int FactorRule::add(int64_t size, FactorKind kind) {
  made.factors.push_back({size, kind});
  return static_cast<int>(made.factors.size()) - 1;
}

SmallVector<int> FactorRule::addAll(ArrayRef<int64_t> shape, FactorKind kind) {
  return llvm::map_to_vector(shape, [&](int64_t size) { return add(size, kind); });
}

static void setDims(ArrayRef<int> factors, MutableArrayRef<OpFactors::Dim> dims) {
  for (auto [factor, dim] : llvm::zip(factors, dims))
    if (factor >= 0)
      dim = {factor};
}

void FactorRule::setOperand(unsigned operand, ArrayRef<int> factors) {
  setDims(factors, made.operands[operand]);
}

void FactorRule::setResult(unsigned result, ArrayRef<int> factors) {
  setDims(factors, made.results[result]);
}

ArrayRef<int64_t> FactorRule::shapeOfOperand(unsigned operand) const {
  return shapeOf(op->getOperand(operand));
}

ArrayRef<int64_t> FactorRule::shapeOfResult(unsigned result) const {
  return shapeOf(op->getResult(result));
}

OpFactors FactorRule::finish() {
  SmallVector<bool> isUsed(made.factors.size(), false);
  auto fill = [&](ValueRange values, MutableArrayRef<SmallVector<OpFactors::Dim>> dims) {
    for (auto [value, own] : llvm::zip(values, dims))
      for (auto [size, dim] : llvm::zip(shapeOf(value), own)) {
        if (dim.empty())
          dim = {add(size, FactorKind::Coupled)};
        isUsed.resize(made.factors.size(), true);
        for (int factor : dim)
          isUsed[factor] = true;
      }
  };
  fill(op->getOperands(), made.operands);
  fill(op->getResults(), made.results);
  // A rule may add factors of a shape before it leaves one of its dimensions out.
  for (auto [factor, used] : llvm::zip(made.factors, isUsed))
    if (!used)
      factor.kind = FactorKind::Coupled;
  return std::move(made);
}

Operation *reprise::cloneOnPart(OpBuilder &builder, Operation *op, ValueRange operands,
                                const OpFactors &factors, int factor, int64_t size) {
  Operation *clone = builder.clone(*op);
  clone->setOperands(operands);
  for (auto [result, dims] : llvm::zip(clone->getResults(), factors.results)) {
    int64_t cut = OpFactors::findDim(dims, factor);
    if (cut < 0)
      continue;
    auto type = cast<RankedTensorType>(result.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[cut] = size * factors.countRows(dims[cut]);
    result.setType(type.clone(shape));
  }
  cast<BatchableOpInterface>(clone).adjustToParts();
  return clone;
}

namespace {

/// Ops that compute, name or draw each element for itself, beside the elementwise ones.
using Elements = OpList<NameOp, OffloadOp, DropoutOp, RandomUniformOp, RandomUniformIntOp,
                        RandomNormalOp, RandomBernoulliOp>;

/// All operands and results have one shape. Seed, offset and origin are no part of it.
void findElementFactors(Operation *op, FactorRule &rule) {
  SmallVector<int> dims = rule.addAll(rule.shapeOfResult(0));
  rule.setResult(0, dims);
  bool draws = isa<RandomOpInterface>(op);
  for (unsigned number = 0; number < op->getNumOperands(); ++number)
    if (!draws || (isa<DropoutOp>(op) && number == 0))
      rule.setOperand(number, dims);
}

template <typename OpT>
struct BatchingRule : BatchableOpInterface::ExternalModel<BatchingRule<OpT>, OpT> {
  OpFactors getFactors(Operation *op) const {
    FactorRule rule(op);
    if constexpr (OpT::template hasTrait<ElementwiseOpInterface::Trait>() || isIn<OpT>(Elements()))
      findElementFactors(op, rule);
    else
      findFactors(cast<OpT>(op), rule);
    return rule.finish();
  }
  void adjustToParts(Operation *op) const { adjust(cast<OpT>(op)); }
};

} // namespace

void reprise::registerBatching(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, RepriseDialect *) {
    forEachOp([&](auto tag) {
      using OpT = typename decltype(tag)::Op;
      // Calls, a pause and a derivative of the user's are for the whole batch.
      if constexpr (!isIn<OpT>(StructureOps()) &&
                    !isIn<OpT>(OpList<CustomCallOp, CustomVjpOp, PauseOp, PullOp>()))
        OpT::template attachInterface<BatchingRule<OpT>>(*context);
    });
  });
}
