// reprise: ops on parts of a factor give parts of the results, their sum or their mean
#include "reprise/Dialect/Reprise/Batching.h"
#include "../../Reference/Compare.h"
#include "BatchingInstances.h"
#include "mlir/IR/Verifier.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Interfaces/Interfaces.h"

#include <map>
#include <set>

using namespace mlir;
using namespace reprise;
using namespace reprise::test;

namespace {

/// Makes small integers, so that sums are exact, or halves for operands that must lie between 0 and
/// 1.
Tensor makeOperand(RankedTensorType type, unsigned seed) {
  Tensor tensor(type);
  std::mt19937 words(seed);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    int number = static_cast<int>(words() % 5);
    if (type.getElementType().isF32())
      tensor.data<float>()[i] = static_cast<float>(number + 1) / 2;
    else if (type.getElementType().isInteger(1))
      tensor.data<uint8_t>()[i] = number % 2;
    else if (type.getElementType().isInteger(32))
      tensor.data<int32_t>()[i] = number;
    else
      tensor.data<int64_t>()[i] = type.getRank() == 0 ? 8 * number : number;
  }
  return tensor;
}

/// Rows [begin, end) of a dimension.
Tensor takeRows(const Tensor &whole, int64_t dim, int64_t begin, int64_t end) {
  SmallVector<int64_t> shape(whole.type.getShape());
  int64_t inner = elementBytes(whole.type.getElementType()), outer = 1, size = shape[dim];
  for (int64_t d = 0; d < whole.type.getRank(); ++d)
    (d < dim ? outer : inner) *= d == dim ? 1 : shape[d];
  shape[dim] = end - begin;
  Tensor part(whole.type.clone(shape));
  for (int64_t row = 0; row < outer; ++row)
    std::memcpy(part.bytes.data() + row * (end - begin) * inner,
                whole.bytes.data() + (row * size + begin) * inner, (end - begin) * inner);
  return part;
}

struct BatchingTest : InterpreterTest {
  /// The op of @f on parts of its operands, where `factor` has the indices [begin, end).
  std::vector<Tensor> runOnPart(Operation *op, const OpFactors &factors, int factor, int64_t begin,
                                int64_t end, ArrayRef<Tensor> operands) {
    std::vector<Tensor> parts(operands);
    SmallVector<Type> types;
    for (auto [i, dims] : llvm::enumerate(factors.operands)) {
      if (int64_t dim = OpFactors::findDim(dims, factor); dim >= 0) {
        int64_t rows = factors.countRows(dims[dim]);
        parts[i] = takeRows(operands[i], dim, begin * rows, end * rows);
      }
      types.push_back(parts[i].type);
    }
    OpBuilder builder(&context);
    OwningOpRef<ModuleOp> made = ModuleOp::create(builder.getUnknownLoc());
    builder.setInsertionPointToStart(made->getBody());
    auto function =
        func::FuncOp::create(builder, op->getLoc(), "f", builder.getFunctionType(types, {}));
    builder.setInsertionPointToStart(function.addEntryBlock());
    Operation *part =
        cloneOnPart(builder, op, function.getArguments(), factors, factor, end - begin);
    moveOrigin(builder, part, factors, factor, begin);
    func::ReturnOp::create(builder, op->getLoc(), part->getResults());
    function.setFunctionType(builder.getFunctionType(types, part->getResultTypes()));
    EXPECT_TRUE(succeeded(verify(*made))) << error;
    auto results = interpret(function, parts);
    return failed(results) ? std::vector<Tensor>() : *results;
  }

  /// A part of a draw is a window of the whole one.
  void moveOrigin(OpBuilder &builder, Operation *part, const OpFactors &factors, int factor,
                  int64_t begin) {
    auto random = dyn_cast<RandomOpInterface>(part);
    if (!random || !random.draws())
      return;
    int64_t dim = OpFactors::findDim(factors.results[0], factor);
    SmallVector<int64_t> origin(random.getDrawnShape().size(), 0);
    origin[dim] = begin;
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(part);
    auto type = RankedTensorType::get(static_cast<int64_t>(origin.size()), builder.getI64Type());
    Value at = ConstantOp::create(builder, part->getLoc(),
                                  DenseElementsAttr::get(type, ArrayRef<int64_t>(origin)));
    random.setWindow(at, builder.getDenseI64ArrayAttr(random.getDrawnGlobalShape()));
  }

  void checkParallel(const std::string &text, const Tensor &whole, const OpFactors &factors,
                     size_t result, int factor, int64_t middle, const Tensor &low,
                     const Tensor &high) {
    int64_t dim = OpFactors::findDim(factors.results[result], factor);
    ASSERT_GE(dim, 0) << text;
    int64_t at = middle * factors.countRows(factors.results[result][dim]);
    SCOPED_TRACE(text);
    expectEqualBits(low, takeRows(whole, dim, 0, at));
    expectEqualBits(high, takeRows(whole, dim, at, whole.type.getDimSize(dim)));
  }

