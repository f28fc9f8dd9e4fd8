// reprise: names of values and places in reports, plans and messages.
#ifndef REPRISE_DIALECT_REPRISE_IR_NAMING_H
#define REPRISE_DIALECT_REPRISE_IR_NAMING_H

#include "mlir/IR/Block.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/Value.h"
#include "reprise/Support/Locations.h"
#include "llvm/ADT/DenseMap.h"
#include <string>

namespace reprise {

/// Returns the scope of iteration `k` of a loop: layers/3/attention for layers/attention in a loop
/// of the scope layers. Empty if neither has a scope.
std::string insertIteration(llvm::StringRef scope, llvm::StringRef ofLoop, int64_t k);

/// Describes the op for a message: its name, then its scope, or its place if it has no scope.
std::string describeOp(mlir::Operation *op);

/// Returns the reason why `entry` is no entry of the module, with the names of the existing
/// entries; empty if it is an entry.
std::string findEntryFault(mlir::ModuleOp module, llvm::StringRef entry);

/// Ids of the values of a flat block: scope/op#ordinal:result, where the ordinal counts the
/// originals of that scope and op in program order. A replay has the id of its original; ids do not
/// change from `autodiff` to `checkpoint`.
class ValueIds {
public:
  explicit ValueIds(mlir::Block &block);

  std::string get(mlir::OpResult original) const;

private:
  llvm::DenseMap<mlir::Operation *, std::string> stems; // ids without the result: scope/op#ordinal
};

} // namespace reprise

#endif
