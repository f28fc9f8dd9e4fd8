// reprise: which part of its buffer a value of a launch's body is
#ifndef REPRISE_CONVERSION_BODYVIEW_H
#define REPRISE_CONVERSION_BODYVIEW_H

#include "reprise/Interfaces/Interfaces.h"

namespace reprise {

/// The buffer and the strided view of it that a value of a body is: an argument, or views of one.
struct BodyView {
  unsigned argument;
  StridedView view;
};

/// None where strides cannot express it.
std::optional<BodyView> viewOfArgument(mlir::Value value);

} // namespace reprise

#endif // REPRISE_CONVERSION_BODYVIEW_H
