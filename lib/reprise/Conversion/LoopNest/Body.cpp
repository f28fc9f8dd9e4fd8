// reprise: copies a group's body and expands what is made of simpler ops
#include "Program.h"

#include "reprise/Dialect/Reprise/IR/Decompose.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace reprise::nests {

static RankedTensorType tensor(Value value) { return cast<RankedTensorType>(value.getType()); }

int64_t Body::countMostElements() const {
  int64_t most = 0;
  auto see = [&](Value value) { most = std::max(most, tensor(value).getNumElements()); };
  func::FuncOp of = *function;
  llvm::for_each(of.getArguments(), see);
  of.walk([&](Operation *op) { llvm::for_each(op->getResults(), see); });
  return most;
}

/// The least index of an element that is the maximum, or a NaN if that is the maximum.
static void expandArgmax(ArgmaxOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Value x = op.getOperand();
  RankedTensorType type = tensor(x);
  int64_t dim = op.getDim();
  SmallVector<int64_t> kept;
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (d != dim)
      kept.push_back(d);
  Value maximum = MaxOp::create(b, x, ArrayRef<int64_t>{dim});
  Value spread = BroadcastOp::create(b, type, maximum, kept);
  Value chosen = CompareOp::create(b, ComparePredicate::eq, x, spread);
  if (isa<FloatType>(type.getElementType())) {
    auto always = DenseElementsAttr::get(tensor(chosen), true);
    chosen = SelectOp::create(b, chosen, ConstantOp::create(b, always),
                              CompareOp::create(b, ComparePredicate::ne, x, x));
  }
  RankedTensorType indices = type.clone(tensor(op.getResult()).getElementType());
  Value none = ConstantOp::create(
      b, DenseElementsAttr::get(indices,
                                b.getIntegerAttr(indices.getElementType(), type.getDimSize(dim))));
  Value candidate = SelectOp::create(b, chosen, IotaOp::create(b, indices, dim), none);
  op.getResult().replaceAllUsesWith(
      MinOp::create(b, candidate, ArrayRef<int64_t>{dim}).getResult());
  op.erase();
}

/// The value of one element that all elements of a view are; null if they are not one.
static Value findSplat(Operation *view) {
  while (auto inner = dyn_cast_or_null<ViewOpInterface>(view)) {
    Value source = inner->getOperand(0);
    if (tensor(source).getNumElements() == 1)
      return source;
    view = source.getDefiningOp();
  }
  return nullptr;
}

/// Views of views of one element are one view, so that they divide no dimension of the nest.
static void shortenSplat(Operation *view) {
  Value element = findSplat(view);
  if (!element || element == view->getOperand(0))
    return;
  OpBuilder builder(view);
  if (tensor(element).getRank() != 0)
    element = ReshapeOp::create(builder, view->getLoc(), tensor(element).clone(ArrayRef<int64_t>()),
                                element);
  auto whole = BroadcastOp::create(builder, view->getLoc(), view->getResult(0).getType(), element,
                                   ArrayRef<int64_t>());
  view->replaceAllUsesWith(whole);
  view->erase();
}

FailureOr<Body> simplifyBody(Block &block, Operation *contraction) {
  MLIRContext *context = block.getParentOp()->getContext();
  Location location = block.getParentOp()->getLoc();
  Body body;
  body.function = func::FuncOp::create(
      location, "body", FunctionType::get(context, TypeRange(block.getArgumentTypes()), {}));
  Block *copy = body.function->addEntryBlock();
  IRMapping mapping;
  mapping.map(block.getArguments(), copy->getArguments());
  if (contraction)
    mapping.map(contraction->getResult(0),
                copy->addArgument(contraction->getResult(0).getType(), location));
  OpBuilder builder = OpBuilder::atBlockEnd(copy);
  for (Operation &op : block.without_terminator()) {
    if (&op == contraction)
      continue;
    if (!isa<LoopOpInterface, AloneOpInterface>(op))
      return failure();
    builder.clone(op, mapping);
  }
  // The results hold on to the copies while these are replaced.
  Operation *end = func::ReturnOp::create(builder, location, ValueRange());
  for (Value result : block.getTerminator()->getOperands())
    end->insertOperands(end->getNumOperands(), mapping.lookupOrDefault(result));
  for (Operation &op : llvm::make_early_inc_range(*copy)) {
    if (auto name = dyn_cast<NameOp>(op)) {
      name.replaceAllUsesWith(name.getOperand());
      name.erase();
    } else if (auto composite = dyn_cast<DecomposableOpInterface>(op)) {
      composite->replaceAllUsesWith(buildDefinition(composite));
      composite.erase();
    } else if (auto argmax = dyn_cast<ArgmaxOp>(op)) {
      expandArgmax(argmax);
    } else if (isa<ViewOpInterface>(op)) {
      shortenSplat(&op);
    }
  }
  llvm::append_range(body.results, end->getOperands());
  return body;
}

} // namespace reprise::nests
