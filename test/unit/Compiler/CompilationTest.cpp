// reprise: tests of compilations of one and of several device programs
#include "reprise/Compiler.h"

#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/InitAll.h"
#include "reprise/Zoo/Zoo.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace reprise;

namespace {

class CompilationTest : public ::testing::Test {
protected:
  CompilationTest() {
    DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    context.getDiagEngine().registerHandler(
        [this](Diagnostic &diagnostic) { error += diagnostic.str() + "\n"; });
    options.phases.target = "cpu:x86-64-v3";
    options.threads = 2;
    options.after = Phase::Autodiff;
  }

  /// Builds programs of devices 0 and 1, and a function between them that is no program.
  void buildTwo() {
    buildOne();
    auto first = *module->getOps<ProgramOp>().begin();
    OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
    auto plain = func::FuncOp::create(builder, first.getLoc(), "plain", first.getFunctionType());
    builder.setInsertionPointToEnd(plain.addEntryBlock());
    func::ReturnOp::create(builder, first.getLoc(), cloneBody(first, plain));
    add(first, "second").setDevices(1);
  }

  /// Copies the ops of a program into a function, and returns what the program returns.
  static SmallVector<Value> cloneBody(ProgramOp program, func::FuncOp function) {
    OpBuilder builder = OpBuilder::atBlockEnd(&function.front());
    IRMapping copies;
    copies.map(program.getArguments(), function.getArguments());
    for (Operation &op : program.front().without_terminator())
      builder.clone(op, copies);
    return llvm::map_to_vector(program.front().getTerminator()->getOperands(),
                               [&](Value value) { return copies.lookup(value); });
  }

  /// Builds the program of device 0 alone.
  void buildOne() {
    zoo::Options model;
    model.layers = 2;
    model.width = 16;
    model.heads = 2;
    model.vocab = 20;
    model.batch = 2;
    model.seq = 8;
    module = zoo::buildModel(context, "gpt2", model);
    ASSERT_TRUE(succeeded(runPhases(*module, Phase::Autodiff, options.phases))) << error;
  }

  /// Adds a copy whose parameters and results have names of their own, so that it is another
  /// program.
  ProgramOp add(ProgramOp like, StringRef name) {
    ProgramOp copy = like.clone();
    copy.setName(name);
    auto rename = [&](StringAttr old) {
      return old == "seed" || old == "offset"
                 ? old
                 : StringAttr::get(&context, name + "/" + old.strref());
    };
    EntrySignature signature(copy);
    for (unsigned i = 0; i < copy.getNumArguments(); ++i)
      copy.setArgAttr(i, EntrySignature::kName, rename(signature.getArgumentName(i)));
    for (unsigned i = 0; i < copy.getNumResults(); ++i)
      copy.setResultAttr(i, EntrySignature::kName, rename(signature.getResultName(i)));
    module->push_back(copy);
    return copy;
  }

  Compilation run() {
    error.clear();
    FailureOr<Compilation> compilation = compile(*module, options);
    return succeeded(compilation) ? std::move(*compilation) : Compilation();
  }

  std::string print(StringRef path, const Compilation &compilation) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    printReports(stream, path, compilation.programs);
    return text;
  }

