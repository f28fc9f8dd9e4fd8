// reprise: the forms that a plan may give a device program, as a table
#ifndef REPRISE_COMPILER_PLANNER_FORMS_H
#define REPRISE_COMPILER_PLANNER_FORMS_H

#include "PlanSearch.h"

namespace reprise {

/// A kind of forms. A new kind needs a function and a row of `listForms`.
struct FormKind {
  llvm::StringLiteral name;
  /// Adds the program in forms of this kind to the search, if the program can have such a form. A
  /// later kind may build on the forms of an earlier kind.
  mlir::LogicalResult (*add)(PlanSearch &search);
};
llvm::ArrayRef<FormKind> listForms();

/// Adds all forms that compete for every budget, if none was added yet.
mlir::LogicalResult addForms(PlanSearch &search);

/// Adds the program with unrolled loops, with and without a deferred gradient.
mlir::LogicalResult addUnrolled(PlanSearch &search);

/// Adds a relaxed step (PlanSearch::relaxed) for each form without one.
mlir::LogicalResult addRelaxed(PlanSearch &search);

} // namespace reprise

#endif // REPRISE_COMPILER_PLANNER_FORMS_H
