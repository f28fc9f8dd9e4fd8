// reprise: grouping of the ops of the entry into launches.
#include "reprise/Dialect/Exec/Transforms/Passes.h"

#include "Grouping.h"
#include "HostMoves.h"
#include "Pulls.h"
#include "mlir/IR/IRMapping.h"
#include "reprise/Dialect/Exec/IR/Storage.h"
#include "reprise/Dialect/Reprise/IR/AttributeTable.h"
#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/Dialect/Reprise/IR/Loops.h"
#include "reprise/Dialect/Reprise/IR/Pause.h"
#include "reprise/Dialect/Reprise/IR/PlanAttributes.h"
#include "reprise/Dialect/Reprise/IR/ReplayNumber.h"
#include "reprise/Target/Target.h"

using namespace mlir;

namespace reprise::exec {
#define GEN_PASS_DEF_FORMLAUNCHESPASS
#include "reprise/Dialect/Exec/Transforms/Passes.h.inc"

namespace {

/// Builds the launch of one group at the insertion point.
class LaunchBuilder {
public:
  LaunchBuilder(OpBuilder &builder, const Group &group) : builder(builder), group(group) {}

  /// Builds a launch. `stored` are the values that ops outside read, the results of the launch;
  /// `replacements` has the results of earlier launches.
  LaunchOp build(ArrayRef<Value> stored, const DenseMap<Value, Value> &replacements) {
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
    DenseI64ArrayAttr none;
    auto launch =
        LaunchOp::create(builder, group.location, types, operands, none, none, none, none);
    if (!streams.empty())
      launch.setStreams(streams.getArrayRef());
    launch.getBody().push_back(body);
    noteStored(launch, stored);
    noteParts(launch);
    return launch;
  }

private:
  /// Notes for reports which values the launch stores in memory.
  static void noteStored(LaunchOp launch, ArrayRef<Value> stored) {
    SmallVector<int64_t> numbers;
    for (Value value : stored)
      if (auto result = dyn_cast<OpResult>(value))
        if (auto first = result.getOwner()->getAttrOfType<IntegerAttr>(kReportedAttr))
          numbers.push_back(first.getInt() + result.getResultNumber());
    if (!numbers.empty())
      launch->setDiscardableAttr(kReportedAttr,
                                 DenseI64ArrayAttr::get(launch.getContext(), numbers));
  }

  /// Notes for reports the part of the step of each op of the body.
  void noteParts(LaunchOp launch) const {
    if (launch->getParentOfType<ProgramOp>()->hasAttr(kPartsAttr))
      launch->setDiscardableAttr(kPartsAttr, DenseI64ArrayAttr::get(launch.getContext(), parts));
  }

  static Part findPart(Operation *op) {
    return isReplay(op)                  ? Part::Replay
           : op->hasAttr(kCotangentAttr) ? Part::Backward
                                         : Part::Forward;
  }

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

  /// Clones an op without attributes that do not affect the kernel: labels, blocks, and the mark of
  /// a replay.
  void cloneInto(OpBuilder &inner, Block &body, Operation *op) {
    for (Value operand : op->getOperands())
      materialize(inner, body, operand);
    parts.push_back(static_cast<int64_t>(findPart(op)));
    Operation *copy = inner.clone(*op, mapping);
    copy->setDiscardableAttrs(DictionaryAttr::get(op->getContext()));
    setReplayNumber(copy, 0);
    copy->walk([&](RandomOpInterface random) { replaceStream(random); });
  }

  /// Replaces the stream of a draw in the body by its position among the streams of the launch.
  void replaceStream(RandomOpInterface random) {
    std::optional<int64_t> stream = random.getStreamNumber();
    if (!stream)
      return;
    streams.insert(*stream);
    random.setStreamNumber(llvm::find(streams, *stream) - streams.begin());
  }

  OpBuilder &builder;
  const Group &group;
  IRMapping mapping;
  SmallVector<Value> inputs;
  llvm::SetVector<int64_t> streams;
  SmallVector<int64_t> parts; ///< parts of the body's ops
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

class Former {
public:
  explicit Former(const Target &target) : target(target) {}

  void form(ProgramOp entry) {
    Block &block = entry.getBody().front();
    if (!target.getCapabilities().addsBias)
      entry.walk([](DotBiasOp op) { op.expand(); });
    dropUnreadRows(entry);
    keepOnDevice(entry);
    hoistUpdates(block);
    PauseOp pause = findPause(entry);
    if (pause)
      early.insert_range(pause.getEarly());
    DenseMap<Value, Value> replacements;
    formBlock(block, replacements);
    copyReturnedAliases(block, pause, replacements);
    for (OpOperand &operand : block.getTerminator()->getOpOperands())
      operand.set(replacements.lookup_or(operand.get(), operand.get()));
    eraseGrouped(block, replacements);
    if (pause)
      pause.replaceAllUsesWith(pause.getLate());
    pulls.beginEarly(target.getCapabilities().bytesBesideLink);
    moveToHost(block, target.getCapabilities().bytesBesideHost);
  }

private:
  /// Drops stacked rows without readers, which replays have replaced.
  static void dropUnreadRows(ProgramOp entry) {
    SmallVector<Block *> bodies;
    entry.walk([&](LoopOp loop) { bodies.push_back(&loop.getBlock()); });
    for (bool changed = true; changed;) {
      changed = false;
      for (Block *body : llvm::reverse(bodies))
        changed |= dropUnread(body);
    }
  }

