// reprise: verifies device programs before the first pass works on them.
#include "reprise/Dialect/Exec/Transforms/Passes.h"

#include "VerifyExchange.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Dialect/Reprise/IR/Sizes.h"
#include "reprise/Interfaces/Kinds.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace reprise::exec {
#define GEN_PASS_DEF_VERIFYPROGRAMSPASS
#include "reprise/Dialect/Exec/Transforms/Passes.h.inc"

namespace {

bool isNumber(StringRef role) { return role == "seed" || role == "offset"; }

/// Verifies that an argument is a tensor with a role and a name.
LogicalResult checkArgument(ProgramOp program, unsigned i, llvm::StringSet<> &names) {
  EntrySignature signature(program);
  StringRef role = signature.getRole(i);
  StringAttr name = signature.getArgumentName(i);
  auto type = dyn_cast<RankedTensorType>(program.getArgumentTypes()[i]);
  if (!type || !isModelTensor(type))
    return program.emitError("argument ") << i << " is not a tensor of the dialect";
  if (role != "input" && role != "parameter" && role != "state" && !isNumber(role))
    return program.emitError("argument ")
           << i << " has no role: expected input, parameter, state, seed or offset";
  if (!name || name.empty() || name.getValue().contains('\0') || name == "step")
    return program.emitError("argument ") << i << " has no name of its own";
  if (!names.insert(name.getValue()).second ||
      (isNumber(role) && !names.insert(role).second && name.getValue() != role))
    return program.emitError("two arguments have the name or the role '") << name.getValue() << "'";
  return success();
}

LogicalResult checkResults(ProgramOp program) {
  EntrySignature signature(program);
  llvm::StringSet<> names;
  for (unsigned i = 0; i < program.getNumResults(); ++i) {
    Type type = program.getResultTypes()[i];
    StringAttr name = signature.getResultName(i);
    if (!isModelTensor(type))
      return program.emitError("result ") << i << " is not a tensor of the dialect";
    if (!name || name.empty() || name.getValue().contains('\0') ||
        !names.insert(name.getValue()).second)
      return program.emitError("result ") << i << " has no name of its own";
    int64_t argument = signature.getReplacedArguments()[i];
    if (argument >= 0 && program.getArgumentTypes()[argument] != type)
      return program.emitError("result '") << name.getValue() << "' has type " << type
                                           << ", and the argument of that name another one";
  }
  return success();
}

/// Verifies that an op is allowed in a flat function, or beside the ops.
LogicalResult checkOp(Operation *op, ProgramOp program) {
  // Places on the host come with the kernels phase.
  if (isExplicit(op) && !isa<HostOffloadOp, HostFetchOp>(op)) {
    if (op->hasAttr("offsets") || op->hasAttr("scratch"))
      return op->emitError("expected no place: the memory phase gives it");
    return success();
  }
  if (isa<reprise::ReturnOp>(op) && op->getParentOp() == program)
    return success();
  bool isFlat = isa_and_nonnull<RepriseDialect>(op->getDialect()) &&
                (op->getNumRegions() == 0 || isa<LoopOp>(op));
  bool isPure = isFlat && (isa<LoopOp, YieldOp>(op) || isMemoryEffectFree(op));
  if (!isPure)
    return op->emitError("expected an op that 'autodiff' leaves in a device program, got '")
           << op->getName() << "'";
  if (!isElementwise(op))
    return success();
  for (Type type : op->getOperandTypes()) {
    auto tensor = cast<RankedTensorType>(type);
    // Seed, offset and origin of a draw.
    bool isNumber = isa<RandomOpInterface>(op) && tensor.getElementType().isInteger(64);
    if (!isNumber &&
        tensor.getShape() != cast<RankedTensorType>(op->getResult(0).getType()).getShape())
      return op->emitError("expected operands of the result's shape: broadcasts are ops");
  }
  return success();
}

LogicalResult checkProgram(ProgramOp program) {
  llvm::StringSet<> names;
  for (unsigned i = 0; i < program.getNumArguments(); ++i)
    if (failed(checkArgument(program, i, names)))
      return failure();
  EntrySignature signature(program);
  bool hasSeed = false, draws = false;
  for (unsigned i = 0; i < program.getNumArguments(); ++i) {
    Attribute init = signature.getInit(i);
    hasSeed |= signature.getRole(i) == "seed";
    draws |= init && !isa<FillInitAttr>(init);
  }
  if (draws && !hasSeed)
    return program.emitError("expected an argument with the role seed, from which initial values "
                             "are drawn");
  if (failed(checkResults(program)) || failed(checkSizes(program)))
    return failure();
  WalkResult walked =
      program.getBody().walk([&](Operation *op) -> WalkResult { return checkOp(op, program); });
  return failure(walked.wasInterrupted());
}

/// Verifier of arguments and results that programs share by name.
class NameChecker {
public:
  LogicalResult add(ProgramOp program) {
    EntrySignature signature(program);
    for (unsigned i = 0; i < program.getNumArguments(); ++i)
      if (failed(addArgument(program, i)))
        return failure();
    for (auto [i, argument] : llvm::enumerate(signature.getReplacedArguments())) {
      if (argument >= 0 && signature.getRole(argument) == "offset")
        continue;
      StringRef name = signature.getResultName(i).getValue();
      auto [found, isNew] = results.try_emplace(name, program);
      if (!isNew)
        return refuse(program, found->second)
               << "returns '" << name << "', as another program does";
    }
    return success();
  }

