// reprise: how reports, plans and messages name values and places.
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

/// The scope of iteration `k` of a loop: layers/3/attention for layers/attention in a loop of the
/// scope layers. Empty if neither has one.
std::string insertIteration(llvm::StringRef scope, llvm::StringRef ofLoop, int64_t k);

/// The op for a message: its name, then its scope, or without one its place.
std::string describeOp(mlir::Operation *op);

/// Why `entry` is no entry of the module, naming those that there are; empty if it is one.
std::string findEntryFault(mlir::ModuleOp module, llvm::StringRef entry);

/// The ids of the values of a flat block: scope/op#ordinal:result, where the ordinal counts the
/// originals of that scope and op in program order. A replay has the id of its original; ids do not
/// change from `autodiff` to `checkpoint`.
class ValueIds {
public:
  explicit ValueIds(mlir::Block &block);

  std::string get(mlir::OpResult original) const;

private:
  llvm::DenseMap<mlir::Operation *, std::string> stems; // scope/op#ordinal
};

} // namespace reprise

#endif
