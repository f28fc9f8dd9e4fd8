// reprise: translates one scope of the graph into a checkpoint problem.
#include "Translation.h"

#include "reprise/Dialect/Reprise/IR/Choice.h"
#include "reprise/Dialect/Reprise/IR/Loops.h"
#include "reprise/Dialect/Reprise/IR/Naming.h"
#include "reprise/Support/ByteSize.h"

using namespace mlir;
using namespace reprise;
using namespace reprise::checkpoint;

/// Translates the label of a value. The offload op behind a value obeys an offload label: a fetch
/// computes nothing, so the value itself only must not be kept.
static Problem::Label translate(OpResult result) {
  std::optional<Label> label = getLabel(result);
  if (!label)
    return Problem::Label::None;
  switch (*label) {
  case Label::must_save:
    return Problem::Label::MustSave;
  case Label::must_recompute:
    return Problem::Label::MustRecompute;
  case Label::prefer_recompute:
    return Problem::Label::PreferRecompute;
  case Label::prefer_save:
    return Problem::Label::PreferSave;
  case Label::must_offload:
  case Label::prefer_offload:
    return isa<OffloadOp>(result.getOwner()) ? Problem::Label::MustRecompute : Problem::Label::None;
  }
  llvm_unreachable("unknown label");
}

static Kind getKind(Operation *op) {
  if (isa<ViewOpInterface>(op))
    return Kind::View;
  if (isa<AttentionOpInterface, PullOp>(op))
    return Kind::Other;
  if (isa<ContractionOpInterface, ConvolutionOpInterface>(op))
    return Kind::Contraction;
  // Draws, and ops without operands, compute each element by itself.
  if (isa<ElementwiseOpInterface, RandomOpInterface>(op) || readsNothing(op))
    return Kind::Elementwise;
  return isa<ReductionOpInterface, NormalizationOpInterface>(op) ? Kind::Reduction : Kind::Other;
}

Translation::Translation(const Scope &scope) {
  problem.containers.emplace_back();
  for (Operation *op : scope)
    if (op) {
      members.insert(op);
      blocks.insert(op->getBlock());
      if (LoopOp loop = getLoop(op->getBlock()); loop && (isPrimal(loop) || isCotangent(loop)))
        bodies.insert(op->getBlock());
    }
  for (Operation *op : scope)
    op ? add(op) : addBorder();
  join(scope);
}

/// Joins views, and pads that their readers compute, with the memory of their operand.
void Translation::join(const Scope &scope) {
  std::vector<bool> shows;
  for (Operation *op : scope)
    shows.push_back(op && (isa<ViewOpInterface>(op) || (isa<PadOp>(op) && isChoice(op))));
  clash = joinLabels(problem, shows, &taken);
}

LogicalResult Translation::settleLabels() {
  auto describe = [&](OpResult value) {
    return ("'" + stringifyLabel(*getLabel(value)) + "' from " + getRule(value)).str();
  };
  if (clash) {
    OpResult value = results[clash->value], other = results[clash->other];
    return value.getOwner()->emitError("contradictory labels for one memory: ")
           << describe(value) << " on " << value.getOwner()->getName() << ", and "
           << describe(other) << " on " << describeOp(other.getOwner());
  }
  for (const TakenLabel &label : taken) {
    OpResult from = results[label.from];
    setLabel(results[label.value], *getLabel(from),
             StringAttr::get(from.getContext(), getRule(from)));
  }
  return success();
}

/// Returns the container of an op. Ops outside all blocks share one container, which no id can
/// name.
int Translation::findContainer(Operation *op) {
  int at = 0;
  SmallVector<int64_t> path = {-1};
  if (auto block = op->getAttrOfType<DenseI64ArrayAttr>(kBlockAttr); block && !block.empty())
    path.assign(block.asArrayRef().begin(), block.asArrayRef().end());
  for (int64_t id : path) {
    auto [found, isNew] = containers.try_emplace({at, id}, problem.containers.size());
    if (isNew)
      problem.containers.push_back({at});
    at = found->second;
  }
  return at;
}

void Translation::addResult(OpResult result, int operation) {
  int id = problem.values.size();
  ids[result] = id;
  Problem::Value value;
  value.operation = operation;
  value.bytes = getByteSize(result.getType());
  Value root = aliases.getRoot(result);
  auto known = ids.find(root);
  value.root = known == ids.end() ? kAvailable : known->second;
  value.label = translate(result);
  value.outlives = outlives(result);
  problem.values.push_back(value);
  results.push_back(result);
}

/// Returns true if an op outside the scope reads the value. In a scope of loops the value may reach
/// it through a stack; from iteration to iteration the value stays in the scope.
bool Translation::outlives(Value value) {
  return llvm::any_of(value.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    unsigned i = use.getOperandNumber();
    if (llvm::any_of(blocks, [&](Block *block) {
          Operation *ancestor = block->findAncestorOpInBlock(*user);
          return ancestor && members.contains(ancestor);
        }))
      return false;
    LoopOp around = getLoop(user->getBlock());
    if (around && user == around.getYield())
      return i < around.getNumCarries() ? !bodies.contains(user->getBlock())
                                        : outlives(around.getResult(i));
    auto reader = dyn_cast<LoopOp>(user);
    if (!reader || i < reader.getNumCarries())
      return true;
    return !bodies.contains(&reader.getBlock()) && outlives(reader.getBlock().getArgument(i));
  });
}

/// Adds a border between two bodies, since many iterations lie between them: no unit of the first
/// body is the last unit before the second.
void Translation::addBorder() {
  ++borders;
  Problem::Operation border;
  border.container = problem.containers.size();
  border.firstResult = problem.values.size();
  problem.containers.push_back({0});
  problem.operations.push_back(border);
}

void Translation::add(Operation *op) {
  Problem::Operation entry;
  entry.container = findContainer(op);
  entry.body = borders;
  entry.order = getOrder(op);
  entry.primal = isPrimal(op);
  entry.kind = getKind(op);
  entry.remade = entry.kind == Kind::View && bodies.contains(op->getBlock());
  if (auto cost = dyn_cast<CostOpInterface>(op))
    entry.flops = cost.getFlops();
  for (Value operand : collectReads(op)) {
    auto found = isa<OffloadOp>(op) ? ids.end() : ids.find(findRow(operand));
    entry.operands.push_back(found == ids.end() ? kAvailable : found->second);
  }
  entry.firstResult = problem.values.size();
  entry.numResults = op->getNumResults();
  int index = problem.operations.size();
  problem.operations.push_back(std::move(entry));
  for (OpResult result : op->getOpResults())
    addResult(result, index);
}
