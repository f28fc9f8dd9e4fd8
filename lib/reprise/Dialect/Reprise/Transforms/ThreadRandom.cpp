// reprise: threads the Philox state through the entry function.
#include "reprise/Dialect/Reprise/Transforms/Passes.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace reprise {
#define GEN_PASS_DEF_THREADRANDOMPASS
#include "reprise/Dialect/Reprise/Transforms/Passes.h.inc"

namespace {

/// Words that the op may draw: the elements of its global tensor, rounded up to 4.
int64_t countWords(RandomOpInterface op) {
  int64_t elements = 1;
  for (int64_t size : op.getDrawnGlobalShape())
    elements *= size;
  return llvm::alignTo(elements, 4);
}

/// The first argument with the role, or a new one at the end.
Value stateArgument(func::FuncOp entry, StringRef role) {
  auto type = RankedTensorType::get({}, IntegerType::get(entry.getContext(), 64));
  for (unsigned i = 0; i < entry.getNumArguments(); ++i)
    if (auto attribute = entry.getArgAttrOfType<StringAttr>(i, "reprise.role");
        attribute && attribute.getValue() == role)
      return entry.getArgument(i);
  Builder builder(entry.getContext());
  auto attributes = builder.getDictionaryAttr(
      {builder.getNamedAttr("reprise.role", builder.getStringAttr(role)),
       builder.getNamedAttr("reprise.name", builder.getStringAttr(role))});
  unsigned index = entry.getNumArguments();
  if (failed(entry.insertArgument(index, type, attributes, entry.getLoc())))
    return {};
  return entry.getArgument(index);
}

/// Returns offset + words as the result named "offset".
LogicalResult returnNextOffset(func::FuncOp entry, Value offset, int64_t words) {
  Operation *terminator = entry.getBody().front().getTerminator();
  ImplicitLocOpBuilder builder(entry.getLoc(), terminator);
  auto type = cast<RankedTensorType>(offset.getType());
  Value count =
      ConstantOp::create(builder, DenseElementsAttr::get(type, builder.getI64IntegerAttr(words)));
  Value next = AddOp::create(builder, offset, count);
  terminator->insertOperands(terminator->getNumOperands(), next);
  return entry.insertResult(entry.getNumResults(), type,
                            builder.getDictionaryAttr(builder.getNamedAttr(
                                "reprise.name", builder.getStringAttr("offset"))));
}

struct ThreadRandomPass : impl::ThreadRandomPassBase<ThreadRandomPass> {
  using Base::Base;

  void runOnOperation() override {
    for (auto entry : getOperation().getOps<func::FuncOp>())
      if (failed(thread(entry)))
        return signalPassFailure();
  }

  LogicalResult thread(func::FuncOp entry) {
    for (unsigned i = 0; i < entry.getNumArguments(); ++i)
      if (auto name = entry.getArgAttrOfType<StringAttr>(i, "reprise.name"))
        if (llvm::is_contained({"seed", "offset"}, name.getValue()))
          return entry.emitError("the argument name '") << name.getValue() << "' is reserved";
    Value seed = stateArgument(entry, "seed"), offset = stateArgument(entry, "offset");
    if (!seed || !offset)
      return failure();
    int64_t words = 0;
    entry.walk([&](RandomOpInterface op) {
      if (!op.draws() || op.getSeedOperand())
        return;
      op.threadState(seed, offset);
      words = std::max(words, countWords(op));
    });
    return returnNextOffset(entry, offset, words);
  }
};

} // namespace
} // namespace reprise
