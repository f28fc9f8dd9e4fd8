// reprise: compiles a module that has been through some of the phases already, for tests that edit
// IR between phases
#include "mlir/Pass/PassManager.h"
#include "reprise/Compiler.h"
#include "reprise/InitAll.h"
#include "reprise/Support/Parsing.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;
using namespace reprise;
namespace cl = llvm::cl;

namespace {

struct Flags {
  cl::opt<std::string> input{cl::Positional, cl::desc("IR.mlir"), cl::Required};
  cl::opt<std::string> output{"o", cl::desc("The bundle to write"), cl::Required};
  cl::opt<std::string> after{"after", cl::desc("The last phase that the module has been through"),
                             cl::Required};
  cl::opt<bool> verifyReplays{"verify-replays", cl::desc("As of reprise-compile")};
  cl::opt<bool> unverified{
      "unverified",
      cl::desc("Leave out the verifier of the phase, to see what the next check says")};
};

int fail(const llvm::Twine &message, int code) {
  llvm::WithColor::error() << message << "\n";
  return code;
}

LogicalResult verifyPhase(ModuleOp module, Phase phase) {
  PassManager manager(module.getContext());
  buildVerifier(manager, phase, {});
  return manager.run(module);
}

int resume(ModuleOp module, Phase after, const Flags &flags) {
  if (!flags.unverified && failed(verifyPhase(module, after)))
    return 1;
  CompileOptions options;
  options.after = after;
  options.isVerified = true;
  options.phases.verifyReplays = flags.verifyReplays;
  FailureOr<Compilation> compilation = compile(module, options);
  if (failed(compilation))
    return 1;
  runtime::Error error = runtime::writeBundle(compilation->bundle, flags.output);
  return error ? fail(error.message(), 1) : 0;
}

} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::ResetCommandLineParser();
  Flags flags;
  if (!cl::ParseCommandLineOptions(argc, argv, "Goes on from IR between phases\n", &llvm::errs()))
    return 2;
  std::optional<Phase> after = parsePhase(flags.after);
  if (!after)
    return fail("unknown phase '" + flags.after + "'", 2);
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry);
  context.printOpOnDiagnostic(false);
  auto sources = std::make_shared<llvm::SourceMgr>();
  SourceMgrDiagnosticHandler handler(*sources, &context);
  OwningOpRef<ModuleOp> module = parseModelFile(flags.input, context, sources);
  return module ? resume(*module, *after, flags) : 1;
}
