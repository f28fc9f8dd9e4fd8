// reprise: messages about a model, with the scopes of its ops
#ifndef REPRISE_SUPPORT_DIAGNOSTICS_H
#define REPRISE_SUPPORT_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include <string>

namespace llvm {
class SourceMgr;
}

namespace reprise {

/// Sets the name of the running tool, a literal: its errors begin with the name.
void setToolName(const char *name);
const char *getToolName();
/// Prints an error without a place in a file, as "TOOL: error: MESSAGE"; without a tool name, as in
/// a library, as "error: MESSAGE". Long texts lose their middle.
void printError(const llvm::Twine &message);

/// Installs a handler that adds scopes to messages about ops: "m.mlir:12:3: error: in layer/2/mlp:
/// ...". Messages about ops without a line, as in bytecode, are printed by this handler, after the
/// name of the model's `file`. All other messages go to the earlier handlers. Long names and texts
/// lose their middle; notes with the text of a whole module or function are left out. Returns the
/// id of the handler in the context's engine.
mlir::DiagnosticEngine::HandlerID showScopes(mlir::MLIRContext &context, std::string file);

/// Hides source lines in messages of these sources if a line fills a screen, such as the head of a
/// function with hundreds of arguments, or is binary data. The place before the message stays.
void hideLongLines(llvm::SourceMgr &sources);

} // namespace reprise

#endif // REPRISE_SUPPORT_DIAGNOSTICS_H
