// reprise: makes a cast to a wider float again for each reader
#include "reprise/Dialect/Reprise/Transforms/Passes.h"

#include "Plan.h"
#include "reprise/Dialect/Reprise/IR/Casts.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Interfaces/Kinds.h"

using namespace mlir;

namespace reprise {
#define GEN_PASS_DEF_SPLITCASTSPASS
#include "reprise/Dialect/Reprise/Transforms/Passes.h.inc"

namespace {

/// The number of a copy, so that CSE does not merge it with others.
constexpr StringLiteral kCopyAttr = "reprise.copy";

/// True if a loop over elements reads the value, which can convert each one that it loads.
bool convertsAsItLoads(Operation *reader) {
  return !isa<ContractionOpInterface, ConvolutionOpInterface, AttentionOpInterface>(reader) &&
         (isElementwise(reader) || isa<ReductionOpInterface, NormalizationOpInterface>(reader));
}

bool areOfOnePart(Operation *cast, Operation *reader) {
  return isPrimal(cast) == isPrimal(reader) && isCotangent(cast) == isCotangent(reader) &&
         getOrder(cast) == getOrder(reader);
}

/// Whether a plan may keep the operand in the stead of the cast, by their labels.
bool mayKeepOperand(CastOp cast) {
  auto wants = [](Value value, ArrayRef<Label> some) {
    auto result = dyn_cast<OpResult>(value);
    std::optional<Label> label = result ? getLabel(result) : std::nullopt;
    return label && llvm::is_contained(some, *label);
  };
  constexpr Label saves[] = {Label::must_save, Label::prefer_save};
  constexpr Label offloads[] = {Label::must_offload, Label::prefer_offload};
  constexpr Label recomputes[] = {Label::must_recompute, Label::prefer_recompute};
  if (wants(cast, offloads))
    return false;
  if (wants(cast, saves) && !isa<BlockArgument>(cast.getOperand()))
    return wants(cast.getOperand(), saves);
  return wants(cast, recomputes) || !wants(cast.getOperand(), recomputes);
}

/// Makes the copy part of what its reader is part of.
void takePart(Operation *copy, Operation *reader) {
  NamedAttrList attributes;
  for (StringRef name :
       {kPrimalAttr, kCotangentAttr, kOrderAttr, kBlockAttr, kStageAttr, kMicrobatchAttr})
    if (Attribute attribute = reader->getDiscardableAttr(name))
      attributes.set(name, attribute);
  copy->setDiscardableAttrs(attributes.getDictionary(copy->getContext()));
}

void split(CastOp cast) {
  SmallVector<OpOperand *> uses;
  bool mayKeep = mayKeepOperand(cast);
  for (OpOperand &use : cast->getUses())
    if (Operation *reader = use.getOwner(); reader->getBlock() == cast->getBlock() &&
                                            convertsAsItLoads(reader) &&
                                            (mayKeep || areOfOnePart(cast, reader)))
      uses.push_back(&use);
  // The list of uses runs backwards. The last reader of the cast's own part keeps it.
  std::reverse(uses.begin(), uses.end());
  llvm::stable_sort(uses, [&](OpOperand *left, OpOperand *right) {
    return areOfOnePart(cast, left->getOwner()) < areOfOnePart(cast, right->getOwner());
  });
  for (auto [number, use] : llvm::enumerate(uses)) {
    Operation *reader = use->getOwner();
    bool isNear = areOfOnePart(cast, reader);
    if (isNear && cast->hasOneUse())
      return;
    OpBuilder builder(isNear ? cast->getNextNode() : reader);
    Operation *copy = builder.clone(*cast);
    if (!isNear)
      takePart(copy, reader);
    copy->setDiscardableAttr(kCopyAttr, builder.getI64IntegerAttr(static_cast<int64_t>(number)));
    use->set(copy->getResult(0));
  }
  if (cast->use_empty())
    cast->erase();
}

struct SplitCastsPass : impl::SplitCastsPassBase<SplitCastsPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<CastOp> casts;
    getOperation().walk([&](CastOp cast) {
      if (widens(cast) && !isReplay(cast))
        casts.push_back(cast);
    });
    for (CastOp cast : casts)
      split(cast);
  }
};

} // namespace
} // namespace reprise
