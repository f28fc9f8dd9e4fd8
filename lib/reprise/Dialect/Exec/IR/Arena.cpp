// reprise: the size of a function's arena.
#include "reprise/Dialect/Exec/IR/Arena.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "reprise/Dialect/Exec/IR/Attributes.h"

using namespace mlir;

namespace reprise::exec {

std::optional<int64_t> getArenaBytes(Operation *function) {
  auto bytes = function->getAttrOfType<IntegerAttr>(kArenaBytesAttr);
  return bytes ? std::optional(bytes.getInt()) : std::nullopt;
}

void setArenaBytes(Operation *function, int64_t bytes) {
  function->setAttr(kArenaBytesAttr,
                    IntegerAttr::get(IntegerType::get(function->getContext(), 64), bytes));
}

std::optional<int64_t> getHostBytes(Operation *function) {
  auto bytes = function->getAttrOfType<IntegerAttr>(kHostBytesAttr);
  return bytes ? std::optional(bytes.getInt()) : std::nullopt;
}

void setHostBytes(Operation *function, int64_t bytes) {
  function->setAttr(kHostBytesAttr,
                    IntegerAttr::get(IntegerType::get(function->getContext(), 64), bytes));
}

} // namespace reprise::exec
