// reprise: tests of the tables of attributes: their rows, and the attributes after each phase
#include "reprise/Dialect/Exec/IR/Attributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "reprise/Dialect/Pipe/IR/Pipe.h"
#include "reprise/InitAll.h"
#include "reprise/Pipelines/Phases.h"
#include "reprise/Zoo/Zoo.h"
#include "llvm/Support/MemoryBuffer.h"
#include <filesystem>
#include <gtest/gtest.h>

using namespace mlir;
using namespace reprise;

namespace {

constexpr Phase kPhases[] = {Phase::Import,    Phase::Random,     Phase::Label,   Phase::Autodiff,
                             Phase::Partition, Phase::Checkpoint, Phase::Kernels, Phase::Memory};

using Table = std::pair<StringRef, ArrayRef<AttributeRow>>;
const Table kTables[] = {{"reprise.", reprise::getAttributeTable()},
                         {"exec.", exec::getAttributeTable()},
                         {"pipe.", pipe::getAttributeTable()}};

/// Returns -1 for a model, the number of a phase, or the number behind all phases for `target`.
/// Nests are printed after the phase `memory`.
int rank(StringRef phase) {
  if (phase == "model")
    return -1;
  if (std::optional<Phase> parsed = parsePhase(phase == "nests" ? "memory" : phase))
    return static_cast<int>(*parsed);
  EXPECT_EQ(phase, "target");
  return static_cast<int>(Phase::Memory) + 1;
}

/// Tells whether the result of a phase, or for -1 a model, may have the attribute of the row.
bool isAlive(const AttributeRow &row, int phase) {
  return !row.last.empty() && rank(row.first) <= phase && phase <= rank(row.last);
}

/// Returns an attribute that the result of the phase must not have; empty if there is none.
std::string findForeign(ModuleOp module, int phase) {
  std::string found;
  auto look = [&](DictionaryAttr attributes) {
    for (NamedAttribute attribute : attributes ? attributes.getValue() : ArrayRef<NamedAttribute>())
      for (auto [prefix, table] : kTables)
        if (StringRef name = attribute.getName(); name.starts_with(prefix))
          if (const AttributeRow *row = findAttribute(table, name); !row || !isAlive(*row, phase))
            found = name;
  };
  module->walk([&](Operation *op) {
    look(op->getDiscardableAttrDictionary());
    if (auto function = dyn_cast<FunctionOpInterface>(op)) {
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        look(function.getArgAttrDict(i));
      for (unsigned i = 0; i < function.getNumResults(); ++i)
        look(function.getResultAttrDict(i));
    }
  });
  return found;
}

class AttributesTest : public ::testing::Test {
protected:
  AttributesTest() {
    DialectRegistry registry;
    registerAllDialects(registry);
    registerAllPasses();
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// Runs phase after phase up to the first failure, and counts the successes.
  void check(ModuleOp model, const PhaseOptions &options, const std::string &place) {
    ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) { return success(); });
    OwningOpRef<ModuleOp> module = model.clone();
    std::optional<Phase> from;
    for (Phase phase : kPhases) {
      PassManager manager(&context);
      buildPhases(manager, from, phase, options);
      if (failed(manager.run(*module)))
        return;
      ++done[phase];
      std::string foreign = findForeign(*module, static_cast<int>(phase));
      EXPECT_EQ(foreign, "") << place << " after phase " << phaseName(phase).str();
      from = phase;
    }
  }

  void checkEntries(ModuleOp module, const std::string &place) {
    for (auto function : module.getOps<func::FuncOp>()) {
      if (function.isExternal() || function.isPrivate())
        continue;
      PhaseOptions plain, cut;
      plain.entry = cut.entry = function.getName().str();
      cut.microbatches = cut.stages.devices = 2;
      check(module, plain, place);
      check(module, cut, place + ", in stages");
    }
  }

  /// Checks the modules of a test's file; some modules are invalid, or of a later phase.
  void checkFile(const std::filesystem::path &path) {
    auto text = llvm::MemoryBuffer::getFile(path.string(), /*IsText=*/true);
    ASSERT_TRUE(bool(text));
    SmallVector<StringRef> parts;
    (*text)->getBuffer().split(parts, "// -----");
    for (StringRef part : parts) {
      OwningOpRef<ModuleOp> module;
      {
        ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) { return success(); });
        module = parseSourceString<ModuleOp>(part, &context);
      }
      if (module && findForeign(*module, -1).empty())
        checkEntries(*module, path.string());
    }
  }

  MLIRContext context;
  std::map<Phase, int> done;
};

TEST_F(AttributesTest, RowsAreComplete) {
  std::set<std::string> names;
  for (auto [prefix, table] : kTables)
    for (const AttributeRow &row : table) {
      EXPECT_TRUE(row.name.starts_with(prefix)) << row.name.str();
      EXPECT_TRUE(names.insert(row.name.str()).second) << row.name.str();
      EXPECT_TRUE(row.last.empty() || rank(row.first) <= rank(row.last)) << row.name.str();
      EXPECT_TRUE(row.meaning.ends_with(".") && !row.meaning.contains("|")) << row.name.str();
    }
}

TEST_F(AttributesTest, AfterEachPhaseOnlyThoseOfTheTableAreThere) {
  for (StringRef name : {"gpt2", "mlp", "resnet18", "moe"}) {
    zoo::Options sizes = zoo::defaultOptions(name.str());
    sizes.layers = 2;
    sizes.width = 16;
    sizes.batch = 4;
    sizes.image = 32;
    sizes.dropout = 0.1;
    OwningOpRef<ModuleOp> model = zoo::buildModel(context, name.str(), sizes);
    ASSERT_TRUE(model);
    PhaseOptions options;
    check(*model, options, name.str());
    options.policies = {"recompute-all"};
    options.verifyReplays = true;
    check(*model, options, name.str() + ", recomputed");
    options.target = "cuda:sm_90";
    options.unroll = true;
    options.microbatches = 2;
    check(*model, options, name.str() + ", in micro-batches");
    options.stages.devices = 2;
    check(*model, options, name.str() + ", in stages");
  }
  for (Phase phase : kPhases)
    EXPECT_GE(done[phase], 12) << phaseName(phase).str();
}

TEST_F(AttributesTest, ModelsOfAllTestsHaveOnlyThoseOfTheTable) {
  std::filesystem::path tests = std::filesystem::path(REPRISE_TEST_DATA).parent_path();
  for (const auto &entry : std::filesystem::recursive_directory_iterator(tests))
    if (entry.path().extension() == ".mlir")
      checkFile(entry.path());
  for (Phase phase : kPhases)
    EXPECT_GE(done[phase], 100) << phaseName(phase).str();
}

} // namespace
