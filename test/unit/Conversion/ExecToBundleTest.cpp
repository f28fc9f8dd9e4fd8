// reprise: tests of the conversion from command lists to a bundle: transfers, and constants
#include "reprise/Conversion/ExecToBundle.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "reprise/Dialect/Exec/IR/Exec.h"
#include "reprise/Dialect/Exec/Transforms/Passes.h"
#include "reprise/InitAll.h"
#include "reprise/Runtime/Session.h"
#include "reprise/Target/Target.h"
#include <gtest/gtest.h>
#include <thread>

using namespace mlir;
using namespace reprise;
using namespace reprise::runtime;

namespace {

constexpr StringLiteral kEntry =
    "(%w: tensor<3x64xf32> {reprise.name = \"w\", reprise.role = \"parameter\"}) -> "
    "(tensor<3x64xf32> {reprise.name = \"w\"})";

/// Returns a program of w' = tanh(exp(w)), row by row.
std::string wholeStep() {
  return "reprise.program @whole devices [0] " + kEntry.str() + R"( {
  %l = reprise.loop 3 () over (%s = %w) : (tensor<3x64xf32>) -> tensor<3x64xf32> {
    %0 = exec.launch (%a = %s) : (tensor<64xf32>) -> tensor<64xf32> {
      %r = reprise.exp %a : tensor<64xf32>
      exec.return %r : tensor<64xf32>
    }
    %1 = exec.launch (%a = %0) : (tensor<64xf32>) -> tensor<64xf32> {
      %r = reprise.tanh %a : tensor<64xf32>
      exec.return %r : tensor<64xf32>
    }
    reprise.yield %1 : tensor<64xf32>
  }
  reprise.return %l : tensor<3x64xf32>
})";
}

/// Returns a program that leaves tanh to another program.
std::string firstStage() {
  return "reprise.program @first devices [0] " + kEntry.str() + R"( {
  %l = reprise.loop 3 () over (%s = %w) : (tensor<3x64xf32>) -> tensor<3x64xf32> {
    %0 = exec.launch (%a = %s) : (tensor<64xf32>) -> tensor<64xf32> {
      %r = reprise.exp %a : tensor<64xf32>
      exec.return %r : tensor<64xf32>
    }
    %sent = exec.send %0 to @second tag 1 : tensor<64xf32>
    %1, %arrived = exec.receive from @second tag 2 : tensor<64xf32>
    exec.wait %sent
    exec.wait %arrived
    reprise.yield %1 : tensor<64xf32>
  }
  reprise.return %l : tensor<3x64xf32>
})";
}

std::string secondStage() {
  return R"(reprise.program @second devices [0] () {
  reprise.loop 3 () : () -> () {
    %0, %arrived = exec.receive from @first tag 1 : tensor<64xf32>
    exec.wait %arrived
    %1 = exec.launch (%a = %0) : (tensor<64xf32>) -> tensor<64xf32> {
      %r = reprise.tanh %a : tensor<64xf32>
      exec.return %r : tensor<64xf32>
    }
    %sent = exec.send %1 to @first tag 2 : tensor<64xf32>
    exec.wait %sent
    reprise.yield
  }
  reprise.return
})";
}

class ExecToBundleTest : public ::testing::Test {
protected:
  ExecToBundleTest() {
    DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  Bundle compile(const std::string &text) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    PassManager manager(&context);
    manager.addNestedPass<ProgramOp>(exec::createPlaceBuffersPass({}, nullptr));
    manager.addNestedPass<ProgramOp>(exec::createVerifyBuffersPass({}, nullptr));
    EXPECT_TRUE(succeeded(manager.run(*module)));
    std::shared_ptr<const Target> target;
    EXPECT_TRUE(succeeded(Target::get("cpu", UnknownLoc::get(&context), target)));
    std::vector<BundlePrograms> devices;
    for (auto program : module->getOps<ProgramOp>())
      devices.push_back({program, {}, {}, target.get()});
    FailureOr<Bundle> bundle = buildBundle(devices);
    EXPECT_TRUE(succeeded(bundle));
    return *bundle;
  }

  MLIRContext context;
};

std::vector<float> startValues() {
  std::vector<float> values;
  for (int i = 0; i < 3 * 64; ++i)
    values.push_back(0.01f * float(i) - 1);
  return values;
}

/// Runs a program and returns the hash of its results, or the error.
std::string train(Bundle bundle, Transport &transport, int64_t steps) {
  std::string name = bundle.entry;
  auto device = makeCpuDevice(1);
  auto endpoint = transport.join(name);
  auto executable =
      Executable::create(std::move(bundle), name, std::move(*device), std::move(*endpoint));
  if (!executable)
    return executable.message();
  Session session(**executable);
  std::vector<float> values = startValues();
  if (session.find("w"))
    if (Error error = session.giveValue({"w", DType::F32, {3, 64}, values.data()}))
      return error.message();
  if (Error error = session.start(steps))
    return error.message();
  for (int64_t i = 0; i < steps; ++i)
    if (Error error = session.step())
      return error.message();
  return std::to_string(hashArrays(session.results()));
}

TEST_F(ExecToBundleTest, TwoProgramsHaveTheBitsOfOne) {
  std::unique_ptr<Transport> nobody = makeLocalTransport({"whole"});
  std::string expected = train(compile(wholeStep()), *nobody, 10);
  Bundle first = compile(firstStage()), second = compile(secondStage());
  std::unique_ptr<Transport> transport = makeLocalTransport({"first", "second"});
  std::string other;
  std::thread thread([&] { other = train(std::move(second), *transport, 10); });
  EXPECT_EQ(train(std::move(first), *transport, 10), expected);
  thread.join();
  EXPECT_EQ(other.find("'"), std::string::npos) << other;
}

