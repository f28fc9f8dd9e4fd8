// reprise: the rows of a schedule as attributes
#ifndef REPRISE_LIB_DIALECT_PIPE_IR_ROWS_H
#define REPRISE_LIB_DIALECT_PIPE_IR_ROWS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "reprise/Planning/Pipeline/Schedule.h"

namespace reprise::pipe {

/// Returns a string of pieces per device, in the order of execution.
mlir::ArrayAttr spellRows(mlir::MLIRContext *context, const pipeline::Schedule &schedule);

/// Reads the rows of a schedule for `stages` stages. Returns an error, or an empty text;
/// pipeline::verify() judges the schedule.
std::string readRows(mlir::ArrayAttr rows, int64_t stages, int64_t microbatches,
                     pipeline::Schedule &schedule);

} // namespace reprise::pipe

#endif // REPRISE_LIB_DIALECT_PIPE_IR_ROWS_H
