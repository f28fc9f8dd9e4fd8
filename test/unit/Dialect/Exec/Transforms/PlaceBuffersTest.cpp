// reprise: tests that places of random programs pass the judge, and that moved ones do not
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "reprise/Dialect/Exec/IR/Arena.h"
#include "reprise/Dialect/Exec/IR/Exec.h"
#include "reprise/Dialect/Exec/Transforms/Passes.h"
#include "reprise/InitAll.h"
#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using namespace reprise;

namespace {

/// Text of a program of launches, calls on three streams, transfers, records and waits, in which
/// every read is behind its write.
class RandomProgram {
public:
  explicit RandomProgram(unsigned seed) : random(seed) {}

  std::string make() {
    text = "reprise.program @f devices [0] (%x: tensor<16xf32> {reprise.name = \"x\"}) -> "
           "(tensor<16xf32> "
           "{reprise.name = \"y\"}) {\n";
    values = {{"%x", 0}};
    for (int i = 0; i < 24; ++i)
      add();
    for (const std::string &event : inFlight)
      text += "  exec.wait " + event + "\n";
    std::string last = addLaunch(pick(), pick());
    return text + "  reprise.return " + last + " : tensor<16xf32>\n}\n";
  }

private:
  static constexpr const char *type = "tensor<16xf32>";

  size_t draw(size_t below) { return random() % below; }
  std::string fresh(const char *kind) { return std::string("%") + kind + std::to_string(next++); }
  /// A value that stream 0 may read, rather a late one.
  std::string pick() {
    size_t late = std::min<size_t>(values.size(), 4);
    return values[values.size() - 1 - draw(late)].first;
  }

  std::string addLaunch(const std::string &a, const std::string &b) {
    std::string name = fresh("v");
    text += "  " + name + " = exec.launch (%a = " + a + ", %b = " + b + ") : (" + type + ", " +
            type + ") -> " + type + " {\n    %r = reprise.add %a, %b : " + type +
            "\n    exec.return %r : " + type + "\n  }\n";
    return name;
  }

  /// Adds a call on stream 1 or 2, behind stream 0, which waits for the call at once or later.
  void addCall() {
    std::string start = fresh("e"), result = fresh("v"), done = fresh("e");
    std::string on = " on " + std::to_string(1 + draw(2));
    text += "  " + start + " = exec.record\n  exec.wait " + start + on + "\n  " + result +
            " = exec.call \"f\"(" + pick() + ") workspace " + std::to_string(16 * draw(3)) + on +
            " : (" + type + ") -> " + type + "\n  " + done + " = exec.record" + on + "\n";
    if (draw(2))
      addLaunchOf();
    text += "  exec.wait " + done + "\n";
    values.push_back({result, 0});
  }

  void addLaunchOf() { values.push_back({addLaunch(pick(), pick()), 0}); }

  void add() {
    std::string event = fresh("e"), result = fresh("v");
    switch (draw(5)) {
    case 0:
      text += "  " + event + " = exec.send " + pick() + " to @g tag 1 : " + type + "\n";
      inFlight.push_back(event);
      break;
    case 1:
      text += "  " + result + ", " + event + " = exec.receive from @g tag 1 : " + type + "\n";
      if (draw(2))
        addLaunchOf();
      text += "  exec.wait " + event + "\n";
      values.push_back({result, 0});
      break;
    case 2:
      addCall();
      break;
    case 3:
      if (!inFlight.empty()) {
        text += "  exec.wait " + inFlight.back() + "\n";
        inFlight.pop_back();
      }
      [[fallthrough]];
    default:
      addLaunchOf();
    }
  }

  std::mt19937 random;
  std::string text;
  std::vector<std::pair<std::string, int>> values;
  std::vector<std::string> inFlight;
  int next = 0;
};

class PlaceBuffersTest : public ::testing::Test {
protected:
  PlaceBuffersTest() {
    DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  LogicalResult run(ModuleOp module, std::unique_ptr<Pass> pass) {
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      if (message.empty())
        message = diagnostic.str();
      return success();
    });
    message.clear();
    PassManager manager(&context);
    manager.addNestedPass<ProgramOp>(std::move(pass));
    return manager.run(module);
  }

  MLIRContext context;
  std::string message;
};

TEST_F(PlaceBuffersTest, PlacesOfRandomProgramsPassTheirJudge) {
  int shared = 0;
  for (unsigned seed = 0; seed < 150; ++seed) {
    std::string text = RandomProgram(seed).make();
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module) << text;
    ASSERT_TRUE(succeeded(run(*module, exec::createPlaceBuffersPass({}, nullptr)))) << message;
    ASSERT_TRUE(succeeded(run(*module, exec::createVerifyBuffersPass({}, nullptr))))
        << "seed " << seed << ": " << message << "\n"
        << text;
    auto function = *module->getOps<ProgramOp>().begin();
    int64_t buffers = 0;
    function.walk([&](exec::StoringOpInterface op) { buffers += op.getStoredResults().size(); });
    shared += *exec::getArenaBytes(function) < 64 * buffers;
  }
  EXPECT_GT(shared, 140) << "buffers take each other's places";
}

/// A wait that is moved to the end leaves its transfer in flight; the judge must see every earlier
/// use of the buffer.
TEST_F(PlaceBuffersTest, MovedWaitsAreSeen) {
  int refused = 0, moved = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(RandomProgram(seed).make(), &context);
    ASSERT_TRUE(succeeded(run(*module, exec::createPlaceBuffersPass({}, nullptr))));
    auto function = *module->getOps<ProgramOp>().begin();
    exec::ReceiveOp receive;
    function.walk([&](exec::ReceiveOp op) { receive = op; });
    if (!receive || receive.getValue().use_empty())
      continue;
    ++moved;
    for (Operation *wait : receive.getEvent().getUsers())
      wait->moveBefore(function.getBody().front().getTerminator());
    refused += failed(run(*module, exec::createVerifyBuffersPass({}, nullptr)));
  }
  EXPECT_GT(moved, 50);
  EXPECT_EQ(refused, moved);
}

} // namespace
