// reprise: gives each reader its own cast to a wider float
#include "reprise/Dialect/Reprise/Transforms/Passes.h"

#include "Plan.h"
#include "reprise/Dialect/Reprise/IR/Casts.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/Labels.h"
#include "reprise/Interfaces/Kinds.h"
#include "reprise/Support/StableSort.h"

using namespace mlir;

namespace reprise {
#define GEN_PASS_DEF_SPLITCASTSPASS
#include "reprise/Dialect/Reprise/Transforms/Passes.h.inc"

namespace {

/// Returns whether the labels allow a plan to keep the operand instead of the cast.
bool mayKeepOperand(CastOp cast) {
  std::optional<Label> own = getLabel(cast->getOpResult(0)), other;
  auto operand = dyn_cast<OpResult>(cast.getOperand());
  if (operand)
    other = getLabel(operand);
  if (!own)
    return !other || !asksToRecompute(*other);
  if (asksToSave(*own))
    return !operand || (other && asksToSave(*other));
  return asksToRecompute(*own); // otherwise it asks for an offload
}

/// Gives the copy the part and place of its reader.
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
                                            takesFromRegisters(reader) &&
                                            (mayKeep || areOfOnePart(cast, reader)))
      uses.push_back(&use);
  // The list of uses runs backwards. The last reader in the cast's own part keeps the cast.
  std::reverse(uses.begin(), uses.end());
  sortStably(uses, [&](OpOperand *left, OpOperand *right) {
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
