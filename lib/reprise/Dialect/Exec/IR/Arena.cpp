// reprise: the size of a function's arena.
#include "reprise/Dialect/Exec/IR/Arena.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace reprise::exec {

static constexpr StringLiteral kArenaBytes = "exec.arena_bytes", kHostBytes = "exec.host_bytes";

std::optional<int64_t> getArenaBytes(Operation *function) {
  auto bytes = function->getAttrOfType<IntegerAttr>(kArenaBytes);
  return bytes ? std::optional(bytes.getInt()) : std::nullopt;
}

void setArenaBytes(Operation *function, int64_t bytes) {
  function->setAttr(kArenaBytes,
                    IntegerAttr::get(IntegerType::get(function->getContext(), 64), bytes));
}

std::optional<int64_t> getHostBytes(Operation *function) {
  auto bytes = function->getAttrOfType<IntegerAttr>(kHostBytes);
  return bytes ? std::optional(bytes.getInt()) : std::nullopt;
}

void setHostBytes(Operation *function, int64_t bytes) {
  function->setAttr(kHostBytes,
                    IntegerAttr::get(IntegerType::get(function->getContext(), 64), bytes));
}

} // namespace reprise::exec
