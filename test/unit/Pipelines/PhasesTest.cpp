// reprise: tests of the phases: their names, and stops between any two phases
#include "reprise/Pipelines/Phases.h"

#include "mlir/IR/Action.h"
#include "mlir/Pass/PassManager.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/InitAll.h"
#include "reprise/Zoo/Zoo.h"
#include <gtest/gtest.h>
#include <map>
#include <mutex>
#include <set>

using namespace mlir;
using namespace reprise;

namespace {

constexpr Phase kPhases[] = {Phase::Import,    Phase::Random,     Phase::Label,   Phase::Autodiff,
                             Phase::Partition, Phase::Checkpoint, Phase::Kernels, Phase::Memory};

class PhasesTest : public ::testing::Test {
protected:
  PhasesTest() {
    DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    zoo::Options sizes = zoo::defaultOptions("gpt2");
    sizes.layers = 2;
    sizes.width = 16;
    sizes.batch = 2;
    sizes.seq = 8;
    sizes.vocab = 16;
    sizes.dropout = 0.1;
    model = zoo::buildModel(context, "gpt2", sizes);
    options.policies = {"recompute-all"};
    options.microbatches = 2;
  }

  void run(ModuleOp module, std::optional<Phase> from, Phase to) {
    PassManager manager(&context);
    buildPhases(manager, from, to, options);
    EXPECT_TRUE(succeeded(manager.run(module)));
  }

  static std::string print(ModuleOp module) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module.print(stream);
    return text;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> model;
  PhaseOptions options;
};

TEST_F(PhasesTest, NamesAreReadAsTheyAreWritten) {
  for (Phase phase : kPhases)
    EXPECT_EQ(parsePhase(phaseName(phase)), phase);
  EXPECT_EQ(parsePhase("target"), std::nullopt) << "its result is no IR";
  EXPECT_EQ(parsePhase(""), std::nullopt);
}

TEST_F(PhasesTest, OneAtATimeIsAllAtOnce) {
  OwningOpRef<ModuleOp> whole = model->clone(), stepwise = model->clone();
  run(*whole, std::nullopt, Phase::Memory);
  std::optional<Phase> from;
  for (Phase phase : kPhases) {
    std::string before = print(*stepwise);
    run(*stepwise, from, phase);
    EXPECT_NE(print(*stepwise), before) << "phase " << phaseName(phase).str() << " does something";
    from = phase;
  }
  EXPECT_EQ(print(*stepwise), print(*whole));
}

TEST_F(PhasesTest, TheVerifierOfAPhaseSeesABrokenPromise) {
  run(*model, std::nullopt, Phase::Memory);
  PassManager good(&context), bad(&context);
  buildVerifier(good, Phase::Memory, options);
  buildVerifier(bad, Phase::Memory, options);
  EXPECT_TRUE(succeeded(good.run(*model)));
  for (auto program : model->getOps<ProgramOp>())
    program->removeAttr("exec.arena_bytes");
  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) { return success(); });
  EXPECT_TRUE(failed(bad.run(*model)));
}

/// The reports of passes that run, from outside of the pipeline.
TEST_F(PhasesTest, ProgressFindsEveryPassOfEveryPhase) {
  std::map<std::string, std::set<Phase>> seen;
  std::mutex mutex;
  Phase now = Phase::Import;
  context.registerActionHandler([&](function_ref<void()> body, const tracing::Action &action) {
    if (auto *execution = dyn_cast<PassExecutionAction>(&action)) {
      std::lock_guard<std::mutex> lock(mutex);
      if (StringRef pass = execution->getPass().getArgument(); !pass.empty())
        seen[pass.str()].insert(now);
    }
    body();
  });
  std::set<Phase> told;
  for (int64_t devices : {1, 2})
    for (int64_t microbatches : {1, 2}) {
      options.stages.devices = devices;
      options.microbatches = microbatches;
      OwningOpRef<ModuleOp> stepwise = model->clone();
      std::optional<Phase> from;
      for (Phase phase : kPhases) {
        now = phase;
        run(*stepwise, from, phase);
        from = phase;
      }
    }
  context.registerActionHandler(nullptr);
  for (const auto &[pass, phases] : seen) {
    std::optional<Phase> found = phaseOfPass(pass);
    EXPECT_EQ(found.has_value(), phases.size() == 1) << pass;
    if (found) {
      EXPECT_EQ(*found, *phases.begin()) << pass;
      told.insert(*found);
    }
  }
  EXPECT_EQ(told.size(), std::size(kPhases)) << "progress speaks in every phase";
  EXPECT_EQ(phaseOfPass("reprise-split-casts"), Phase::Partition);
  EXPECT_EQ(phaseOfPass("canonicalize"), std::nullopt);
  EXPECT_EQ(phaseOfPass("none"), std::nullopt);
}

} // namespace