  void formBlock(Block &block, DenseMap<Value, Value> &replacements) {
    Grouping grouping(block, target);
    OpBuilder builder(block.getTerminator());
    for (const Group &group : grouping.groups()) {
      if (group.ops.empty())
        continue;
      if (auto loop = dyn_cast<LoopOp>(group.ops.front()))
        formLoop(loop, replacements);
      else if (isa<PullOp>(group.ops.front()) && group.ops.size() > 1)
        formGather(builder, group, replacements);
      else if (auto pull = dyn_cast<PullOp>(group.ops.front()))
        replacements[pull.getResult()] = pulls.form(builder, pull);
      else if (isExplicit(group.ops.front()) || isa<reprise::OffloadOp>(group.ops.front()))
        formCommand(group.ops.front(), replacements);
      else if (SmallVector<Value> stored = storedValues(group, grouping); !stored.empty())
        formLaunch(builder, group, stored, replacements);
    }
  }

  /// Receives the pulled parts of a gather in their places, and copies its other parts there.
  void formGather(OpBuilder &builder, const Group &group, DenseMap<Value, Value> &replacements) {
    Operation *gather = group.ops.back();
    SmallVector<Value> parts;
    for (Value part : gather->getOperands()) {
      Operation *maker = part.getDefiningOp();
      bool isPulled = maker && llvm::is_contained(group.ops, maker);
      parts.push_back(isPulled ? pulls.form(builder, cast<PullOp>(maker))
                               : copy(builder, part, replacements));
    }
    Value whole = gather->getResult(0);
    replacements[whole] =
        JoinOp::create(builder, group.location, whole.getType(), parts, nullptr, nullptr);
  }

  static void formLaunch(OpBuilder &builder, const Group &group, ArrayRef<Value> stored,
                         DenseMap<Value, Value> &replacements) {
    LaunchOp launch = LaunchBuilder(builder, group).build(stored, replacements);
    for (auto [value, result] : llvm::zip(stored, launch.getResults()))
      replacements[value] = result;
  }

  /// Moves a transfer, event or library call behind the existing launches, and replaces its
  /// operands by buffers.
  static void formCommand(Operation *op, DenseMap<Value, Value> &replacements) {
    op->moveBefore(op->getBlock()->getTerminator());
    OpBuilder builder(op);
    for (OpOperand &operand : op->getOpOperands()) {
      Value value = operand.get();
      Operation *maker = value.getDefiningOp();
      operand.set(maker && isFree(maker) ? copy(builder, value, replacements)
                                         : replacements.lookup_or(value, value));
    }
  }

  /// Moves the loop behind the existing launches. Its carries start in buffers that the loop may
  /// overwrite; its slices come from whole buffers.
  void formLoop(LoopOp loop, DenseMap<Value, Value> &replacements) {
    loop->moveBefore(loop->getBlock()->getTerminator());
    OpBuilder builder(loop);
    // We find all buffers first, because replacing an operand changes the number of uses.
    SmallVector<Value> buffers;
    for (OpOperand &operand : loop->getOpOperands())
      buffers.push_back(operand.getOperandNumber() < loop.getNumCarries()
                            ? findOwn(loop, operand.get(), replacements)
                            : findWhole(builder, operand.get(), replacements));
    for (auto [operand, buffer] : llvm::zip(loop->getOpOperands(), buffers))
      operand.set(buffer ? buffer : copy(builder, operand.get(), replacements));
    formBlock(loop.getBlock(), replacements);
    formRows(loop, replacements);
    eraseGrouped(loop.getBlock(), replacements);
    separateCarries(loop);
  }

  /// Returns the buffer of a value that no other op reads; null if there is none.
  static Value findOwn(LoopOp loop, Value value, const DenseMap<Value, Value> &replacements) {
    Value buffer = replacements.lookup_or(value, value);
    // Bodies of earlier loops read the buffer by now.
    bool isRead = !value.hasOneUse() || (buffer != value && !buffer.use_empty());
    bool isOwn = isMade(buffer) && !isRead && buffer.getParentBlock() == loop->getBlock();
    return isOwn ? buffer : Value();
  }

  /// Returns the whole buffer of a value, possibly with another shape; null if the value is not a
  /// whole buffer.
  static Value findWhole(OpBuilder &builder, Value value,
                         const DenseMap<Value, Value> &replacements) {
    if (auto reshape = value.getDefiningOp<ReshapeOp>()) {
      Value source = findWhole(builder, reshape.getOperand(), replacements);
      return source ? ReshapeOp::create(builder, value.getLoc(), reshape.getType(), source)
                    : Value();
    }
    Operation *op = value.getDefiningOp();
    return !op || !isFree(op) ? replacements.lookup_or(value, value) : Value();
  }

