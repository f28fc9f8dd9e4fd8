// reprise: device programs that exchange values in the interpreter
#include "Interpret.h"
#include "mlir/IR/OpImplementation.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Reference/Transfer.h"

using namespace mlir;
using namespace reprise;
using namespace reprise::test;

namespace {

/// Op `"test.transfer"(operands) {peer, key} : …`: without results it sends, otherwise it receives.
class TransferOp
    : public Op<TransferOp, OpTrait::VariadicOperands, OpTrait::VariadicResults,
                OpTrait::ZeroRegions, OpTrait::ZeroSuccessors, TransferOpInterface::Trait> {
public:
  using Op::Op;
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TransferOp)

  static StringRef getOperationName() { return "test.transfer"; }
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
  bool isSend() { return getOperation()->getNumResults() == 0; }
  int64_t getPeer() { return getNumber("peer"); }
  int64_t getKey() { return getNumber("key"); }

private:
  int64_t getNumber(StringRef name) {
    return getOperation()->getAttrOfType<IntegerAttr>(name).getInt();
  }
};

class TestDialect : public Dialect {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestDialect)

  explicit TestDialect(MLIRContext *context)
      : Dialect("test", context, TypeID::get<TestDialect>()) {
    addOperations<TransferOp>();
  }
  static StringRef getDialectNamespace() { return "test"; }
};

struct ProgramsTest : InterpreterTest {
  ProgramsTest() {
    context.loadDialect<TestDialect>();
    context.printOpOnDiagnostic(false);
    context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
      error += diagnostic.str();
      for (Diagnostic &note : diagnostic.getNotes())
        error += "\n" + note.str();
    });
  }

  /// Runs all functions of the text, each on two numbers. No results on an error.
  std::vector<std::vector<float>> runAll(StringRef text) {
    error.clear();
    module = parseSourceString<ModuleOp>(text, &context);
    if (!module) {
      ADD_FAILURE() << error;
      return {};
    }
    std::vector<ProgramCall> calls;
    for (auto program : module->getOps<FunctionOpInterface>())
      calls.push_back({program, {makeTensor<float>(type({2}, f32()), {1, 2})}});
    auto results = interpretPrograms(calls);
    for (uint64_t order = 0; order < 20 && succeeded(results); ++order) {
      auto others = interpretPrograms(calls, order);
      EXPECT_TRUE(succeeded(others)) << "order " << order << ": " << error;
      for (auto [own, other] : llvm::zip(*results, *others))
        for (auto [tensor, same] : llvm::zip(own, other))
          EXPECT_EQ(valuesOf<float>(tensor), valuesOf<float>(same)) << "order " << order;
    }
    std::vector<std::vector<float>> values;
    if (failed(results))
      return values;
    for (const std::vector<Tensor> &own : *results)
      for (const Tensor &tensor : own)
        values.push_back(valuesOf<float>(tensor));
    return values;
  }
};

using Values = std::vector<std::vector<float>>;

TEST_F(ProgramsTest, valuesGoThereAndBack) {
  Values expected = {{3, 6}, {2, 4}};
  EXPECT_EQ(runAll(R"(
    reprise.program @first devices [0] (%x: tensor<2xf32>) -> tensor<2xf32> {
      "test.transfer"(%x) {peer = 1, key = 0} : (tensor<2xf32>) -> ()
      %y = "test.transfer"() {peer = 1, key = 1} : () -> tensor<2xf32>
      %z = reprise.add %x, %y : tensor<2xf32>
      reprise.return %z : tensor<2xf32>
    }
    reprise.program @second devices [1] (%x: tensor<2xf32>) -> tensor<2xf32> {
      %a = "test.transfer"() {peer = 0, key = 0} : () -> tensor<2xf32>
      %b = reprise.add %a, %x : tensor<2xf32>
      "test.transfer"(%b) {peer = 0, key = 1} : (tensor<2xf32>) -> ()
      reprise.return %b : tensor<2xf32>
    })"),
            expected)
      << error;
}

