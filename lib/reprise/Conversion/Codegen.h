// reprise: steps from emitted kernels to code that all targets share
#ifndef REPRISE_CONVERSION_CODEGEN_H
#define REPRISE_CONVERSION_CODEGEN_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Target/TargetMachine.h"

namespace reprise {

/// Lowers the modules inside of `outer`, in parallel, from arith, math, scf, vector, cf, index and
/// ub to the llvm dialect.
mlir::LogicalResult lowerToLlvmDialect(mlir::ModuleOp outer);

/// Makes an LLVM target machine that fuses no operations. The backend of the triple must have been
/// initialized.
std::unique_ptr<llvm::TargetMachine> makeMachine(llvm::StringRef triple, llvm::StringRef cpu);

/// Runs a pipeline of LLVM's textual form, which makes no calls of library functions.
void runPasses(llvm::Module &module, llvm::TargetMachine &machine, llvm::StringRef pipeline);

/// Compiles a lowered module: to LLVM IR, through the passes that emitted code needs, to a file's
/// content. `prepare` gets the module before these passes, and reports its own errors. Other errors
/// are emitted at the module. May run on several threads at once, for different modules.
mlir::FailureOr<std::string>
generateCode(mlir::Operation *module, llvm::TargetMachine &machine, llvm::CodeGenFileType type,
             llvm::function_ref<mlir::LogicalResult(llvm::Module &)> prepare);

} // namespace reprise

#endif // REPRISE_CONVERSION_CODEGEN_H