  /// Gives each yielded value its own buffer, in a stack or in the place of a carry. A carry is
  /// stacked before its next value overwrites it.
  void formRows(LoopOp loop, DenseMap<Value, Value> &replacements) {
    OpBuilder atEnd(loop.getYield()), atBegin = OpBuilder::atBlockBegin(&loop.getBlock());
    llvm::SmallDenseSet<Value> seen;
    for (OpOperand &operand : loop.getYield()->getOpOperands()) {
      Value value = operand.get(), buffer = replacements.lookup_or(value, value);
      Operation *op = value.getDefiningOp();
      bool isOwn = isMade(buffer) && buffer.getParentBlock() == &loop.getBlock() && !isFree(op) &&
                   seen.insert(value).second && !isInit(buffer);
      operand.set(isOwn ? buffer : copy(op ? atEnd : atBegin, value, replacements));
    }
  }

  /// Inserts a copy of a next carry at the end of the body, if the old carry is read after the next
  /// carry is stored.
  void separateCarries(LoopOp loop) {
    OpBuilder builder(loop.getYield());
    auto mayShare = [&](OpResult result, unsigned input) {
      Block &body = cast<LaunchOp>(result.getOwner()).getBody().front();
      return llvm::is_contained(target.findInPlacePairs(body),
                                std::pair<unsigned, unsigned>(result.getResultNumber(), input));
    };
    for (unsigned i = 0; i < loop.getNumCarries(); ++i)
      if (findLateReader(loop, i, mayShare)) {
        OpOperand &operand = loop.getYield()->getOpOperand(i);
        operand.set(copy(builder, operand.get(), DenseMap<Value, Value>()));
      }
  }

  /// Returns true if the value has given its buffer to an inner loop.
  static bool isInit(Value value) {
    return llvm::any_of(value.getUses(), [](OpOperand &use) {
      auto loop = dyn_cast<LoopOp>(use.getOwner());
      return loop && use.getOperandNumber() < loop.getNumCarries();
    });
  }

  static Value copy(OpBuilder &builder, Value value, const DenseMap<Value, Value> &replacements) {
    return LaunchBuilder(builder, Group{{}, value.getLoc()})
        .build({value}, replacements)
        .getResult(0);
  }

  /// Erases ops that launches hold now; constants that launches or the results read stay.
  void eraseGrouped(Block &block, DenseMap<Value, Value> &replacements) {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
      if (!isa<RepriseDialect>(op.getDialect()) || !op.use_empty() ||
          isa<YieldOp, reprise::ReturnOp, PauseOp>(op))
        continue;
      // Another op may be allocated at the address of this op.
      for (Value result : op.getResults())
        replacements.erase(result);
      op.erase();
    }
  }

  /// Copies returned views and splat constants into buffers, and also arguments or values that are
  /// returned twice, since each result has its own buffer. Copies results of the pause before it.
  void copyReturnedAliases(Block &block, PauseOp pause,
                           const DenseMap<Value, Value> &replacements) {
    llvm::SmallDenseSet<Value> seen;
    EntrySignature signature(cast<ProgramOp>(block.getParentOp()));
    for (OpOperand &operand : block.getTerminator()->getOpOperands()) {
      Value value = operand.get();
      Operation *op = value.getDefiningOp();
      bool isBuffer = op && op != pause && !isFree(op) && seen.insert(value).second;
      if (isBuffer || isUnchangedArgument(operand, signature))
        continue;
      OpBuilder builder(early.contains(value) ? pause.getOperation() : block.getTerminator());
      operand.set(copy(builder, value, replacements));
    }
  }

  /// Returns true if the operand of the return is the argument of the same name: state that the
  /// step does not change.
  static bool isUnchangedArgument(OpOperand &operand, const EntrySignature &signature) {
    auto argument = dyn_cast<BlockArgument>(operand.get());
    return argument && signature.getArgumentName(argument.getArgNumber()) ==
                           signature.getResultName(operand.getOperandNumber());
  }

  const Target &target;
  Pulls pulls;
  DenseSet<Value> early; ///< results that the caller reads at the pause
};

struct FormLaunchesPass : impl::FormLaunchesPassBase<FormLaunchesPass> {
  using Base::Base;

  LogicalResult initialize(MLIRContext *context) override {
    return Target::get(targetName, UnknownLoc::get(context), target);
  }

  void runOnOperation() override {
    WalkResult found = getOperation().walk([](DotLanesOp op) {
      op.emitOpError("no kernel has lanes: run reprise-expand-lanes first");
      return WalkResult::interrupt();
    });
    if (found.wasInterrupted())
      return signalPassFailure();
    formLaunches(getOperation(), *target);
    // Loops are moved instead of cloned, so we drop their plan marks here.
    dropAttributes(getOperation(), reprise::getAttributeTable(), "checkpoint");
  }

  std::shared_ptr<const Target> target;
};

} // namespace

void formLaunches(ProgramOp entry, const Target &target) { Former(target).form(entry); }

} // namespace reprise::exec
