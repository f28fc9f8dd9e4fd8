// reprise: views and the values whose buffer they share.
#include "Aliases.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace reprise;

/// Returns the view that `value` is of its operand's root, which is known already.
std::optional<Aliases::Entry> Aliases::compose(Value value) {
  auto view = value.getDefiningOp<ViewOpInterface>();
  if (!view)
    return std::nullopt;
  const Entry &source = *entries.at(view->getOperand(0));
  std::optional<StridedView> composed = view.composeView(source.view);
  if (!composed)
    return std::nullopt;
  return Entry{source.root, *composed};
}

const Aliases::Entry &Aliases::find(Value value) {
  // Views of views first, without recursion: chains may be long.
  SmallVector<Value> chain;
  for (Value next = value; !entries.contains(next);) {
    chain.push_back(next);
    auto view = next.getDefiningOp<ViewOpInterface>();
    if (!view)
      break;
    next = view->getOperand(0);
  }
  for (Value next : llvm::reverse(chain)) {
    std::optional<Entry> entry = compose(next);
    if (!entry)
      entry = Entry{next, StridedView::of(cast<ShapedType>(next.getType()))};
    entries[next] = std::make_unique<Entry>(std::move(*entry));
  }
  return *entries.at(value);
}
