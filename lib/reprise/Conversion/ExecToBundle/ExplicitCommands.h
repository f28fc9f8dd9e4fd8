// reprise: calls, transfers and events as commands of a bundle
#ifndef REPRISE_LIB_CONVERSION_EXECTOBUNDLE_EXPLICITCOMMANDS_H
#define REPRISE_LIB_CONVERSION_EXECTOBUNDLE_EXPLICITCOMMANDS_H

#include "mlir/IR/Value.h"
#include "reprise/Runtime/Bundle.h"
#include "llvm/ADT/DenseMap.h"

namespace reprise {

/// Function that returns the place of a value that a command reads or writes.
using PlaceFinder = llvm::function_ref<runtime::Operand(mlir::Value, runtime::Access)>;

/// Returns the arena scratch of the commands of a launch, or of a library: offset and bytes.
runtime::Operand scratchAt(llvm::ArrayRef<int64_t> place);

/// Describes an op for which exec::isExplicit is true. `events` numbers the events of one program.
runtime::Command describeExplicit(mlir::Operation *op, PlaceFinder findPlace,
                                  llvm::DenseMap<mlir::Value, uint32_t> &events);

} // namespace reprise

#endif // REPRISE_LIB_CONVERSION_EXECTOBUNDLE_EXPLICITCOMMANDS_H
