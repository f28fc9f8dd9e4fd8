// reprise: random losses of a wide contraction, whole and in slices of rows, have the same bits
#include "reprise/Dialect/Reprise/Transforms/SliceHead.h"
#include "Compare.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "reprise/Pipelines/Phases.h"
#include "reprise/Support/SplitMix.h"

using namespace mlir;
using namespace reprise;
using namespace reprise::test;

namespace {

/// Text of a loss of x · w over random shapes, and of its gradients.
class HeadText {
public:
  explicit HeadText(uint64_t seed) : random(seed) {
    static const char *types[] = {"f32", "f32", "bf16", "f64"};
    type = types[pick(4)];
    isFlat = pick(3) == 0;
    hasLongSums = pick(4) == 0;
    batch = hasLongSums ? 4 + pick(8) : 1 + pick(5);
    seq = hasLongSums ? int64_t(512) << pick(4) : 1 + pick(6);
    depth = 1 + pick(4);
    classes = depth + 1 + pick(5);
    isTransposed = pick(2) == 0;
    waits = pick(3) == 0;
  }

  std::string write() {
    std::string wide = rows(classes), body = "  %l0 = reprise.dot_general %x, %w contracting [" +
                                             std::to_string(isFlat ? 1 : 2) + "] x [" +
                                             (isTransposed ? "0" : "1") + "] : (" + rows(depth) +
                                             ", " + weights() + ") -> " + wide + "\n";
    std::string logits = "%l0";
    if (pick(3) == 0) {
      body += "  %l1 = reprise.add %l0, %b : (" + wide + ", " + vector() + ") -> " + wide + "\n";
      logits = "%l1";
    }
    if (pick(3) == 0) {
      body += "  %l2 = reprise.tanh " + logits + " : " + wide + "\n";
      logits = "%l2";
    }
    std::string types = rows(depth) + ", " + weights() + ", " + vector() + ", " + targets();
    std::string wrt = rows(depth) + ", " + weights() + ", " + vector();
    std::string loss = "tensor<" + type + ">";
    std::string scaled = writeLoss(logits);
    if (waits)
      scaled += "  %loss = reprise.mul %sum, %sum : " + loss + "\n";
    return "func.func @loss(%x: " + rows(depth) + ", %w: " + weights() + ", %b: " + vector() +
           ", %t: " + targets() + ") -> " + loss + " {\n" + body + scaled +
           "  return %loss : " + loss + "\n}\n" + "func.func @train(%x: " + rows(depth) +
           ", %w: " + weights() + ", %b: " + vector() + ", %t: " + targets() + ") -> (" + loss +
           ", " + wrt +
           ") {\n  %r:4 = reprise.value_and_grad @loss(%x, %w, %b, %t) wrt [0, 1, 2] : (" + types +
           ") -> (" + loss + ", " + wrt + ")\n  return %r#0, %r#1, %r#2, %r#3 : " + loss + ", " +
           wrt + "\n}\n";
  }

private:
  int64_t pick(uint64_t count) { return static_cast<int64_t>(random.next() % count); }
  std::string lead() const {
    return isFlat ? std::to_string(batch * seq) + "x"
                  : std::to_string(batch) + "x" + std::to_string(seq) + "x";
  }
  std::string rows(int64_t width) const {
    return "tensor<" + lead() + std::to_string(width) + "x" + type + ">";
  }
  std::string perRow() const { return "tensor<" + lead() + type + ">"; }
  std::string targets() const { return "tensor<" + lead() + "i32>"; }
  std::string vector() const { return "tensor<" + std::to_string(classes) + "x" + type + ">"; }
  std::string weights() const {
    auto [first, second] = isTransposed ? std::pair(depth, classes) : std::pair(classes, depth);
    return "tensor<" + std::to_string(first) + "x" + std::to_string(second) + "x" + type + ">";
  }
  std::string leadDims() const { return isFlat ? "[0]" : "[0, 1]"; }
  std::string allDims() const { return isFlat ? "[0, 1]" : "[0, 1, 2]"; }

