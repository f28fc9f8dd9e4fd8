// reprise: which functions of a module are device programs.
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"

#include "reprise/Dialect/Reprise/IR/Reprise.h"

using namespace mlir;

namespace reprise {

std::optional<int64_t> getDevice(func::FuncOp function) {
  auto device = function->getAttrOfType<IntegerAttr>(kDeviceAttr);
  return device ? std::optional(device.getInt()) : std::nullopt;
}

void setDevice(func::FuncOp function, int64_t device) {
  function->setAttr(kDeviceAttr,
                    IntegerAttr::get(IntegerType::get(function.getContext(), 64), device));
}

int64_t getEnoughArena(func::FuncOp program) {
  auto plan = program->getAttrOfType<PlanAttr>(kPlanAttr);
  return plan ? plan.getEnoughArena() : 0;
}

StringRef getEntryName(func::FuncOp program) {
  auto entry = program->getAttrOfType<StringAttr>(kEntryAttr);
  return entry ? entry.getValue() : program.getName();
}

SmallVector<func::FuncOp> findPrograms(ModuleOp module) {
  return llvm::filter_to_vector(module.getOps<func::FuncOp>(),
                                [](func::FuncOp function) { return getDevice(function); });
}

} // namespace reprise