// Each program stops in its loop, and continues there. Values of one key arrive in the order in
// which they were sent: 2x, 4x and 8x; the sum is 1x + 2x + 4x + 8x.
TEST_F(ProgramsTest, aProgramStopsWhereverItWaits) {
  Values expected = {{15, 30}, {8, 16}};
  EXPECT_EQ(runAll(R"(
    reprise.program @first devices [0] (%x: tensor<2xf32>) -> tensor<2xf32> {
      %n = reprise.loop 3 (%c = %x) : (tensor<2xf32>) -> (tensor<2xf32>) {
        %r = "test.transfer"() {peer = 1, key = 7} : () -> tensor<2xf32>
        %s = reprise.add %c, %r : tensor<2xf32>
        "test.transfer"(%s) {peer = 1, key = 7} : (tensor<2xf32>) -> ()
        reprise.yield %s : tensor<2xf32>
      }
      reprise.return %n : tensor<2xf32>
    }
    reprise.program @second devices [1] (%x: tensor<2xf32>) -> tensor<2xf32> {
      %n = reprise.loop 3 (%c = %x) : (tensor<2xf32>) -> (tensor<2xf32>) {
        %d = reprise.block {
          %e = reprise.add %c, %c : tensor<2xf32>
          "test.transfer"(%e) {peer = 0, key = 7} : (tensor<2xf32>) -> ()
          %go = "test.transfer"() {peer = 0, key = 7} : () -> tensor<2xf32>
          reprise.yield %e : tensor<2xf32>
        } : tensor<2xf32>
        reprise.yield %d : tensor<2xf32>
      }
      reprise.return %n : tensor<2xf32>
    })"),
            expected)
      << error;
}

TEST_F(ProgramsTest, aDeadlockNamesWhatEachWaitsFor) {
  EXPECT_EQ(runAll(R"(
    reprise.program @first devices [0] (%x: tensor<2xf32>) -> tensor<2xf32> {
      %y = "test.transfer"() {peer = 1, key = 4} : () -> tensor<2xf32>
      "test.transfer"(%x) {peer = 1, key = 5} : (tensor<2xf32>) -> ()
      reprise.return %y : tensor<2xf32>
    }
    reprise.program @second devices [1] (%x: tensor<2xf32>) -> tensor<2xf32> {
      %y = "test.transfer"() {peer = 0, key = 5} : () -> tensor<2xf32>
      "test.transfer"(%x) {peer = 0, key = 4} : (tensor<2xf32>) -> ()
      reprise.return %y : tensor<2xf32>
    }
    reprise.program @third devices [2] (%x: tensor<2xf32>) -> tensor<2xf32> {
      reprise.return %x : tensor<2xf32>
    })"),
            Values());
  EXPECT_EQ(error, "'test.transfer' op waits forever: device 0 waits for a value of device 1 with "
                   "key 4\ndevice 1 waits for a value of device 0 with key 5");
}

TEST_F(ProgramsTest, wrongTransfersAreErrors) {
  std::string send = R"(
    reprise.program @first devices [0] (%x: tensor<2xf32>) {
      "test.transfer"(%x) {peer = 1, key = 0} : (tensor<2xf32>) -> ()
      reprise.return
    })";
  EXPECT_EQ(runAll(send), Values());
  EXPECT_EQ(error, "'test.transfer' op sends a value that no device receives");
  EXPECT_EQ(runAll(send + R"(
    reprise.program @second devices [1] (%x: tensor<2xf32>) {
      %y = "test.transfer"() {peer = 0, key = 0} : () -> tensor<3xf32>
      reprise.return
    })"),
            Values());
  EXPECT_EQ(error, "'test.transfer' op receives values of other types than its results\nthe "
                   "values are sent here");
  EXPECT_EQ(runAll(send + R"(
    reprise.program @again devices [0] (%x: tensor<2xf32>) { reprise.return })"),
            Values());
  EXPECT_EQ(error, "'reprise.program' op is a second program of device 0\nthe first one");
  EXPECT_EQ(runAll(send + R"(
    reprise.program @both devices [1, 2] (%x: tensor<2xf32>) { reprise.return })"),
            Values());
  EXPECT_EQ(error, "expected a program of one device, got one of 2");
  EXPECT_EQ(runAll(send + R"(
    func.func @plain(%x: tensor<2xf32>) { return })"),
            Values());
  EXPECT_EQ(error, "'func.func' op cannot be interpreted together with others: the function is no "
                   "device program");
}

} // namespace