  std::string writeLoss(const std::string &logits) {
    std::string wide = rows(classes), scalar = "tensor<" + type + ">";
    std::string mean = pick(2) == 0 ? "mean" : "sum", to = waits ? "%sum" : "%loss";
    std::string ofRows = "  " + to + " = reprise." + mean + " %n dims " + leadDims() + " : (" +
                         perRow() + ") -> " + scalar + "\n";
    std::string ofAll = "  " + to + " = reprise." + mean + " %n dims " + allDims() + " : (" + wide +
                        ") -> " + scalar + "\n";
    std::string softmax = "  %s = reprise." +
                          std::string(pick(2) == 0 ? "softmax" : "log_softmax") + " " + logits +
                          " : " + wide + "\n";
    switch (pick(4)) {
    case 0:
      return "  %n = reprise.mul " + logits + ", " + logits + " : " + wide + "\n" + ofAll;
    case 1:
      return softmax + "  %n = reprise.mul %s, " + logits + " : " + wide + "\n" + ofAll;
    case 2:
      return "  %n = reprise.logsumexp " + logits + " dims [" + std::to_string(isFlat ? 1 : 2) +
             "] : (" + wide + ") -> " + perRow() + "\n" + ofRows;
    default:
      return "  %n = reprise.cross_entropy " + logits + ", %t : (" + wide + ", " + targets() +
             ") -> " + perRow() + "\n" + ofRows;
    }
  }

  SplitMix random;
  std::string type;
  bool isFlat, isTransposed, hasLongSums;
  bool waits; ///< each gradient reads the loss of all rows
  int64_t batch, seq, depth, classes;
};

struct SliceHeadTest : InterpreterTest {
  std::vector<Tensor> runEntry(ModuleOp module) {
    ProgramOp entry = *module.getOps<ProgramOp>().begin();
    std::vector<Tensor> arguments;
    for (BlockArgument argument : entry.getArguments()) {
      auto type = cast<RankedTensorType>(argument.getType());
      Tensor tensor(type);
      if (isa<FloatType>(type.getElementType()))
        tensor = randomTensor(type, 7 + argument.getArgNumber());
      else if (type.getElementType().isInteger(32))
        for (int64_t i = 0; i < tensor.size(); ++i)
          tensor.data<int32_t>()[i] = static_cast<int32_t>((3 * i + 1) % 10);
      arguments.push_back(std::move(tensor));
    }
    auto results = interpret(entry, arguments);
    EXPECT_TRUE(succeeded(results)) << error;
    return succeeded(results) ? *results : std::vector<Tensor>();
  }
};

TEST_F(SliceHeadTest, slicesHaveTheBitsOfTheWhole) {
  int numSliced = 0, numAccumulated = 0, numTrees = 0, numTwice = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    std::string text = HeadText(seed).write();
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text);
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module) << error;
    PassManager manager(&context);
    buildPhases(manager, std::nullopt, Phase::Autodiff, {});
    ASSERT_TRUE(succeeded(manager.run(*module))) << error;
    std::vector<Tensor> whole = runEntry(*module);
    if (sliceHead(*module->getOps<ProgramOp>().begin(), /*fewestRows=*/1) == 0)
      continue;
    ASSERT_TRUE(succeeded(verify(*module))) << error;
    ++numSliced;
    bool accumulates = false;
    module->walk([&](DotAccumulateOp) { accumulates = true; });
    numAccumulated += accumulates;
    numTwice += text.find("%sum") != std::string::npos;
    numTrees +=
        text.find("x2048x") != std::string::npos || text.find("x4096x") != std::string::npos;
    std::vector<Tensor> cut = runEntry(*module);
    ASSERT_EQ(cut.size(), whole.size());
    for (auto [a, b] : llvm::zip(cut, whole))
      expectEqualBits(a, b);
    if (HasFailure())
      return;
  }
  EXPECT_GT(numSliced, 110);
  EXPECT_GT(numAccumulated, 100);
  EXPECT_GT(numTrees, 5);
  EXPECT_GT(numTwice, 30);
}

} // namespace
