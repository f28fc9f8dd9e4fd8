// reprise: values of a launch's body as views of the launch's buffers
#include "reprise/Conversion/BodyView.h"

using namespace mlir;

namespace reprise {

std::optional<BodyView> viewOfArgument(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return BodyView{argument.getArgNumber(), StridedView::of(cast<ShapedType>(value.getType()))};
  auto view = value.getDefiningOp<ViewOpInterface>();
  if (!view)
    return std::nullopt;
  auto source = viewOfArgument(view->getOperand(0));
  if (!source)
    return std::nullopt;
  auto composed = view.composeView(source->view);
  if (!composed)
    return std::nullopt;
  return BodyView{source->argument, *composed};
}

} // namespace reprise
