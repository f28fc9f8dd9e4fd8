// reprise: one change of the attributes of many ops
#ifndef REPRISE_SUPPORT_ATTRIBUTES_H
#define REPRISE_SUPPORT_ATTRIBUTES_H

#include "mlir/IR/Operation.h"
#include <functional>

namespace reprise {

/// Change of the discardable attributes of ops. Thousands of ops share few dictionaries; each
/// dictionary is sorted and made unique once.
class AttributeChange {
public:
  explicit AttributeChange(std::function<void(mlir::NamedAttrList &)> change)
      : change(std::move(change)) {}

  void apply(mlir::Operation *op) {
    mlir::DictionaryAttr old = op->getRawDictionaryAttrs();
    mlir::DictionaryAttr &made = known[old];
    if (!made) {
      mlir::NamedAttrList attributes(old);
      change(attributes);
      made = attributes.getDictionary(op->getContext());
    }
    op->setDiscardableAttrs(made);
  }
  /// Clears the cache, because the change has another effect from here on.
  void clear() { known.clear(); }

private:
  std::function<void(mlir::NamedAttrList &)> change;
  llvm::DenseMap<mlir::Attribute, mlir::DictionaryAttr> known; ///< new dictionaries by old ones
};

} // namespace reprise

#endif // REPRISE_SUPPORT_ATTRIBUTES_H
