// reprise: values of a launch's body as views of the launch's buffers
#ifndef REPRISE_CONVERSION_BODYVIEW_H
#define REPRISE_CONVERSION_BODYVIEW_H

#include "reprise/Interfaces/Interfaces.h"

namespace reprise {

/// Strided view of a buffer that a value of a body is: an argument, or views of an argument.
struct BodyView {
  unsigned argument;
  StridedView view;
};

/// Returns the view of an argument that `value` is; none if strides cannot express it.
std::optional<BodyView> viewOfArgument(mlir::Value value);

} // namespace reprise

#endif // REPRISE_CONVERSION_BODYVIEW_H