  static int64_t takenBy(const CompiledProgram &program) {
    return program.report.arenaBytes + program.report.workspaceBytes;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  CompileOptions options;
  std::string error;
};

TEST_F(CompilationTest, eachProgramHasItsAccount) {
  buildOne();
  options.estimateOnly = true;
  Compilation alone = run();
  ASSERT_EQ(alone.programs.size(), 1u) << error;
  buildTwo();
  std::string plain;
  llvm::raw_string_ostream(plain) << module->lookupSymbol("plain");
  Compilation both = run();
  ASSERT_EQ(both.programs.size(), 2u) << error;
  EXPECT_EQ(both.programs[0].name, "train");
  EXPECT_EQ(both.programs[1].name, "second");
  for (const auto &[device, program] : llvm::enumerate(both.programs)) {
    EXPECT_EQ(program.device, static_cast<int64_t>(device));
    EXPECT_EQ(llvm::json::Value(toJson(program.report)),
              llvm::json::Value(toJson(alone.programs[0].report)));
  }
  std::string after;
  llvm::raw_string_ostream(after) << module->lookupSymbol("plain");
  EXPECT_EQ(plain, after);
}

TEST_F(CompilationTest, aBudgetHoldsForEachProgram) {
  buildTwo();
  options.estimateOnly = true;
  int64_t free = takenBy(run().programs.at(0));
  buildTwo();
  options.keepPlan = true;
  options.budget = Budget{free * 3 / 4, std::nullopt};
  Compilation within = run();
  ASSERT_EQ(within.programs.size(), 2u) << error;
  for (const CompiledProgram &program : within.programs) {
    EXPECT_LE(takenBy(program), *options.budget->bytes);
    EXPECT_GT(program.report.budget->search->costIncrease, 0);
  }
  // The plans are applied again, without a search.
  llvm::json::Value plans = writePlans(within);
  EXPECT_EQ(plans.getAsObject()->getArray("programs")->size(), 2u);
  buildTwo();
  options.plan = &plans;
  Compilation again = run();
  ASSERT_EQ(again.programs.size(), 2u) << error;
  for (size_t i = 0; i < 2; ++i)
    EXPECT_EQ(takenBy(again.programs[i]), takenBy(within.programs[i]));
  EXPECT_FALSE(again.programs[0].report.budget->search);
  buildOne();
  EXPECT_TRUE(run().programs.size() == 1) << error;
  plans = std::move(within.programs[0].plan);
  buildTwo();
  EXPECT_TRUE(run().programs.empty());
  EXPECT_EQ(error, "the plan is for a single device program, and the model has 2\n");
}

TEST_F(CompilationTest, eachDeviceHasItsTarget) {
  buildTwo();
  options.estimateOnly = true;
  options.targets[1] = "cpu:x86-64-v4";
  Compilation both = run();
  ASSERT_EQ(both.programs.size(), 2u) << error;
  EXPECT_EQ(both.programs[0].report.target, "cpu:x86-64-v3");
  EXPECT_EQ(both.programs[1].report.target, "cpu:x86-64-v4");
}

TEST_F(CompilationTest, reportsOfSeveralProgramsAreAList) {
  buildTwo();
  options.estimateOnly = true;
  Compilation both = run();
  ASSERT_EQ(both.programs.size(), 2u) << error;
  llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(print("r.json", both));
  ASSERT_TRUE(bool(parsed));
  const llvm::json::Array *programs = parsed->getAsObject()->getArray("programs");
  ASSERT_TRUE(programs && programs->size() == 2);
  const llvm::json::Object *second = (*programs)[1].getAsObject();
  EXPECT_EQ(second->getString("program"), "second");
  EXPECT_EQ(second->getInteger("device_number"), 1);
  EXPECT_TRUE(second->getString("device").has_value());
  EXPECT_EQ(second->getInteger("arena_bytes"), both.programs[1].report.arenaBytes);
  EXPECT_NE(print("r.txt", both).find("device 1: second"), std::string::npos);
  EXPECT_NE(print("r.html", both).find("\"program\":\"second\""), std::string::npos);
  // A report of a single program keeps its old format.
  both.programs.pop_back();
  EXPECT_EQ(llvm::cantFail(llvm::json::parse(print("r.json", both))),
            llvm::json::Value(toJson(both.programs[0].report)));
  EXPECT_EQ(print("r.txt", both).find("device 0"), std::string::npos);
}

TEST_F(CompilationTest, programsAreNumberedByDevice) {
  buildTwo();
  (*module->getOps<ProgramOp>().begin()).erase();
  EXPECT_TRUE(run().programs.empty());
  EXPECT_EQ(error, "expected one program per device, numbered from 0: got device 1 instead of 0\n");
  module->lookupSymbol<ProgramOp>("second").setDevices({0, 1});
  EXPECT_TRUE(run().programs.empty());
  EXPECT_EQ(error, "expected a program of one device, got one of 2\n");
  module->lookupSymbol("second")->erase();
  EXPECT_TRUE(run().programs.empty());
  EXPECT_EQ(error, "expected a device program, a 'reprise.program'\n");
}

TEST_F(CompilationTest, aBundleHoldsAllProgramsAndAnImagePerTarget) {
  buildTwo();
  Compilation both = run();
  ASSERT_EQ(both.programs.size(), 2u) << error;
  const runtime::Bundle &bundle = both.bundle;
  EXPECT_EQ(bundle.deviceName(0), "train");
  EXPECT_EQ(bundle.deviceName(1), "second");
  EXPECT_EQ(bundle.images.size(), 1u);
  // Launches that are alike are compiled once.
  buildOne();
  EXPECT_EQ(bundle.kernels.size(), run().bundle.kernels.size());
  for (uint32_t device : {0, 1}) {
    const Report &report = both.programs[device].report;
    EXPECT_EQ(report.arenaBytes, static_cast<int64_t>(bundle.arenaBytes(device)));
    runtime::Bundle alone = runtime::selectDevice(bundle, device);
    EXPECT_FALSE(runtime::validateBundle(alone));
    EXPECT_EQ(alone.entry, bundle.deviceName(device));
    EXPECT_EQ(report.persistentBytes, static_cast<int64_t>(alone.persistentBytes()));
    EXPECT_EQ(report.workspaceBytes, static_cast<int64_t>(alone.workspaceBytes(2)));
    EXPECT_EQ(report.commands, static_cast<int64_t>(alone.program("step")->executions()));
  }
  buildTwo();
  options.targets[1] = "cpu:x86-64-v4";
  both = run();
  ASSERT_EQ(both.programs.size(), 2u) << error;
  ASSERT_EQ(both.bundle.images.size(), 2u);
  EXPECT_EQ(both.bundle.images[1].target, "cpu:x86-64-v4");
  EXPECT_EQ(runtime::selectDevice(both.bundle, 1).images.front().target, "cpu:x86-64-v4");
}

} // namespace
