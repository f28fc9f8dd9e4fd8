// reprise: machine code of PTX, by NVIDIA's assembler
#ifndef REPRISE_CONVERSION_CUDA_ASSEMBLEPTX_H
#define REPRISE_CONVERSION_CUDA_ASSEMBLEPTX_H

#include "mlir/IR/BuiltinOps.h"

namespace reprise {

/// Returns the path of ptxas: in PATH, or in the CUDA toolkit of CUDA_HOME or CUDA_PATH, or, if
/// neither is set, in /usr/local/cuda. Empty if it is not found.
std::string findAssembler();

/// The cubin of a text for the chip. Text, chip and version of ptxas decide every byte. Errors, at
/// `kernel`: ptxas is gone, or refuses the text; then its words.
mlir::FailureOr<std::string> assemblePtx(mlir::ModuleOp kernel, llvm::StringRef text,
                                         llvm::StringRef chip);

} // namespace reprise

#endif // REPRISE_CONVERSION_CUDA_ASSEMBLEPTX_H
