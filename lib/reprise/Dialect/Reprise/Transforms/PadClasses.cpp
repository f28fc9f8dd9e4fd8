// reprise: pads the classes of a cross entropy to a multiple of eight
#include "reprise/Dialect/Reprise/Transforms/Passes.h"

#include "reprise/Dialect/Reprise/IR/Casts.h"

using namespace mlir;

namespace reprise {
#define GEN_PASS_DEF_PADCLASSESPASS
#include "reprise/Dialect/Reprise/Transforms/Passes.h.inc"

namespace {

constexpr int64_t kMultiple = 8; // 16-bit elements in 16 bytes
constexpr int64_t kMostShare = 16;

/// Pattern logits = cast(dot + bias); the bias and the cast may be missing.
struct Head {
  CrossEntropyOp loss;
  CastOp cast;
  AddOp sum;
  BroadcastOp bias;
  DotGeneralOp dot;

  int64_t classes() { return dot.getType().getShape().back(); }
  int64_t padding() { return (kMultiple - classes() % kMultiple) % kMultiple; }
};

/// Returns the op of `value`, if it is in this block and has no other reader.
template <typename Op> Op findOnly(CrossEntropyOp loss, Value value) {
  auto op = value.getDefiningOp<Op>();
  return op && op->hasOneUse() && op->getBlock() == loss->getBlock() ? op : Op();
}

/// Returns the broadcast of `value`, if it repeats one element for each class.
BroadcastOp findBias(Value value) {
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  bool isBias =
      broadcast && broadcast.getDims() == ArrayRef<int64_t>{broadcast.getType().getRank() - 1};
  return isBias ? broadcast : BroadcastOp();
}

std::optional<Head> findHead(CrossEntropyOp loss) {
  Head head;
  head.loss = loss;
  Value value = loss.getLogits();
  if ((head.cast = findOnly<CastOp>(loss, value)))
    value = head.cast.getOperand();
  if ((head.sum = findOnly<AddOp>(loss, value))) {
    bool isSwapped = !findBias(head.sum.getRhs());
    head.bias = findBias(isSwapped ? head.sum.getLhs() : head.sum.getRhs());
    value = isSwapped ? head.sum.getRhs() : head.sum.getLhs();
    if (!head.bias)
      return std::nullopt;
  }
  head.dot = findOnly<DotGeneralOp>(loss, value);
  bool isUseful = head.dot && isHalf(head.dot.getType()) && isHalf(head.dot.getLhs().getType()) &&
                  head.dot.getRhsFree().size() == 1 && head.padding() > 0 &&
                  head.padding() * kMostShare <= head.classes();
  return isUseful ? std::optional(head) : std::nullopt;
}

class Padder {
public:
  explicit Padder(const Head &head) : head(head), builder(head.dot) {}

  void run() {
    DotGeneralOp dot = head.dot;
    Value columns = pad(dot.getRhs(), dot.getRhsFree()[0], 0);
    Value bias = makeBias();
    Value logits =
        keep(dot, DotGeneralOp::create(builder, dot.getLoc(), widen(dot.getType()), dot.getLhs(),
                                       columns, dot.getLhsBatchAttr(), dot.getRhsBatchAttr(),
                                       dot.getLhsContractingAttr(), dot.getRhsContractingAttr(),
                                       dot.getAccumulationAttr(), dot.getReplayAttr()));
    builder.setInsertionPoint(head.loss);
    logits = addBias(logits, bias);
    if (head.cast)
      logits = keep(head.cast, CastOp::create(builder, head.cast.getLoc(),
                                              widen(head.cast.getType()), logits));
    head.loss.getLogitsMutable().assign(logits);
    head.loss.getLabelsMutable().assign(clampLabels());
    for (Operation *op : {head.cast.getOperation(), head.sum.getOperation(), dot.getOperation()})
      if (op)
        op->erase();
  }

private:
  /// Makes the padded bias, which is minus infinity for padding, so that padded classes have no
  /// share. It stands before the contraction if possible, so that one launch can hold both.
  Value makeBias() {
    Value bias = head.bias ? head.bias.getOperand()
                           : makeZeros(head.dot.getType().getElementType(), head.dot.getLoc());
    OpBuilder::InsertionGuard guard(builder);
    Operation *source = bias.getDefiningOp();
    if (source && source->getBlock() == head.dot->getBlock() && !source->isBeforeInBlock(head.dot))
      builder.setInsertionPoint(head.loss);
    return pad(bias, 0, -std::numeric_limits<double>::infinity());
  }

  Value addBias(Value logits, Value bias) {
    auto type = cast<RankedTensorType>(logits.getType());
    Location loc = head.sum ? head.sum.getLoc() : head.dot.getLoc();
    Value repeated = BroadcastOp::create(builder, loc, type, bias, {type.getRank() - 1});
    auto sum = AddOp::create(builder, loc, logits, repeated);
    return head.sum ? keep(head.sum, sum) : sum.getResult();
  }

  Value makeZeros(Type element, Location loc) {
    auto type = RankedTensorType::get({head.classes()}, element);
    auto zeros = DenseElementsAttr::get(type, FloatAttr::get(element, 0.0));
    return ConstantOp::create(builder, loc, zeros);
  }

  /// A label beyond the last class means that one.
  Value clampLabels() {
    Value labels = head.loss.getLabels();
    auto type = cast<RankedTensorType>(labels.getType());
    auto most = IntegerAttr::get(type.getElementType(), head.classes() - 1);
    Value last =
        ConstantOp::create(builder, head.loss.getLoc(), DenseElementsAttr::get(type, most));
    return MinimumOp::create(builder, head.loss.getLoc(), labels, last);
  }

  Value pad(Value value, int64_t dim, double with) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> none(type.getRank()), high(type.getRank());
    high[dim] = head.padding();
    return PadOp::create(builder, value.getLoc(), value,
                         FloatAttr::get(type.getElementType(), with), none, high, none);
  }

  RankedTensorType widen(RankedTensorType type) {
    SmallVector<int64_t> shape(type.getShape());
    shape.back() += head.padding();
    return type.clone(shape);
  }

  /// Gives an op the attributes of the op that it replaces.
  template <typename Op> Value keep(Operation *old, Op made) {
    made->setDiscardableAttrs(old->getDiscardableAttrDictionary());
    return made.getResult();
  }

  Head head;
  OpBuilder builder;
};

struct PadClassesPass : impl::PadClassesPassBase<PadClassesPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<CrossEntropyOp> losses;
    getOperation().walk([&](CrossEntropyOp op) { losses.push_back(op); });
    for (CrossEntropyOp loss : losses)
      if (std::optional<Head> head = findHead(loss))
        Padder(*head).run();
  }
};

} // namespace
} // namespace reprise
