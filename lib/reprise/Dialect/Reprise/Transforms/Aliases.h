// reprise: views and the values whose buffer they share.
#ifndef REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_ALIASES_H
#define REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_ALIASES_H

#include "reprise/Interfaces/Interfaces.h"
#include "llvm/ADT/DenseMap.h"

namespace reprise {

/// Follows views that strides can express; other reshapes of views are buffers of their own.
/// Remembers its answers, so the graph must not change between questions.
class Aliases {
public:
  /// Returns the value whose buffer holds the elements of `value`.
  mlir::Value getRoot(mlir::Value value) {
    return value.getDefiningOp<ViewOpInterface>() ? find(value).root : value;
  }

private:
  struct Entry {
    mlir::Value root;
    StridedView view;
  };
  const Entry &find(mlir::Value value);
  std::optional<Entry> compose(mlir::Value value);

  llvm::DenseMap<mlir::Value, std::unique_ptr<Entry>> entries;
};

} // namespace reprise

#endif
