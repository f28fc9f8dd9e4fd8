// reprise: a program outside the tree that reads a model through the compiler's library
#include "reprise/InitAll.h"
#include "reprise/Support/Parsing.h"

#include "mlir/IR/DialectRegistry.h"

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  mlir::DialectRegistry registry;
  reprise::registerAllDialects(registry);
  mlir::MLIRContext context(registry);
  mlir::OwningOpRef<mlir::ModuleOp> module = reprise::parseModelFile(argv[1], context);
  if (!module)
    return 1;
  module->print(llvm::outs());
  return 0;
}
