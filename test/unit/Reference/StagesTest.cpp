// reprise: stages in the interpreter: every cut by every schedule has the bits of one device, and
// manipulated programs do not
#include "HashSteps.h"
#include "mlir/Pass/PassManager.h"
#include "reprise/Dialect/Exec/IR/Exec.h"
#include "reprise/Dialect/Exec/Transforms/Passes.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Pipelines/Phases.h"
#include "reprise/Planning/Pipeline/Schedule.h"
#include "reprise/Zoo/Zoo.h"

using namespace mlir;
using namespace reprise;
using namespace reprise::test;

namespace {

struct StagesTest : HashStepsTest {
  StagesTest() {
    sizes.layers = 3;
    sizes.width = 16;
    sizes.heads = 2;
    sizes.vocab = 20;
    sizes.batch = 5;
    sizes.seq = 6;
    sizes.dropout = 0.25;
    phases.microbatches = 3;
  }

  void build(const std::string &model, int64_t devices, StringRef schedule = "",
             Phase to = Phase::Partition) {
    module = zoo::buildModel(context, model, sizes);
    phases.stages.devices = devices;
    phases.stages.schedule = schedule.str();
    PassManager manager(&context);
    buildPhases(manager, std::nullopt, to, phases);
    ASSERT_TRUE(succeeded(manager.run(*module))) << error;
  }

  /// Returns the ops of the program of a device, in program order.
  template <typename Op> SmallVector<Op> findAll(int64_t device) {
    SmallVector<Op> found;
    for (ProgramOp program : findPrograms(*module))
      if (program.runsOn(device))
        program.walk([&](Op op) { found.push_back(op); });
    return found;
  }

  /// Returns the message of the verifier of device programs; empty without an error.
  std::string verify() {
    error.clear();
    PassManager manager(&context);
    manager.addPass(exec::createVerifyProgramsPass());
    (void)manager.run(*module);
    return error;
  }

  /// Returns the message of the verifier of places.
  std::string verifyPlaces() {
    error.clear();
    PassManager manager(&context);
    manager.addNestedPass<ProgramOp>(exec::createVerifyBuffersPass({}, nullptr));
    (void)manager.run(*module);
    return error;
  }

