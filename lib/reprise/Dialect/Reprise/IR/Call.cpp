// reprise: calls of functions that the host registers
#include "reprise/Dialect/Reprise/IR/Call.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace mlir;
using namespace reprise;

#define GET_OP_CLASSES
#include "reprise/Dialect/Reprise/IR/CallOps.cpp.inc"

LogicalResult CustomCallOp::verify() {
  auto [library, function] = getCallee().split(':');
  if (library.empty() || function.empty() || getCallee().contains('\0'))
    return emitOpError("expected a callee such as \"library:function\", got \"")
           << getCallee() << "\"";
  if (getNumResults() == 0)
    return emitOpError("expected results: a call has no other effect");
  auto isTime = [](double seconds) { return std::isfinite(seconds) && seconds >= 0; };
  if (getSeconds() && (getSeconds()->empty() || !llvm::all_of(*getSeconds(), isTime)))
    return emitOpError("expected finite seconds from 0 on, for the call and its derivatives");
  auto isSize = [](int64_t bytes) { return bytes >= 0; };
  if (getWorkspace() && (getWorkspace()->empty() || !llvm::all_of(*getWorkspace(), isSize)))
    return emitOpError("expected bytes of workspace from 0 on, for the call and its derivatives");
  return success();
}

double CustomCallOp::getPrice() { return getSeconds() ? getSeconds()->front() : 0; }

int64_t CustomCallOp::getWorkspaceBytes() { return getWorkspace() ? getWorkspace()->front() : 0; }

std::string CustomCallOp::getDerivativeCallee(ArrayRef<int64_t> wanted, ArrayRef<int64_t> given) {
  auto list = [](ArrayRef<int64_t> numbers) {
    return llvm::join(llvm::map_range(numbers, [](int64_t i) { return std::to_string(i); }), ",");
  };
  return (getCallee() + "/vjp(" + list(wanted) + ";" + list(given) + ")").str();
}

namespace reprise {

int64_t findCallWorkspace(Operation *program) {
  int64_t most = 0;
  program->walk([&](CustomCallOp call) { most = std::max(most, call.getWorkspaceBytes()); });
  return most;
}

} // namespace reprise