  /// Cuts every factor that can be cut in two unequal parts. Returns the number of cuts.
  int check(const std::string &text) {
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << error << text;
    if (!module)
      return 0;
    auto function = module->lookupSymbol<func::FuncOp>("f");
    Operation *op = &function.front().front();
    std::vector<Tensor> operands;
    for (auto [i, value] : llvm::enumerate(op->getOperands()))
      operands.push_back(makeOperand(cast<RankedTensorType>(value.getType()), 7 * i + 1));
    auto whole = interpret(function, operands);
    EXPECT_TRUE(succeeded(whole)) << error << text;
    OpFactors factors = cast<BatchableOpInterface>(op).getFactors();
    int cuts = 0;
    for (int factor = 0; factor < static_cast<int>(factors.factors.size()); ++factor) {
      int64_t size = factors.factors[factor].size, middle = (size + 1) / 2;
      if (!factors.canCut(factor) || size < 2 || failed(whole))
        continue;
      ++cuts;
      std::vector<Tensor> low = runOnPart(op, factors, factor, 0, middle, operands);
      std::vector<Tensor> high = runOnPart(op, factors, factor, middle, size, operands);
      EXPECT_EQ(low.size(), whole->size()) << error << text;
      if (low.size() != whole->size() || high.size() != whole->size())
        continue;
      for (size_t result = 0; result < whole->size(); ++result)
        checkResult(text, (*whole)[result], factors, result, factor, middle, low[result],
                    high[result]);
    }
    return cuts;
  }

  void checkResult(const std::string &text, const Tensor &whole, const OpFactors &factors,
                   size_t result, int factor, int64_t middle, const Tensor &low,
                   const Tensor &high) {
    FactorKind kind = factors.factors[factor].kind;
    if (kind == FactorKind::Parallel)
      return checkParallel(text, whole, factors, result, factor, middle, low, high);
    if (kind == FactorKind::Grouped)
      return;
    double size = static_cast<double>(factors.factors[factor].size),
           first = static_cast<double>(middle);
    bool isMean = kind == FactorKind::Averaged;
    ASSERT_EQ(low.size(), whole.size()) << text;
    for (int64_t i = 0; i < whole.size(); ++i) {
      double sum = isMean ? (valueAt(low, i) * first + valueAt(high, i) * (size - first)) / size
                          : valueAt(low, i) + valueAt(high, i);
      EXPECT_NEAR(valueAt(whole, i), sum, isMean ? 1e-6 : 0) << text;
    }
  }
};

TEST_F(BatchingTest, partsMakeUpTheWhole) {
  std::map<std::string, int> cuts;
  for (const std::string &text : allTexts()) {
    int count = check(text);
    if (module)
      cuts[module->lookupSymbol<func::FuncOp>("f")
               .front()
               .front()
               .getName()
               .getStringRef()
               .str()] += count;
  }
  std::set<std::string> untried, uncut;
  for (RegisteredOperationName name : context.getRegisteredOperations()) {
    std::string op = name.getStringRef().str();
    if (!name.hasInterface<BatchableOpInterface>())
      continue;
    if (!cuts.count(op))
      untried.insert(op);
    else if (cuts[op] == 0)
      uncut.insert(op);
  }
  EXPECT_EQ(untried, std::set<std::string>());
  // Made whole, and sliced where parts are wanted.
  EXPECT_EQ(uncut, std::set<std::string>{"reprise.constant"});
}

/// Ops that couple the samples of a batch cannot be cut along it.
TEST_F(BatchingTest, refusesWhatIsCoupled) {
  struct Case {
    const char *op, *type, *result;
  };
  for (const Case &refused :
       {Case{"max %0 dims [0] : (tensor<4x3xf32>) -> tensor<3xf32>", "tensor<4x3xf32>",
             "tensor<3xf32>"},
        Case{"cumsum %0 dim 0 : tensor<4x3xf32>", "tensor<4x3xf32>", "tensor<4x3xf32>"},
        Case{"slice %0 from [0, 0] to [3, 3] by [1, 1] : (tensor<4x3xf32>) -> tensor<3x3xf32>",
             "tensor<4x3xf32>", "tensor<3x3xf32>"},
        Case{"reshape %0 : (tensor<3x4xf32>) -> tensor<4x3xf32>", "tensor<3x4xf32>",
             "tensor<4x3xf32>"},
        // The batch dimension stands behind another dimension.
        Case{"softmax %0 : tensor<4xf32>", "tensor<4xf32>", "tensor<4xf32>"}}) {
    module = parseSourceString<ModuleOp>(
        writeFunction(refused.op, {refused.type}, {refused.result}), &context);
    ASSERT_TRUE(module) << error;
    Operation *op = &module->lookupSymbol<func::FuncOp>("f").front().front();
    OpFactors factors = cast<BatchableOpInterface>(op).getFactors();
    EXPECT_FALSE(factors.canCut(factors.operands[0][0].front())) << refused.op;
  }
}

TEST_F(BatchingTest, aFactorBehindAnotherCannotBeCut) {
  module =
      parseSourceString<ModuleOp>(writeFunction("reshape %0 : (tensor<3x4xf32>) -> tensor<12xf32>",
                                                {"tensor<3x4xf32>"}, {"tensor<12xf32>"}),
                                  &context);
  ASSERT_TRUE(module) << error;
  OpFactors factors =
      cast<BatchableOpInterface>(module->lookupSymbol<func::FuncOp>("f").front().front())
          .getFactors();
  EXPECT_TRUE(factors.canCut(factors.operands[0][0].front()));
  EXPECT_FALSE(factors.canCut(factors.operands[0][1].front()));
}

} // namespace
