// reprise: runs functions, alone or as device programs that exchange values.
#include "reprise/Reference/Interpreter.h"

#include "Machine.h"
#include "Models.h"
#include "reprise/Dialect/Exec/IR/Exec.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/OpList.h"
#include "reprise/Support/SplitMix.h"
#include "llvm/ADT/Sequence.h"
#include <unistd.h>

using namespace mlir;

namespace reprise {

bool fitsMemory(TypeRange types) {
  __uint128_t bytes = 0;
  for (Type type : types) {
    auto tensor = cast<RankedTensorType>(type);
    __uint128_t size = elementBytes(tensor.getElementType());
    // Sizes below 2^63 each: saturate before the next product could overflow.
    for (int64_t dim : tensor.getShape())
      size = std::min<__uint128_t>(size * static_cast<uint64_t>(dim), __uint128_t(1) << 64);
    bytes += size;
  }
  return bytes <= static_cast<__uint128_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
}

FailureOr<std::vector<Tensor>> interpret(FunctionOpInterface entry, ArrayRef<Tensor> arguments) {
  FailureOr<std::vector<std::vector<Tensor>>> results =
      interpretPrograms({{entry, {arguments.begin(), arguments.end()}}});
  if (failed(results))
    return failure();
  return std::move(results->front());
}

static LogicalResult check(const ProgramCall &call) {
  FunctionOpInterface entry = call.program;
  if (entry.isExternal())
    return entry.emitOpError("cannot be interpreted: the function has no body");
  if (call.arguments.size() != entry.getNumArguments())
    return entry.emitOpError("expected ")
           << entry.getNumArguments() << " arguments, got " << call.arguments.size();
  for (auto [i, argument] : llvm::enumerate(call.arguments))
    if (argument.type != entry.getArgumentTypes()[i])
      return entry.emitOpError("expected argument ")
             << i << " of type " << entry.getArgumentTypes()[i] << ", got " << argument.type;
  return success();
}

/// Checks that each of several programs has its own device.
static LogicalResult checkDevices(ArrayRef<ProgramCall> calls) {
  std::map<int64_t, Operation *> programs;
  for (const ProgramCall &call : calls) {
    FunctionOpInterface program = call.program;
    if (auto own = dyn_cast<ProgramOp>(program.getOperation()); own && failed(verifyOneDevice(own)))
      return failure();
    std::optional<int64_t> device = findOnlyDevice(program);
    if (!device && calls.size() > 1)
      return program.emitOpError(
          "cannot be interpreted together with others: the function is no device program");
    auto [found, isNew] = programs.try_emplace(device.value_or(0), program);
    if (!isNew) {
      InFlightDiagnostic error = program.emitOpError("is a second program of device ") << *device;
      error.attachNote(found->second->getLoc()) << "the first one";
      return error;
    }
  }
  return success();
}

/// Reports a deadlock: names the transfer that each remaining program waits for.
static LogicalResult refuseDeadlock(ArrayRef<std::unique_ptr<Machine>> machines) {
  SmallVector<Operation *> waiting;
  for (const auto &machine : machines)
    if (machine->getWaiting())
      waiting.push_back(machine->getWaiting());
  auto describe = [](Diagnostic &text, Operation *op) {
    auto transfer = cast<TransferOpInterface>(op);
    text << "device " << *findOnlyDevice(op->getParentOfType<FunctionOpInterface>())
         << " waits for a value of device " << transfer.getPeer() << " with key "
         << transfer.getKey();
  };
  InFlightDiagnostic error = waiting.front()->emitOpError("waits forever: ");
  describe(*error.getUnderlyingDiagnostic(), waiting.front());
  for (Operation *op : ArrayRef(waiting).drop_front())
    describe(error.attachNote(op->getLoc()), op);
  return error;
}

/// Gives each program one turn; returns whether all are done.
static FailureOr<bool> takeTurns(ArrayRef<std::unique_ptr<Machine>> machines, SplitMix *order) {
  auto count = static_cast<int>(machines.size());
  SmallVector<int> turns = llvm::to_vector(llvm::seq(0, count));
  for (int i = 0; order && i < count; ++i)
    std::swap(turns[i], turns[i + order->below(count - i)]);
  bool hasMoved = false, isDone = true;
  for (int turn : turns) {
    FailureOr<bool> moved = machines[turn]->run(order ? 1 + order->below(16) : INT64_MAX);
    if (failed(moved))
      return failure();
    hasMoved |= *moved;
    isDone &= machines[turn]->isDone();
  }
  if (!isDone && !hasMoved)
    return refuseDeadlock(machines);
  return isDone;
}

FailureOr<std::vector<std::vector<Tensor>>> interpretPrograms(ArrayRef<ProgramCall> calls,
                                                              std::optional<uint64_t> order) {
  if (failed(checkDevices(calls)))
    return failure();
  Mailboxes mail;
  std::vector<std::unique_ptr<Machine>> machines;
  for (const ProgramCall &call : calls) {
    if (failed(check(call)))
      return failure();
    machines.push_back(std::make_unique<Machine>(call.program, call.arguments, mail));
  }
  SplitMix random(order.value_or(0));
  for (bool isDone = false; !isDone;) {
    FailureOr<bool> done = takeTurns(machines, order ? &random : nullptr);
    if (failed(done))
      return failure();
    isDone = *done;
  }
  if (Operation *op = mail.findLeft())
    return op->emitOpError("sends a value that no device receives");
  std::vector<std::vector<Tensor>> results;
  for (auto &machine : machines) {
    results.push_back(machine->takeResults());
    for (Tensor &result : results.back())
      canonicalizeNaNs(result);
  }
  return results;
}

namespace {
template <typename OpT>
struct ReferenceModel : ReferenceOpInterface::ExternalModel<ReferenceModel<OpT>, OpT> {
  reference::Results evaluate(Operation *op, reference::Operands operands) const {
    return reference::evaluate(cast<OpT>(op), operands);
  }
};
} // namespace

void registerReference(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, RepriseDialect *) {
    forEachOp([&](auto tag) {
      using OpT = typename decltype(tag)::Op;
      // The interpreter knows no function of a host.
      if constexpr (!isIn<OpT>(StructureOps()) && !isIn<OpT>(OpList<CustomCallOp>()))
        OpT::template attachInterface<ReferenceModel<OpT>>(*context);
    });
  });
  registry.addExtension(
      +[](MLIRContext *context, RepriseDialect *) { reference::attachPulls(context); });
  registry.addExtension(
      +[](MLIRContext *context, exec::ExecDialect *) { reference::attachCommands(context); });
}

} // namespace reprise
