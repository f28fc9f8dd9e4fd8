// reprise: arbitrary bytes parsed as a model, text or bytecode, and taken through the phases
//
// The parser is libMLIR's, which crashes on some inputs: the tools first parse in a child
// (reprise/Support/Guard.h). Crashes of the parser are not our faults; fuzz-bytes.py distinguishes
// the two by the stack.
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "reprise/Compiler.h"
#include "reprise/InitAll.h"

using namespace mlir;

/// Larger graphs and tensors are well-formed, but take time and memory.
static bool isSmall(ModuleOp module) {
  int64_t ops = 0, elements = 0;
  module.walk([&](Operation *op) {
    ++ops;
    for (Type type : op->getResultTypes())
      if (auto tensor = dyn_cast<RankedTensorType>(type); tensor && tensor.hasStaticShape())
        for (int64_t dim : tensor.getShape())
          elements = std::max(elements, dim);
  });
  return ops < 200 && elements < 10000;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const DialectRegistry registry = [] {
    DialectRegistry made;
    reprise::registerAllDialects(made);
    return made;
  }();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false); // the tools do the same
  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) { return success(); });
  StringRef text(reinterpret_cast<const char *>(data), size);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
  if (module && isSmall(*module))
    (void)reprise::runPhases(*module, reprise::Phase::Memory, {});
  return 0;
}
