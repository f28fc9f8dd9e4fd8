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

/// Reads a whole file, or standard input for "-", into memory, because the bytes are parsed twice
/// and must not change. Returns null after printing "error: cannot read 'PATH': REASON", or that
/// the file is no model, such as a bundle. Inputs other than regular files are refused above 1 GiB.
std::unique_ptr<llvm::MemoryBuffer> readModelFile(llvm::StringRef path);

/// Options for parsing a buffer.
struct ProbeOptions {
  bool allowUnregisteredDialects = false;
  bool verify = true;
  /// Marker between separate modules in the text; empty for a single module.
  llvm::StringRef splitMarker = "";
};

/// Parses and verifies the buffer in a child process with limits on time, memory and stack, and
/// drops the result: the parsers of libMLIR crash on some hostile inputs, text and bytecode, and
/// its printer on some bytecode. Succeeds if the child returned, even if it refused the input: this
/// process may then parse and diagnose the input. Fails after printing "error: 'PATH' could not be
/// parsed: ...", if the parser crashed, or refused the input without a message, as the reader of
/// bytecode sometimes does.
mlir::LogicalResult probeModel(llvm::MemoryBufferRef buffer, const mlir::DialectRegistry &registry,
                               const ProbeOptions &options = {});

/// Parses and verifies a model file, text or bytecode ("-" is standard input), first in a child
/// process, then in this process. Returns null after one error was printed. `sources` keeps the
/// text, so that a SourceMgrDiagnosticHandler made for it shows the source line of later
/// diagnostics. Later messages name the scopes of ops (Diagnostics.h).
mlir::OwningOpRef<mlir::ModuleOp> parseModelFile(llvm::StringRef path, mlir::MLIRContext &context,
                                                 const std::shared_ptr<llvm::SourceMgr> &sources);

/// Parses and verifies a model file with its own handler, which prints to standard error and lives
/// only during parsing.
mlir::OwningOpRef<mlir::ModuleOp> parseModelFile(llvm::StringRef path, mlir::MLIRContext &context);

/// Parses and verifies a buffer under its name, only in this process: its source is trusted. Errors
/// are diagnostics. `sources` keeps the text.
mlir::OwningOpRef<mlir::ModuleOp>
parseTrustedModel(std::unique_ptr<llvm::MemoryBuffer> buffer, mlir::MLIRContext &context,
                  const std::shared_ptr<llvm::SourceMgr> &sources);

} // namespace reprise

#endif // REPRISE_SUPPORT_PARSING_H
