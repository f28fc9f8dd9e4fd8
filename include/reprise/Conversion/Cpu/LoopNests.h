// reprise: kernels of elementwise, row-wise, reducing and data-moving groups for the CPU
//
// A group is the body of a launch: a block whose arguments are the tensors that it reads and whose
// terminator lists the tensors that it stores. It becomes loop nests: elements are computed in
// registers, views fold into loads, reductions over last dimensions stay within a row's kernel,
// others leave the results of blocks in shared scratch for a second, small command. Arithmetic is
// that of EmissionOpInterface and the reductions' order is canonical (docs/explanation/Bits.md), so
// the results' bits depend on neither the grouping nor the target.
#ifndef REPRISE_CONVERSION_CPU_LOOPNESTS_H
#define REPRISE_CONVERSION_CPU_LOOPNESTS_H

#include "reprise/Conversion/Cpu/Target.h"
#include "reprise/Dialect/Nest/IR/Nest.h"
#include "reprise/Target/Launch.h"

#include "mlir/IR/Block.h"

namespace reprise {

/// Adds the kernels of a group to a module, named `name` or `name` with a number, and returns the
/// commands that run them. Works for every group of ops that loops can compute, in one pass or not.
/// Fails, with an error at the body's parent, if there is another op.
mlir::FailureOr<EmittedLaunch> emitLoopNests(mlir::Block &body, llvm::StringRef name,
                                             mlir::ModuleOp kernels, const CpuTarget &target);
/// Adds the kernels of nests, named in the same way. Fails, with an error at a kernel, if its
/// schedule does not fit the target.
mlir::FailureOr<EmittedLaunch> emitNests(nests::NestProgramOp program, llvm::StringRef name,
                                         mlir::ModuleOp kernels, const CpuTarget &target);

} // namespace reprise

#endif // REPRISE_CONVERSION_CPU_LOOPNESTS_H
