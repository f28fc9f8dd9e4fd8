// reprise: mlir-opt with our dialects, passes and phases; its input is parsed in a child first
#include "CommandLine/CommandLine.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "reprise/InitAll.h"
#include "reprise/Support/Diagnostics.h"
#include "reprise/Support/File.h"
#include "reprise/Support/Guard.h"
#include "reprise/Support/Parsing.h"
#include "llvm/Support/InitLLVM.h"

using namespace mlir;

/// Fails quietly on hostile input; mlir-opt reports all other errors itself.
static LogicalResult probe(const llvm::MemoryBuffer &buffer, const DialectRegistry &registry,
                           const MlirOptMainConfig &config) {
  reprise::ProbeOptions options;
  options.allowUnregisteredDialects = config.shouldAllowUnregisteredDialects();
  options.verify = config.shouldVerifyOnParsing();
  options.splitMarker = config.inputSplitMarker();
  return reprise::probeModel(buffer.getMemBufferRef(), registry, options);
}

/// Extension that shows scopes in the messages of the context that mlir-opt makes.
class ScopeExtension : public DialectExtension<ScopeExtension, func::FuncDialect> {
public:
  explicit ScopeExtension(StringRef file) : file(file) {}
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ScopeExtension)

  void apply(MLIRContext *context, func::FuncDialect *) const final {
    reprise::showScopes(*context, file);
  }

private:
  std::string file;
};

/// Runs to standard output at once, as mlir-opt does; to a file only on success.
static LogicalResult runTo(StringRef output, std::unique_ptr<llvm::MemoryBuffer> buffer,
                           DialectRegistry &registry, const MlirOptMainConfig &config) {
  if (output == "-")
    return MlirOptMain(llvm::outs(), std::move(buffer), registry, config);
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (failed(MlirOptMain(stream, std::move(buffer), registry, config)))
    return failure();
  llvm::Error error = reprise::writeFile(output, [&](raw_ostream &os) { os << text; });
  if (!error)
    return success();
  reprise::printError(toString(std::move(error)));
  return failure();
}

int main(int argc, char **argv) {
  reprise::setToolName("reprise-opt");
  reprise::deepenStack();
  reprise::cli::Tool tool(
      "reprise-opt", "mlir-opt with the dialects, passes and phases of Reprise",
      "[mlir-opt options] --reprise-to=PHASE | --pass-pipeline=PIPELINE MODEL.mlir");
  tool.addExample("reprise-opt gpt2.mlir --reprise-to=autodiff",
                  "The step after its differentiation; --help lists the phases.");
  tool.addExample("reprise-opt gpt2.mlir --reprise-to=\"checkpoint policies=recompute-all\"",
                  "A phase with an option; --help lists them.");
  if (std::optional<int> code = tool.parseAlone(argc, argv))
    return *code;
  llvm::InitLLVM init(argc, argv);
  DialectRegistry registry;
  reprise::registerAllDialects(registry);
  reprise::registerAllPasses();
  auto [input, output] =
      registerAndParseCLIOptions(argc, argv, "Reprise's optimizer driver", registry);
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  // These options print registered names and read no input.
  if (config.shouldShowDialects() || config.shouldListPasses())
    return asMainReturnCode(MlirOptMain(argc, argv, input, output, registry));
  std::unique_ptr<llvm::MemoryBuffer> buffer = reprise::readModelFile(input);
  if (!buffer || failed(probe(*buffer, registry, config)))
    return EXIT_FAILURE;
  // Tests expect messages without scopes.
  if (!config.shouldVerifyDiagnostics())
    registry.addExtension(TypeID::get<ScopeExtension>(),
                          std::make_unique<ScopeExtension>(buffer->getBufferIdentifier()));
  return asMainReturnCode(runTo(output, std::move(buffer), registry, config));
}
