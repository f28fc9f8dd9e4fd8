// reprise: the MLIR language server with our dialects
#include "CommandLine/CommandLine.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "reprise/InitAll.h"

int main(int argc, char **argv) {
  reprise::cli::Tool tool("reprise-lsp-server",
                          "the MLIR language server with the dialects of Reprise",
                          "[mlir-lsp-server options]");
  if (std::optional<int> code = tool.parseAlone(argc, argv))
    return *code;
  mlir::DialectRegistry registry;
  reprise::registerAllDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
