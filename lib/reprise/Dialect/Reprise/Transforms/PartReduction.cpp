// reprise: reductions of arrays in parts
#include "reprise/Dialect/Reprise/Transforms/PartReduction.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace reprise {

/// Elements of a block of a reduction over the last dimension.
static constexpr int64_t kBlockElements = 4096;

bool reducesParts(Operation *op) {
  if (!isa<SumOp, ProdOp, MaxOp, MinOp>(op))
    return false;
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  bool rounds =
      isa<SumOp, ProdOp>(op) && getComputeType(type.getElementType()) != type.getElementType();
  return cast<RankedTensorType>(op->getResult(0).getType()).getRank() == 0 && type.getRank() > 0 &&
         type.getNumElements() > 0 && !rounds;
}

namespace {

/// Reduction of the elements [begin, end) of a flat array in parts.
class PartReducer {
public:
  PartReducer(Operation *op, ArrayRef<Value> parts, function_ref<void(Operation *, int64_t)> mark)
      : op(op), builder(op), parts(parts), flat(parts.size()), mark(mark) {
    for (Value part : parts)
      offsets.push_back(offsets.back() + cast<RankedTensorType>(part.getType()).getNumElements());
  }

  Value run() {
    int64_t blocks = llvm::divideCeil(offsets.back(), kBlockElements);
    return reduceNode(blocks <= 1 ? 0 : llvm::Log2_64_Ceil(blocks), 0);
  }

private:
  /// Reduces node `number` of a level; a node of level 0 is a block.
  Value reduceNode(int64_t level, int64_t number) {
    int64_t size = kBlockElements << level, begin = number * size,
            end = std::min(begin + size, offsets.back());
    int64_t part = llvm::upper_bound(offsets, begin) - offsets.begin() - 1;
    if (level == 0 || end <= offsets[part + 1])
      return reduceRange(part, begin, end);
    Value low = reduceNode(level - 1, 2 * number);
    if (begin + size / 2 >= end)
      return low; // an odd last node moves up
    return combine(low, reduceNode(level - 1, 2 * number + 1));
  }

  Value combine(Value low, Value high) {
    StringRef name = isa<SumOp>(op)    ? AddOp::getOperationName()
                     : isa<ProdOp>(op) ? MulOp::getOperationName()
                     : isa<MaxOp>(op)  ? MaximumOp::getOperationName()
                                       : MinimumOp::getOperationName();
    OperationState state(op->getLoc(), name, {low, high}, {low.getType()});
    Operation *made = builder.create(state);
    made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    return made->getResult(0);
  }

  /// Reduces elements that begin in a part.
  Value reduceRange(int64_t part, int64_t begin, int64_t end) {
    SmallVector<Value> pieces;
    for (int64_t at = begin, own = part; at < end; ++own) {
      int64_t last = std::min(end, offsets[own + 1]);
      if (at < last)
        pieces.push_back(slice(own, at - offsets[own], last - offsets[own]));
      at = std::max(at, last);
    }
    Value range = pieces.front();
    if (pieces.size() > 1) {
      Operation *join =
          ConcatenateOp::create(builder, op->getLoc(), flatType(end - begin), pieces, 0);
      mark(join, part);
      range = join->getResult(0);
    }
    Operation *made = builder.clone(*op);
    made->setOperand(0, range);
    made->setAttr("dims", builder.getDenseI64ArrayAttr({0}));
    mark(made, part);
    return made->getResult(0);
  }

  Value slice(int64_t part, int64_t begin, int64_t end) {
    Value &own = flat[part];
    int64_t size = offsets[part + 1] - offsets[part];
    if (!own) {
      Operation *made =
          reprise::ReshapeOp::create(builder, op->getLoc(), flatType(size), parts[part]);
      mark(made, part);
      own = made->getResult(0);
    }
    if (begin == 0 && end == size)
      return own;
    Operation *made = reprise::SliceOp::create(builder, op->getLoc(), flatType(end - begin), own,
                                               ArrayRef<int64_t>{begin}, ArrayRef<int64_t>{end},
                                               ArrayRef<int64_t>{1});
    mark(made, part);
    return made->getResult(0);
  }

  RankedTensorType flatType(int64_t size) const {
    return RankedTensorType::get(
        {size}, cast<RankedTensorType>(op->getOperand(0).getType()).getElementType());
  }

  Operation *op;
  OpBuilder builder;
  ArrayRef<Value> parts;
  SmallVector<Value> flat;         ///< parts with one dimension
  SmallVector<int64_t> offsets{0}; ///< first element of each part, and the number of elements
  function_ref<void(Operation *, int64_t)> mark;
};

} // namespace

Value reduceParts(Operation *op, ArrayRef<Value> parts,
                  function_ref<void(Operation *, int64_t)> mark) {
  return PartReducer(op, parts, mark).run();
}

} // namespace reprise
