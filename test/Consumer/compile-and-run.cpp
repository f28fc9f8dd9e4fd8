// reprise: a program outside the tree that compiles a model and runs it, with no file in between
#include "reprise/Compiler.h"
#include "reprise/InitAll.h"
#include "reprise/Support/Parsing.h"
#include "steps.h"

#include "mlir/IR/DialectRegistry.h"

/// Usage: compile-and-run MODEL BUNDLE. Writes the bundle as well.
int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  mlir::DialectRegistry registry;
  reprise::registerAllDialects(registry);
  mlir::MLIRContext context(registry);
  mlir::OwningOpRef<mlir::ModuleOp> module = reprise::parseModelFile(argv[1], context);
  if (!module)
    return 1;
  reprise::CompileOptions options;
  options.threads = 1;
  mlir::FailureOr<reprise::Compilation> compilation = reprise::compile(*module, options);
  if (failed(compilation))
    return 1;
  if (reprise::runtime::Error error = reprise::runtime::writeBundle(compilation->bundle, argv[2])) {
    std::fprintf(stderr, "error: %s\n", error.message().c_str());
    return 1;
  }
  return runSteps(reprise::runtime::Executable::create(std::move(compilation->bundle), argv[1], 1));
}