  /// Verifies the device of every next value.
  LogicalResult checkOwners() {
    for (auto &[name, takers] : arguments)
      if (auto maker = results.find(name); maker != results.end())
        for (auto [taker, i] : takers)
          if (taker != maker->second)
            return refuse(taker, maker->second)
                   << "takes '" << name << "', whose next value another program makes";
    return success();
  }

private:
  static InFlightDiagnostic refuse(ProgramOp program, ProgramOp other) {
    InFlightDiagnostic error = program.emitError("the device program '")
                               << program.getName() << "' ";
    error.attachNote(other.getLoc()) << "the other program";
    return error;
  }

  LogicalResult addArgument(ProgramOp program, unsigned i) {
    EntrySignature signature(program);
    StringRef name = signature.getArgumentName(i).getValue();
    auto &takers = arguments[name];
    takers.push_back({program, i});
    auto [first, number] = takers.front();
    EntrySignature other(first);
    bool isAlike = program.getArgumentTypes()[i] == first.getArgumentTypes()[number] &&
                   signature.getRole(i) == other.getRole(number) &&
                   signature.getInit(i) == other.getInit(number) &&
                   signature.getBatchDim(i) == other.getBatchDim(number);
    if (isAlike)
      return success();
    return refuse(program, first)
           << "takes '" << name << "' with another type, role or initializer than another program";
  }

  std::map<StringRef, SmallVector<std::pair<ProgramOp, unsigned>>> arguments;
  llvm::StringMap<ProgramOp> results;
};

LogicalResult checkNumbers(ArrayRef<ProgramOp> programs) {
  std::map<int64_t, ProgramOp> byDevice;
  for (ProgramOp program : programs)
    for (int64_t device : program.getDevices()) {
      auto [found, isNew] = byDevice.try_emplace(device, program);
      if (isNew)
        continue;
      InFlightDiagnostic error = program.emitError("expected one program of device ") << device;
      error.attachNote(found->second.getLoc()) << "another one";
      return error;
    }
  int64_t next = 0;
  for (auto [device, program] : byDevice)
    if (device != next++)
      return ProgramOp(program).emitError(
                 "expected one program per device, numbered from 0: got device ")
             << device << " instead of " << next - 1;
  return success();
}

struct VerifyProgramsPass : impl::VerifyProgramsPassBase<VerifyProgramsPass> {
  using Base::Base;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    if (failed(verify(findPrograms(getOperation()))))
      signalPassFailure();
  }

  LogicalResult verify(ArrayRef<ProgramOp> programs) {
    if (failed(checkNumbers(programs)))
      return failure();
    NameChecker names;
    for (ProgramOp program : programs)
      if (failed(checkProgram(program)) || failed(names.add(program)))
        return failure();
    if (failed(names.checkOwners()))
      return failure();
    return verifyExchange(programs);
  }
};

} // namespace
} // namespace reprise::exec
