// reprise: values that are read only through views, and their labels
#include "Generator.h"

using namespace mlir;

namespace reprise::fuzz {

Operation *findMaker(Operation *op) {
  while (op && isa<ViewOpInterface, NameOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return op;
}

/// A view of another shape, of a part, or of repeated elements.
static Value showIn(ImplicitLocOpBuilder &builder, Random &random, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape()), start(shape.size()), ones(shape.size(), 1);
  switch (random.below(4)) {
  case 0: {
    auto order = llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, type.getRank())));
    return TransposeOp::create(builder, value, order);
  }
  case 1: {
    SmallVector<int64_t> limits(shape);
    for (int64_t &limit : limits)
      limit = random.within(1, limit);
    return SliceOp::create(builder, type.clone(limits), value, start, limits, ones);
  }
  case 2: {
    auto dims = llvm::to_vector(llvm::seq<int64_t>(1, type.getRank() + 1));
    shape.insert(shape.begin(), 2);
    return BroadcastOp::create(builder, type.clone(shape), value, dims);
  }
  default:
    return ReshapeOp::create(builder, type.clone({type.getNumElements()}), value);
  }
}

/// Emits a value that only views read, with further views of them: their gradients read the views.
bool Generator::emitViewed() {
  Value source = values.pickFloat();
  auto type = cast<RankedTensorType>(source.getType());
  if (type.getNumElements() == 0 || type.getNumElements() > kMostElements)
    return false;
  Value made = random.chance(50) ? TanhOp::create(builder, type, source).getResult()
                                 : MulOp::create(builder, type, source, source).getResult();
  Memory memory{made.getDefiningOp(), {}};
  auto name = [&](Value value) -> Value {
    if (!random.chance(30))
      return value;
    auto named = NameOp::create(builder, value, "m" + std::to_string(memories.size()));
    memory.views.push_back(named);
    return named;
  };
  Value seen = name(made);
  for (int64_t views = random.within(1, 3); views > 0; --views) {
    Value view = showIn(builder, random, seen);
    // A broadcast has no label for the memory.
    bool isRepeated = isa<BroadcastOp>(view.getDefiningOp());
    if (!isRepeated)
      memory.views.push_back(view.getDefiningOp());
    seen = isRepeated || views > 1 ? view : name(view);
    if (isRepeated)
      break;
  }
  Value result = MulOp::create(builder, seen.getType(), seen, seen);
  values.pool.push_back(result);
  if (values.isActive(source))
    values.active.insert(result);
  memories.push_back(std::move(memory));
  return true;
}

/// Labels most of the memories with a MUST, on the value, on a view or on a name. Loops, and
/// functions that may be called in loops, move no values.
void Generator::labelMemories() {
  static constexpr Label musts[] = {Label::must_recompute, Label::must_recompute,
                                    Label::must_offload, Label::must_save};
  for (const Memory &memory : memories) {
    if (!random.chance(70) || memory.maker->getParentOfType<CustomVjpOp>())
      continue;
    Label must = random.pick(musts);
    bool stays = memory.maker->getParentOfType<LoopOp>() ||
                 memory.maker->getParentOfType<func::FuncOp>() != entry;
    if (must == Label::must_offload && stays)
      must = Label::must_recompute;
    bool onView = !memory.views.empty() && random.chance(60);
    Operation *labelled = onView ? random.pick(memory.views) : memory.maker;
    labelled->setAttr("reprise.label", LabelAttr::get(context, must));
  }
}

} // namespace reprise::fuzz