  zoo::Options sizes;
  PhaseOptions phases;
};

TEST_F(StagesTest, everyCutByEveryScheduleHasTheBitsOfOneDevice) {
  build("gpt2", 1);
  uint64_t expected = hash();
  for (const pipeline::Rule &rule : pipeline::getRules())
    for (int64_t devices : {2, 3}) {
      SCOPED_TRACE(rule.name);
      build("gpt2", devices, rule.name);
      EXPECT_EQ(findPrograms(*module).size(), static_cast<size_t>(devices));
      EXPECT_EQ(hash(), expected);
    }
}

TEST_F(StagesTest, replicasHaveTheBitsOfOneDevice) {
  phases.microbatches = phases.lanes = 4;
  phases.stages.leastPart = 64;
  build("gpt2", 1);
  uint64_t expected = hash();
  for (int64_t replicas : {2, 4})
    for (int64_t devices : {1, 2}) {
      phases.stages.replicas = replicas;
      build("gpt2", devices);
      EXPECT_EQ(findPrograms(*module).size(), static_cast<size_t>(replicas * devices));
      EXPECT_EQ(hash(), expected);
    }
}

TEST_F(StagesTest, aSumInTheOrderOfARingIsOtherBits) {
  phases.microbatches = phases.lanes = 4;
  build("gpt2", 1);
  EXPECT_EQ(verify(), "");
  uint64_t expected = hash();
  // The tree adds (a + b) + (c + d). A ring adds ((a + b) + c) + d.
  int64_t changed = 0;
  for (ProgramOp program : findPrograms(*module))
    for (AddOp sum : llvm::to_vector(program.getOps<AddOp>())) {
      auto left = sum.getLhs().getDefiningOp<AddOp>(), right = sum.getRhs().getDefiningOp<AddOp>();
      if (!left || !right || !sum.getLhs().hasOneUse() || !sum.getRhs().hasOneUse())
        continue;
      OpBuilder builder(sum);
      Value first = AddOp::create(builder, sum.getLoc(), left, right.getLhs());
      sum->setOperands({first, right.getRhs()});
      ++changed;
    }
  ASSERT_GT(changed, 0);
  EXPECT_EQ(verify(), "");
  EXPECT_NE(hash(), expected);
}

TEST_F(StagesTest, aDroppedSendIsRefused) {
  build("gpt2", 2);
  EXPECT_EQ(verify(), "");
  exec::SendOp send = findAll<exec::SendOp>(0).back();
  for (Operation *wait : llvm::make_early_inc_range(send->getUsers()))
    wait->erase();
  send->erase();
  EXPECT_NE(verify().find("no other program has the other side"), std::string::npos) << error;
}

TEST_F(StagesTest, ACircleOfWaitsIsRefused) {
  build("gpt2", 2);
  // The first device waits for the answer to a value that it has not sent yet.
  exec::SendOp send = findAll<exec::SendOp>(0)[1];
  exec::ReceiveOp receive = findAll<exec::ReceiveOp>(0).front();
  receive->moveBefore(send);
  for (Operation *user : llvm::make_early_inc_range(receive.getEvent().getUsers()))
    user->moveBefore(send);
  EXPECT_NE(verify().find("device programs wait for each other"), std::string::npos) << error;
}

TEST_F(StagesTest, SwappedMicrobatchesAreOtherBits) {
  build("gpt2", 1);
  uint64_t expected = hash();
  build("gpt2", 2);
  // These are the values that the first two micro-batches, of equal size, send to the last stage.
  SmallVector<exec::ReceiveOp> all = findAll<exec::ReceiveOp>(1), activations;
  for (exec::ReceiveOp receive : all)
    if (receive.getTag() == all.back().getTag())
      activations.push_back(receive);
  size_t each = activations.size() / phases.microbatches;
  for (size_t i = 0; i < each; ++i)
    activations[each + i]->moveBefore(activations[0]);
  EXPECT_EQ(verify(), "");
  EXPECT_NE(hash(), expected);
}

TEST_F(StagesTest, AShiftedOriginIsAnotherMask) {
  build("gpt2", 1);
  uint64_t expected = hash();
  build("gpt2", 2);
  RandomOpInterface last;
  for (ProgramOp program : findPrograms(*module))
    program.walk([&](RandomOpInterface op) {
      if (op.draws() && op.getOriginOperand())
        last = op;
    });
  ASSERT_TRUE(last);
  auto origin = last.getOriginOperand().getDefiningOp<ConstantOp>();
  ASSERT_TRUE(origin);
  auto numbers = llvm::to_vector(cast<DenseElementsAttr>(origin.getValue()).getValues<int64_t>());
  OpBuilder builder(last);
  auto global = llvm::to_vector(last.getDrawnGlobalShape());
  ++numbers[0];
  ++global[0];
  Value shifted = ConstantOp::create(
      builder, last.getLoc(),
      DenseElementsAttr::get(cast<ShapedType>(origin.getValue().getType()), ArrayRef(numbers)));
  last.setWindow(shifted, builder.getDenseI64ArrayAttr(global));
  EXPECT_NE(hash(), expected);
}

/// Two values of equal type are live at the same time, such as values that two micro-batches save.
TEST_F(StagesTest, AReusedPlaceIsRefused) {
  build("gpt2", 2, "gpipe", Phase::Memory);
  EXPECT_EQ(verifyPlaces(), "");
  SmallVector<exec::LaunchOp> launches = findAll<exec::LaunchOp>(0);
  auto isAlive = [](exec::LaunchOp first, exec::LaunchOp second) {
    return first->getResult(0).getType() == second->getResult(0).getType() &&
           llvm::any_of(first->getResult(0).getUsers(),
                        [&](Operation *user) { return second->isBeforeInBlock(user); });
  };
  for (auto [i, first] : llvm::enumerate(launches))
    for (exec::LaunchOp second : ArrayRef(launches).drop_front(i + 1)) {
      if (!isAlive(first, second) || (*first.getArguments())[0] >= 0)
        continue;
      auto offsets = llvm::to_vector(*second.getOffsets());
      offsets[0] = (*first.getOffsets())[0];
      second.setOffsetsAttr(Builder(&context).getDenseI64ArrayAttr(offsets));
      EXPECT_NE(verifyPlaces().find("the arena is wrong"), std::string::npos) << error;
      return;
    }
  FAIL() << "no values live together";
}

} // namespace
