// reprise: model files read without trust
#ifndef REPRISE_SUPPORT_PARSING_H
#define REPRISE_SUPPORT_PARSING_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include <memory>

namespace reprise {

/// Reads a whole file, or standard input for "-", into memory: it is parsed twice, and both times
/// it must be the same bytes. Returns null after printing "error: cannot read 'PATH': REASON", or
/// that the file is none of a model, such as a bundle. Anything but a regular file is refused above
/// 1 GiB.
std::unique_ptr<llvm::MemoryBuffer> readModelFile(llvm::StringRef path);

/// How a buffer is going to be parsed.
struct ProbeOptions {
  bool allowUnregisteredDialects = false;
  bool verify = true;
  /// Where the text is cut into separate modules; empty: nowhere.
  llvm::StringRef splitMarker = "";
};

/// Parses and verifies the buffer in a child process with limits on time, memory and stack, and
/// throws the result away: the parsers of libMLIR die on some hostile inputs, text and bytecode,
/// and its printer on some of what was read from bytecode. Succeeds if the child came back,
/// whatever it thought of the input: then this process may parse it and diagnose it. Fails after
/// printing "error: 'PATH' could not be parsed: ...", that the parser died, or refused the input
/// without a message, as the reader of bytecode sometimes does.
mlir::LogicalResult probeModel(llvm::MemoryBufferRef buffer, const mlir::DialectRegistry &registry,
                               const ProbeOptions &options = {});

/// Parses and verifies a model file, text or bytecode ("-" is standard input), first in a child
/// process, then here. Returns null after one error was printed. `sources` keeps the text, so that
/// a SourceMgrDiagnosticHandler made for it shows the source line of later diagnostics too.
/// Messages name the scopes of ops from here on (Diagnostics.h).
mlir::OwningOpRef<mlir::ModuleOp> parseModelFile(llvm::StringRef path, mlir::MLIRContext &context,
                                                 const std::shared_ptr<llvm::SourceMgr> &sources);

/// The same with a handler of its own, which lives for the parsing only and prints to standard
/// error.
mlir::OwningOpRef<mlir::ModuleOp> parseModelFile(llvm::StringRef path, mlir::MLIRContext &context);

/// Parses and verifies a buffer under its name, in this process alone: its source is trusted.
/// Errors are diagnostics. `sources` keeps the text.
mlir::OwningOpRef<mlir::ModuleOp>
parseTrustedModel(std::unique_ptr<llvm::MemoryBuffer> buffer, mlir::MLIRContext &context,
                  const std::shared_ptr<llvm::SourceMgr> &sources);

} // namespace reprise

#endif // REPRISE_SUPPORT_PARSING_H
