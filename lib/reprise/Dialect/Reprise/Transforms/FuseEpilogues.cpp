// reprise: fuses a contraction and the addition of its bias into one op
#include "reprise/Dialect/Reprise/Transforms/Passes.h"

#include "Plan.h"
#include "reprise/Dialect/Reprise/IR/Casts.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"

using namespace mlir;

namespace reprise {
#define GEN_PASS_DEF_FUSEEPILOGUESPASS
#include "reprise/Dialect/Reprise/Transforms/Passes.h.inc"

namespace {

/// Returns the broadcast op of `value`, if it repeats one element for each column of the
/// contraction.
BroadcastOp findBias(DotGeneralOp dot, Value value) {
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  if (!broadcast)
    return {};
  auto bias = cast<RankedTensorType>(broadcast.getOperand().getType());
  int64_t rank = dot.getType().getRank(), count = dot.getRhsFree().size();
  auto columns = llvm::to_vector(llvm::seq(rank - count, rank));
  bool isBias = count > 0 && broadcast.getDims() == ArrayRef(columns) &&
                bias.getShape() == dot.getType().getShape().take_back(count);
  return isBias ? broadcast : BroadcastOp();
}

/// Returns true if both belong to one part of the step. Labels and stages are ignored, because
/// fusion decides how results are rounded and must not depend on them.
bool areAlike(DotGeneralOp dot, AddOp add) {
  auto isEqual = [&](StringRef name) {
    return dot->getDiscardableAttr(name) == add->getDiscardableAttr(name);
  };
  return dot->getBlock() == add->getBlock() && areOfOnePart(dot, add) && isEqual(kMicrobatchAttr) &&
         !dot->hasAttr(kBatchSumAttr) && !add->hasAttr(kBatchSumAttr) && !isReplay(dot) &&
         !isReplay(add);
}

/// Returns the rank of a label. When two results become one, the higher label stays: a MUST
/// outranks a PREFER, and saving outranks recomputing.
int64_t rankOf(std::optional<Label> label) {
  constexpr Label ascending[] = {Label::prefer_recompute, Label::prefer_offload, Label::prefer_save,
                                 Label::must_recompute,   Label::must_offload,   Label::must_save};
  return label ? llvm::find(ascending, *label) - std::begin(ascending) : -1;
}

/// Label attributes of an op, or of one iteration in a list.
struct Labelled {
  std::optional<Label> label;
  Attribute rule;

  explicit Labelled(DictionaryAttr attributes) {
    auto first = [&](StringRef ofResults, StringRef ofOp) -> Attribute {
      auto each = attributes.getAs<ArrayAttr>(ofResults);
      Attribute own = each && !each.empty() ? each[0] : Attribute();
      return isa_and_present<LabelAttr, StringAttr>(own) ? own : attributes.get(ofOp);
    };
    if (auto found = dyn_cast_or_null<LabelAttr>(first(kResultLabelsAttr, kLabelAttr)))
      label = found.getValue();
    rule = first(kResultRulesAttr, kRuleAttr);
  }
};

/// The attributes of the sum, with the label of the contraction if that is higher.
DictionaryAttr merge(DictionaryAttr ofDot, DictionaryAttr ofSum) {
  Labelled dot(ofDot), sum(ofSum);
  NamedAttrList merged(ofSum);
  MLIRContext *context = ofSum.getContext();
  if (rankOf(dot.label) > rankOf(sum.label)) {
    merged.erase(kResultLabelsAttr);
    merged.erase(kResultRulesAttr);
    merged.set(kLabelAttr, LabelAttr::get(context, *dot.label));
    if (dot.rule)
      merged.set(kRuleAttr, dot.rule);
  }
  // The columns, the larger operand, are on the stage of the contraction.
  if (Attribute stage = ofDot.get(kStageAttr))
    merged.set(kStageAttr, stage);
  auto dots = ofDot.getAs<ArrayAttr>(kIterationsAttr),
       sums = ofSum.getAs<ArrayAttr>(kIterationsAttr);
  if (dots && sums && dots.size() == sums.size()) {
    SmallVector<Attribute> each;
    for (auto [left, right] : llvm::zip(dots, sums))
      each.push_back(merge(cast<DictionaryAttr>(left), cast<DictionaryAttr>(right)));
    merged.set(kIterationsAttr, ArrayAttr::get(context, each));
  }
  return merged.getDictionary(context);
}

void fuse(DotGeneralOp dot, AddOp add, BroadcastOp bias) {
  OpBuilder builder(add);
  auto fused = DotBiasOp::create(builder, dot.getLoc(), dot.getType(), dot.getLhs(), dot.getRhs(),
                                 bias.getOperand(), dot.getLhsBatchAttr(), dot.getRhsBatchAttr(),
                                 dot.getLhsContractingAttr(), dot.getRhsContractingAttr(),
                                 dot.getAccumulationAttr(), dot.getReplayAttr());
  fused->setDiscardableAttrs(
      merge(dot->getDiscardableAttrDictionary(), add->getDiscardableAttrDictionary()));
  add.replaceAllUsesWith(fused.getResult());
  add.erase();
  dot.erase();
  if (bias->use_empty())
    bias.erase();
}

struct FuseEpiloguesPass : impl::FuseEpiloguesPassBase<FuseEpiloguesPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<AddOp> sums;
    getOperation().walk([&](AddOp op) { sums.push_back(op); });
    for (AddOp add : sums)
      for (bool isSwapped : {false, true}) {
        Value product = isSwapped ? add.getRhs() : add.getLhs();
        auto dot = product.getDefiningOp<DotGeneralOp>();
        // Libraries contract only 16-bit floats.
        if (!dot || !dot->hasOneUse() || dot.getType() != add.getType() ||
            !isHalf(dot.getLhs().getType()) || !areAlike(dot, add))
          continue;
        if (BroadcastOp bias = findBias(dot, isSwapped ? add.getLhs() : add.getRhs())) {
          fuse(dot, add, bias);
          break;
        }
      }
  }
};

} // namespace
} // namespace reprise
