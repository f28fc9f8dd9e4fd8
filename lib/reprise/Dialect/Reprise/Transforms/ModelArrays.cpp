// reprise: the arrays whose parts live on the devices of the model axis
#include "ModelArrays.h"

#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/Dialect/Reprise/IR/PlanAttributes.h"
#include "reprise/Interfaces/Interfaces.h"
#include "reprise/Interfaces/Kinds.h"
#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;
using namespace reprise;

bool reprise::isOfGradient(Operation &op) {
  return op.hasAttr(kPrimalAttr) || op.hasAttr(kCotangentAttr);
}

bool reprise::isUpdate(Operation &op) {
  if (!isElementwise(&op) || isa<RandomOpInterface>(op) || !isMemoryEffectFree(&op) ||
      op.getNumRegions() != 0 || op.getNumResults() != 1 || isOfGradient(op))
    return false;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(op.getResult(0).getType()).getShape();
  return llvm::all_of(op.getOperandTypes(),
                      [&](Type type) { return cast<RankedTensorType>(type).getShape() == shape; });
}

/// Connects arrays, the results of the ops that update them, and their next values.
static llvm::EquivalenceClasses<void *> connect(ProgramOp step, llvm::SetVector<Value> &connected) {
  EntrySignature signature(step);
  llvm::EquivalenceClasses<void *> classes;
  auto add = [&](Value value) {
    connected.insert(value);
    classes.insert(value.getAsOpaquePointer());
  };
  for (BlockArgument argument : step.getArguments())
    if (StringRef role = signature.getRole(argument.getArgNumber());
        role == "parameter" || role == "state")
      add(argument);
  auto join = [&](Value a, Value b) {
    if (connected.contains(a) && connected.contains(b))
      classes.unionSets(a.getAsOpaquePointer(), b.getAsOpaquePointer());
  };
  Block &block = step.getBody().front();
  for (Operation &op : block) {
    if (!isUpdate(op))
      continue;
    add(op.getResult(0));
    for (Value operand : op.getOperands())
      join(op.getResult(0), operand);
  }
  for (auto [value, replaced] :
       llvm::zip(block.getTerminator()->getOperands(), signature.getReplacedArguments()))
    if (replaced >= 0)
      join(value, step.getArgument(replaced));
  return classes;
}

DenseMap<Value, int64_t> reprise::findModelArrays(ProgramOp step, const ArgumentCuts &arguments) {
  llvm::SetVector<Value> connected;
  llvm::EquivalenceClasses<void *> classes = connect(step, connected);
  constexpr int64_t none = -1;
  DenseMap<void *, int64_t> dimOf; // by leader
  for (BlockArgument argument : step.getArguments()) {
    auto rule = arguments.find(argument.getArgNumber());
    if (rule == arguments.end() || !connected.contains(argument))
      continue;
    void *leader = classes.getLeaderValue(argument.getAsOpaquePointer());
    auto [found, isNew] = dimOf.try_emplace(leader, rule->second);
    if (found->second != rule->second)
      found->second = none;
  }
  DenseMap<Value, int64_t> dims;
  for (Value value : connected) {
    auto found = dimOf.find(classes.getLeaderValue(value.getAsOpaquePointer()));
    if (found != dimOf.end() && found->second != none)
      dims[value] = found->second;
  }
  return dims;
}
