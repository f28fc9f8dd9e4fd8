// reprise: replays of parts of a model, with their exchanges
#include "reprise/Dialect/Pipe/Transforms/Passes.h"

#include "Order.h"
#include "Places.h"
#include "mlir/Pass/PassManager.h"
#include "reprise/Dialect/Pipe/IR/CheckpointModes.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/Labels.h"
#include "reprise/Dialect/Reprise/IR/PlanAttributes.h"
#include "reprise/Dialect/Reprise/IR/ReplayNumber.h"
#include "reprise/Dialect/Reprise/Transforms/Passes.h"

using namespace mlir;

namespace reprise::pipe {
#define GEN_PASS_DEF_REPLAYPARTSPASS
#include "reprise/Dialect/Pipe/Transforms/Passes.h.inc"

namespace {

bool isPrimal(Operation *op) { return op->hasAttr(kPrimalAttr); }

bool hasLabel(Operation *op) { return op->hasAttr(kLabelAttr) || op->hasAttr(kResultLabelsAttr); }

bool isReplayed(Attribute label) {
  auto own = dyn_cast_or_null<LabelAttr>(label);
  return own && asksToRecompute(own.getValue());
}

/// Returns true for a value that its label lets a backward pass compute again.
bool isReplayed(Operation *op) {
  auto labels = op->getAttrOfType<ArrayAttr>(kResultLabelsAttr);
  return isReplayed(op->getDiscardableAttr(kLabelAttr)) ||
         (labels && llvm::any_of(labels, [](Attribute label) { return isReplayed(label); }));
}

struct ReplayPartsPass : impl::ReplayPartsPassBase<ReplayPartsPass> {
  using Base::Base;

  void runOnOperation() override {
    label();
    follow();
    Block &block = getOperation().getBody().front();
    if (llvm::none_of(block, [](Operation &op) { return isPrimal(&op) && isReplayed(&op); }))
      return;
    OpPassManager passes(ProgramOp::getOperationName());
    passes.addPass(createCheckpointPass());
    if (failed(runPipeline(passes, getOperation())))
      return signalPassFailure();
    for (Operation &op : llvm::reverse(block))
      settle(&op);
    for (StringRef name : {kSavedBytesAttr, kReplayedOpsAttr})
      getOperation()->removeDiscardableAttr(name);
  }

private:
  /// Labels the first units of each micro-batch that is replayed, rounded up to a whole unit.
  void label() {
    const CheckpointMode *mode = findCheckpointMode(checkpoint);
    if (!mode && percent == 0)
      return;
    int64_t last = countMicrobatches(getOperation()) - 1;
    std::map<int64_t, SmallVector<int64_t>> units; // units of a micro-batch, in their order
    SmallVector<std::pair<Operation *, std::pair<int64_t, size_t>>> ops;
    for (Operation &op : getOperation().getBody().front()) {
      auto block = op.getAttrOfType<DenseI64ArrayAttr>(kBlockAttr);
      if (!isPrimal(&op) || !block || block.empty())
        continue;
      int64_t microbatch = getNumber(&op, kMicrobatchAttr).value_or(0);
      SmallVector<int64_t> &own = units[microbatch];
      auto *found = llvm::find(own, block[0]);
      size_t unit = found - own.begin();
      if (found == own.end())
        own.push_back(block[0]);
      ops.push_back({&op, {microbatch, unit}});
    }
    for (auto [op, place] : ops) {
      auto [microbatch, unit] = place;
      bool isOfMode = mode && (microbatch == last ? mode->replaysLast : mode->replaysOthers);
      int64_t share = mode ? 100 * isOfMode : percent.getValue();
      if (100 * unit < share * units[microbatch].size())
        label(op);
    }
  }

  /// Labels the ops that move and add parts of replayed values: policies have not seen them.
  void follow() {
    for (Operation &op : getOperation().getBody().front()) {
      if (!isPrimal(&op) || hasLabel(&op))
        continue;
      bool isKept = false, isOfReplayed = false;
      for (Value operand : op.getOperands())
        if (Operation *maker = operand.getDefiningOp(); maker && isPrimal(maker))
          (isReplayed(maker) ? isOfReplayed : isKept) |= hasLabel(maker);
      if (isOfReplayed && !isKept)
        label(&op);
    }
  }

  void label(Operation *op) {
    if (hasLabel(op))
      return;
    Builder builder(&getContext());
    op->setDiscardableAttr(kLabelAttr, LabelAttr::get(&getContext(), Label::prefer_recompute));
    op->setDiscardableAttr(
        kRuleAttr,
        builder.getStringAttr(checkpoint.empty() ? "budget" : "--checkpoint=" + checkpoint));
  }

  /// Makes a replay an op of the first backward pass that reads it, and drops the labels that have
  /// been followed. Its users are settled.
  void settle(Operation *op) {
    Builder builder(&getContext());
    if (isReplay(op)) {
      setReplayNumber(op, 0);
      op->removeDiscardableAttr(kOriginalAttr);
      op->setDiscardableAttr(kCotangentAttr, builder.getUnitAttr());
      int64_t order = INT64_MAX;
      for (Operation *user : op->getUsers())
        order = std::min(order, getNumber(user, kOrderAttr).value_or(INT64_MAX));
      op->setDiscardableAttr(kOrderAttr, builder.getI64IntegerAttr(order));
    }
    for (StringRef name : {kLabelAttr, kRuleAttr, kResultLabelsAttr, kResultRulesAttr, kIdAttr,
                           kDecisionsAttr, kReasonsAttr})
      op->removeDiscardableAttr(name);
  }
};

} // namespace
} // namespace reprise::pipe
