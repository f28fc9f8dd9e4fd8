// reprise: what is wrong with a model, told by the scope of its ops
#ifndef REPRISE_SUPPORT_DIAGNOSTICS_H
#define REPRISE_SUPPORT_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include <string>

namespace llvm {
class SourceMgr;
}

namespace reprise {

/// Names the tool that runs, a literal: its errors begin with the name.
void setToolName(const char *name);
const char *getToolName();
/// Prints an error that names no place in a file, as "TOOL: error: MESSAGE"; without a name of a
/// tool, as in a library, as "error: MESSAGE". Long texts lose their middle.
void printError(const llvm::Twine &message);

/// Messages about ops of a scope start with it, as in "m.mlir:12:3: error: in layer/2/mlp: ...".
/// Those about ops without a line, as in bytecode, are printed here, behind the name of the model's
/// `file`. All others are left to the handlers that were there before. Long names and
/// texts lose their middle; the text of a whole module or function behind an error is left out. The
/// result names the handler to the context's engine.
mlir::DiagnosticEngine::HandlerID showScopes(mlir::MLIRContext &context, std::string file);

/// Messages of these sources show no source line that fills a screen, such as the head of a
/// function with hundreds of arguments, and none of binary data; the place still stands before
/// them.
void hideLongLines(llvm::SourceMgr &sources);

} // namespace reprise

#endif // REPRISE_SUPPORT_DIAGNOSTICS_H
