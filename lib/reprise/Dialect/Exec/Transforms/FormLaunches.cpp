// reprise: groups the ops of the entry into launches.
#include "reprise/Dialect/Exec/Transforms/Passes.h"

#include "Grouping.h"
#include "mlir/IR/IRMapping.h"
#include "reprise/Conversion/Target.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

using namespace mlir;

namespace reprise::exec {
#define GEN_PASS_DEF_FORMLAUNCHESPASS
#include "reprise/Dialect/Exec/Transforms/Passes.h.inc"

namespace {

/// Builds the launch of one group at the insertion point.
class LaunchBuilder {
public:
  LaunchBuilder(OpBuilder &builder, const Group &group) : builder(builder), group(group) {}

  /// `stored` are the values that are read outside; `replacements` maps them to launch results.
  void build(ArrayRef<Value> stored, DenseMap<Value, Value> &replacements) {
    Block *body = new Block;
    OpBuilder inner(builder.getContext());
    inner.setInsertionPointToEnd(body);
    for (Operation *op : group.ops)
      cloneInto(inner, *body, op);
    SmallVector<Value> returned, operands;
    for (Value value : stored)
      returned.push_back(materialize(inner, *body, value));
    ReturnOp::create(inner, group.location, returned);
    for (Value input : inputs)
      operands.push_back(replacements.lookup_or(input, input));
    auto types = llvm::map_to_vector(stored, [](Value v) { return v.getType(); });
    auto launch = LaunchOp::create(builder, group.location, types, operands, DenseI64ArrayAttr(),
                                   DenseI64ArrayAttr());
    launch.getBody().push_back(body);
    for (auto [value, result] : llvm::zip(stored, launch.getResults()))
      replacements[value] = result;
  }

private:
  /// The value inside the body: a clone's result, a copied free op, or an argument.
  Value materialize(OpBuilder &inner, Block &body, Value value) {
    if (Value known = mapping.lookupOrNull(value))
      return known;
    if (Operation *op = value.getDefiningOp(); op && isFree(op)) {
      cloneInto(inner, body, op);
      return mapping.lookup(value);
    }
    inputs.push_back(value);
    Value argument = body.addArgument(value.getType(), value.getLoc());
    mapping.map(value, argument);
    return argument;
  }

  /// Clones without what does not concern the kernel: labels, blocks, and the mark of a replay.
  void cloneInto(OpBuilder &inner, Block &body, Operation *op) {
    for (Value operand : op->getOperands())
      materialize(inner, body, operand);
    Operation *copy = inner.clone(*op, mapping);
    copy->setDiscardableAttrs(DictionaryAttr::get(op->getContext()));
    setReplayNumber(copy, 0);
  }

  OpBuilder &builder;
  const Group &group;
  IRMapping mapping;
  SmallVector<Value> inputs;
};

/// The values of a group that other groups or the function's results read, in program order.
SmallVector<Value> storedValues(const Group &group, const Grouping &grouping) {
  SmallVector<Value> stored;
  for (Operation *op : group.ops)
    for (Value result : op->getResults())
      if (grouping.isReadOutside(result, group))
        stored.push_back(result);
  return stored;
}

struct FormLaunchesPass : impl::FormLaunchesPassBase<FormLaunchesPass> {
  using Base::Base;

  LogicalResult initialize(MLIRContext *context) override {
    return Target::get(targetName, UnknownLoc::get(context), target);
  }

  void runOnOperation() override {
    for (auto entry : getOperation().getOps<func::FuncOp>())
      form(entry);
  }

  void form(func::FuncOp entry) {
    Block &block = entry.getBody().front();
    hoistUpdates(block);
    Grouping grouping(block, *target);
    OpBuilder builder(block.getTerminator());
    DenseMap<Value, Value> replacements;
    for (const Group &group : grouping.groups())
      if (SmallVector<Value> stored = storedValues(group, grouping); !stored.empty())
        LaunchBuilder(builder, group).build(stored, replacements);
    copyReturnedAliases(block, replacements);
    for (OpOperand &operand : block.getTerminator()->getOpOperands())
      operand.set(replacements.lookup_or(operand.get(), operand.get()));
    eraseGrouped(block);
  }

  /// Erases what the launches hold now; constants that launches or the results read stay.
  void eraseGrouped(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isa<RepriseDialect>(op.getDialect()) && op.use_empty())
        op.erase();
  }

  /// Returned views and splat constants become buffers through a copy, and so does an argument or a
  /// value that is returned twice, since each result is a buffer of its own.
  void copyReturnedAliases(Block &block, DenseMap<Value, Value> &replacements) {
    OpBuilder builder(block.getTerminator());
    llvm::SmallDenseSet<Value> seen;
    for (OpOperand &operand : block.getTerminator()->getOpOperands()) {
      Value value = operand.get();
      Operation *op = value.getDefiningOp();
      bool isBuffer = op && !isFree(op) && seen.insert(value).second;
      if (isBuffer || isUnchangedArgument(operand))
        continue;
      DenseMap<Value, Value> copies = replacements;
      LaunchBuilder(builder, Group{{}, value.getLoc()}).build({value}, copies);
      operand.set(copies.lookup(value));
    }
  }

  /// True if the operand of the return is the argument of the same name: state that the step does
  /// not change.
  static bool isUnchangedArgument(OpOperand &operand) {
    auto argument = dyn_cast<BlockArgument>(operand.get());
    auto entry = operand.getOwner()->getParentOfType<func::FuncOp>();
    return argument && entry.getArgAttr(argument.getArgNumber(), "reprise.name") ==
                           entry.getResultAttr(operand.getOperandNumber(), "reprise.name");
  }

  std::shared_ptr<const Target> target;
};

} // namespace
} // namespace reprise::exec
