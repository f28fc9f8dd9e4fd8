// reprise: the forms that a plan may give a device program, as a table
#ifndef REPRISE_COMPILER_PLANNER_FORMS_H
#define REPRISE_COMPILER_PLANNER_FORMS_H

#include "PlanSearch.h"

namespace reprise {

/// A kind of forms. A new one is a function and a row of `listForms`.
struct FormKind {
  llvm::StringLiteral name;
  /// Adds the program in such forms to the search, where it can have them. A later kind may build
  /// on forms that an earlier one has added.
  mlir::LogicalResult (*add)(PlanSearch &search);
};
llvm::ArrayRef<FormKind> listForms();

/// Adds all forms that compete for every budget, once.
mlir::LogicalResult addForms(PlanSearch &search);

/// Adds the program with its loops unrolled, also with a large gradient that waits.
mlir::LogicalResult addUnrolled(PlanSearch &search);

/// Completes `relaxed` for all forms that there are.
mlir::LogicalResult addRelaxed(PlanSearch &search);

} // namespace reprise

#endif // REPRISE_COMPILER_PLANNER_FORMS_H
