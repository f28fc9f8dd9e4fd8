// reprise: the phase of a pass, which progress tells
#include "reprise/Pipelines/Phases.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include <map>
#include <set>

using namespace mlir;

namespace reprise {

using Phases = std::map<std::string, std::set<Phase>, std::less<>>;

/// Adds `phase` to the phases of the passes that a textual pipeline names.
static void addPasses(const std::string &pipeline, Phase phase, Phases &phases) {
  std::string names; // the pipeline without options
  int depth = 0;
  for (char c : pipeline) {
    depth += c == '{';
    if (depth == 0)
      names += c;
    depth -= c == '}';
  }
  SmallVector<StringRef> words;
  llvm::SplitString(names, words, ",()");
  for (StringRef word : words)
    phases[word.str()].insert(phase);
}

/// Returns the phases of each pass, by the passes that buildPhases adds: with and without slices of
/// the batch, on one and on two devices.
static Phases listPasses() {
  Phases phases;
  PhaseOptions options;
  options.verifyReplays = true;
  options.stages.checkpoint = "never";
  for (int64_t devices : {1, 2})
    for (int64_t microbatches : {1, 2})
      for (int number = 0; number <= static_cast<int>(Phase::Memory); ++number) {
        options.stages.devices = options.stages.replicas = devices;
        options.microbatches = microbatches;
        auto phase = static_cast<Phase>(number);
        std::optional<Phase> before;
        if (number > 0)
          before = static_cast<Phase>(number - 1);
        OpPassManager manager(ModuleOp::getOperationName());
        buildPhases(manager, before, phase, options);
        std::string text;
        llvm::raw_string_ostream stream(text);
        manager.printAsTextualPipeline(stream);
        addPasses(text, phase, phases);
      }
  return phases;
}

std::optional<Phase> phaseOfPass(StringRef pass) {
  static const Phases phases = listPasses();
  auto found = phases.find(std::string_view(pass));
  bool isOfOne = found != phases.end() && found->second.size() == 1;
  return isOfOne ? std::optional(*found->second.begin()) : std::nullopt;
}

} // namespace reprise
