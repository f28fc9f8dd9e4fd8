// reprise: emits the kernel of a scatter-add
#ifndef REPRISE_CONVERSION_CPU_LOOPSCATTER_H
#define REPRISE_CONVERSION_CPU_LOOPSCATTER_H

#include "reprise/Conversion/Cpu/Target.h"
#include "reprise/Conversion/Launch.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise::loops {

/// The buffers are indices, updates and the result. Sets all but the command's buffers.
EmittedCommand emitScatter(ScatterAddOp op, llvm::StringRef name, mlir::ModuleOp kernels,
                           const CpuTarget &target);

} // namespace reprise::loops

#endif // REPRISE_CONVERSION_CPU_LOOPSCATTER_H