TEST_F(ExecToBundleTest, TransfersAreWrittenOnceBelowTheirRepeat) {
  Bundle bundle = compile(firstStage());
  const std::vector<Command> &commands = bundle.programs[0].commands;
  ASSERT_EQ(commands.size(), 7u);
  EXPECT_EQ(commands[0].kind, CommandKind::Repeat);
  EXPECT_EQ(commands[0].body, 5u);
  EXPECT_EQ(commands[2].kind, CommandKind::Send);
  EXPECT_EQ(commands[2].peer, "second");
  EXPECT_EQ(commands[2].tag, 1u);
  EXPECT_EQ(commands[3].kind, CommandKind::Receive);
  EXPECT_EQ(commands[3].operands[0].strides, std::vector<int64_t>{256});
  EXPECT_EQ(commands[4].event, commands[2].event);
  EXPECT_EQ(commands[5].event, commands[3].event);
  EXPECT_NE(commands[4].event, commands[5].event);
  EXPECT_EQ(commands[6].kind, CommandKind::Copy) << "the next value comes from the stack";
  EXPECT_FALSE(bool(validateBundle(bundle)));
}

TEST_F(ExecToBundleTest, CallsHaveTheirWorkspaceBehindTheirOperands) {
  Bundle bundle = compile(
      R"(reprise.program @f devices [0] (%x: tensor<8xf32> {reprise.name = "x"}) -> (tensor<8xf32> {reprise.name = "y"}) {
  %ready = exec.record
  exec.wait %ready on 3
  %y = exec.call "double"(%x) workspace 64 on 3 : (tensor<8xf32>) -> tensor<8xf32>
  %done = exec.record on 3
  exec.wait %done
  reprise.return %y : tensor<8xf32>
})");
  const std::vector<Command> &commands = bundle.programs[0].commands;
  ASSERT_EQ(commands.size(), 5u);
  EXPECT_EQ(commands[2].function, "double");
  EXPECT_EQ(commands[2].stream, 3u);
  ASSERT_EQ(commands[2].operands.size(), 3u);
  EXPECT_EQ(commands[2].operands[0].buffer.space, Space::Argument);
  EXPECT_EQ(commands[2].operands[1].access, Write);
  EXPECT_EQ(commands[2].operands[2].access, ReadWrite);
  EXPECT_EQ(commands[2].operands[2].buffer.bytes, 64u);
  EXPECT_EQ(commands[4].stream, 0u);
  EXPECT_EQ(Executable::create(bundle, "m.rpb", 1).message(),
            "m.rpb: device 'cpu' has no library with function 'double'");
}

TEST_F(ExecToBundleTest, APauseIsANumberOfCommands) {
  Bundle bundle = compile(
      R"(reprise.program @f devices [0] (%x: tensor<8xf32> {reprise.name = "x", reprise.role = "input"},
    %g: tensor<8xf32> {reprise.name = "g", reprise.role = "input"},
    %o: tensor<8xf32> {reprise.name = "y", reprise.role = "state"})
    -> (tensor<8xf32> {reprise.name = "y"}, tensor<8xf32> {reprise.name = "z"}) {
  %0 = exec.launch (%a = %x) : (tensor<8xf32>) -> tensor<8xf32> {
    %r = reprise.exp %a : tensor<8xf32>
    exec.return %r : tensor<8xf32>
  }
  %late = reprise.pause (%0) then (%g) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %1 = exec.launch (%a = %0, %b = %g) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> {
    %r = reprise.mul %a, %b : tensor<8xf32>
    exec.return %r : tensor<8xf32>
  }
  reprise.return %0, %1 : tensor<8xf32>, tensor<8xf32>
})");
  ASSERT_EQ(bundle.programs[0].commands.size(), 3u);
  EXPECT_EQ(bundle.programs[0].commands[1].kind, CommandKind::Copy) << "y is read behind the pause";
  EXPECT_EQ(bundle.programs[0].pause, 2);
  EXPECT_FALSE(bundle.isLate(0));
  EXPECT_TRUE(bundle.isLate(1));
  EXPECT_TRUE(bundle.isEarly(bundle.results[0]));
  EXPECT_FALSE(bundle.isEarly(bundle.results[1]));
  EXPECT_FALSE(bool(validateBundle(bundle)));
}

TEST_F(ExecToBundleTest, EqualConstantsAreStoredOnce) {
  Bundle bundle =
      compile(R"(reprise.program @f devices [0] () -> (tensor<2xf32> {reprise.name = "y"}) {
  %a = reprise.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = reprise.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %c = reprise.constant dense<[1.0, 3.0]> : tensor<2xf32>
  %s = exec.send %a to @g tag 1 : tensor<2xf32>
  %t = exec.send %b to @g tag 1 : tensor<2xf32>
  %u = exec.send %c to @g tag 1 : tensor<2xf32>
  exec.wait %s
  exec.wait %t
  exec.wait %u
  reprise.return %a : tensor<2xf32>
})");
  const std::vector<Command> &commands = bundle.programs[0].commands;
  EXPECT_EQ(commands[0].operands[0].buffer.offset, commands[1].operands[0].buffer.offset);
  EXPECT_NE(commands[0].operands[0].buffer.offset, commands[2].operands[0].buffer.offset);
  EXPECT_EQ(bundle.constants.size(), bufferAlignment + 8);
}

} // namespace
