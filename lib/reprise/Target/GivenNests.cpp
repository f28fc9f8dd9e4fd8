// reprise: launches whose kernels were written by hand
#include "reprise/Target/GivenNests.h"

#include "reprise/Dialect/Exec/IR/Attributes.h"
#include "reprise/Support/Wording.h"

#include <set>

using namespace mlir;

namespace reprise {

using namespace nests;

static FlatSymbolRefAttr nameOf(Operation *launch) {
  return launch->getAttrOfType<FlatSymbolRefAttr>(exec::kNestsAttr);
}

static NestProgramOp lookup(Operation *launch) {
  FlatSymbolRefAttr name = nameOf(launch);
  return name ? SymbolTable::lookupNearestSymbolFrom<NestProgramOp>(launch, name) : nullptr;
}

static bool hasTile(NestProgramOp program) {
  return program.walk([](TileOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

NestProgramOp findGivenNests(Block &body) {
  NestProgramOp program = lookup(body.getParentOp());
  return program && !hasTile(program) ? program : nullptr;
}

namespace {
/// Compares the buffers of nests with the values of a launch.
class Uses {
public:
  Uses(exec::LaunchOp launch, NestProgramOp program) : launch(launch), program(program) {}

  LogicalResult verify() {
    for (Operation &op : program.getBody().front()) {
      auto kernel = dyn_cast<KernelOp>(op);
      if (failed(verifySlots(&op, kernel ? kernel.getBuffers() : cast<AloneOp>(op).getBuffers())) ||
          (kernel && failed(verifyElements(kernel))))
        return failure();
    }
    for (OpResult result : launch->getResults())
      if (!stored.count(result.getResultNumber()))
        return program.emitError("stores no output ") << result.getResultNumber();
    return success();
  }

private:
  /// Returns the value of the launch that a buffer holds; null for scratch and streams.
  Value valueOf(const BufferSlot &slot) {
    if (slot.kind == BufferSlot::Input)
      return launch.getInputs()[slot.index];
    return slot.kind == BufferSlot::Output ? launch.getResults()[slot.index] : Value();
  }

  LogicalResult verifySlots(Operation *op, ArrayRef<BufferSlot> slots) {
    const std::pair<const char *, size_t> kinds[] = {
        {"input", launch.getInputs().size()},
        {"output", launch.getResults().size()},
        {"shared", 1},
        {"stream", launch.getStreams().value_or(ArrayRef<int64_t>()).size()}};
    for (const BufferSlot &slot : slots) {
      auto [name, count] = kinds[slot.kind];
      if (slot.index >= static_cast<int64_t>(count))
        return op->emitError("has a buffer ")
               << name << " " << slot.index << ", and the launch has "
               << amount(static_cast<int64_t>(count), name);
      if (slot.kind == BufferSlot::Shared &&
          slot.offset >= static_cast<int64_t>(program.getShared()))
        return op->emitError("needs more than ") << program.getShared() << " shared bytes";
      if (slot.kind == BufferSlot::Output)
        stored.insert(slot.index);
      Value value = valueOf(slot);
      auto type = value ? cast<RankedTensorType>(value.getType()) : RankedTensorType();
      if (type && static_cast<uint64_t>(type.getNumElements()) > program.getElements())
        return program.emitError("expected at least ") << type.getNumElements() << " elements";
    }
    return success();
  }

  LogicalResult verifyElements(KernelOp kernel) {
    SmallVector<BufferSlot> slots = kernel.getBuffers();
    auto fits = [&](Value buffer, Type type) {
      Value value = buffer ? valueOf(slots[kernel.numberOf(buffer)]) : Value();
      return !value || getElementTypeOrSelf(value.getType()) == getElementTypeOrSelf(type);
    };
    WalkResult result = kernel.walk([&](Operation *op) {
      auto read = dyn_cast<ReadOp>(op);
      auto store = dyn_cast<StoreOp>(op);
      if ((read && !fits(read.getBuffer(), read.getType())) ||
          (store && !fits(store.getBuffer(), store.getElement().getType()))) {
        op->emitError("is of another element type than the launch's value");
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  exec::LaunchOp launch;
  NestProgramOp program;
  std::set<int64_t> stored;
};
} // namespace

LogicalResult verifyGivenNests(exec::LaunchOp launch, const Target &target) {
  FlatSymbolRefAttr name = nameOf(launch);
  if (!name)
    return success();
  NestProgramOp program = lookup(launch);
  if (!program)
    return launch.emitError("names nests that do not exist: ") << name;
  if (!hasTile(program))
    return Uses(launch, program).verify();
  OwningOpRef<Operation *> made = target.formNests(launch.getBody().front(), name.getValue());
  if (made && OperationEquivalence::isEquivalentTo(*made, program,
                                                   OperationEquivalence::Flags::IgnoreLocations))
    return success();
  return program.emitError("a contraction's blocks are finished by the nest that the target makes, "
                           "and this nest differs from it");
}

} // namespace reprise
