// reprise: calls of functions of the host, which have no kernel on any target
#ifndef REPRISE_CONVERSION_LOOPNEST_HOSTCALLCOMMAND_H
#define REPRISE_CONVERSION_LOOPNEST_HOSTCALLCOMMAND_H

#include "reprise/Dialect/Reprise/IR/Call.h"
#include "reprise/Target/Launch.h"

namespace reprise::nests {

/// Returns the command of a call, without its buffers: those of the operands and of the results
/// that are stored.
EmittedCommand emitHostCall(CustomCallOp op, llvm::ArrayRef<bool> stored);

} // namespace reprise::nests

#endif // REPRISE_CONVERSION_LOOPNEST_HOSTCALLCOMMAND_H
