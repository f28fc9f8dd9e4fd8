// reprise: mlir-reduce with our dialects and passes, and a pass that shrinks models
#include "CommandLine/CommandLine.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"
#include "reprise/Dialect/Reprise/Reduction.h"
#include "reprise/InitAll.h"
#include "reprise/Support/Diagnostics.h"
#include "reprise/Support/Guard.h"

using namespace mlir;

int main(int argc, char **argv) {
  reprise::setToolName("reprise-reduce");
  reprise::deepenStack();
  reprise::cli::Tool tool(
      "reprise-reduce",
      "mlir-reduce with the dialects and passes of Reprise, and a pass that shrinks models",
      "MODEL.mlir [mlir-reduce options]");
  tool.addExample("reprise-reduce m.mlir --reprise-shrink='test=./test.sh'",
                  "The smallest model for which the script still exits with 1.");
  if (std::optional<int> code = tool.parseAlone(argc, argv))
    return *code;
  // mlir-reduce reads its input itself, and runs passes on whatever a reduction left.
  return reprise::runToolInChild("the reducer", [&] {
    DialectRegistry registry;
    reprise::registerAllDialects(registry);
    reprise::registerAllPasses();
    reprise::registerShrinkPass();
    MLIRContext context(registry);
    return failed(mlirReduceMain(argc, argv, context)) ? 1 : 0;
  });
}
