// reprise: replacement of an op of the plan by its definition
#ifndef REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_EXPANDDEFINITION_H
#define REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_EXPANDDEFINITION_H

#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise {

/// Replaces the op by its definition, whose ops inherit its label, block and place.
void expandDefinition(DecomposableOpInterface op);

} // namespace reprise

#endif // REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_EXPANDDEFINITION_H
