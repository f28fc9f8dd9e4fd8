// reprise: the MLIR language server with our dialects
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "reprise/InitAll.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  reprise::registerAllDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
