// reprise: the order of arguments and results of programs that are parts of one step
#ifndef REPRISE_LIB_CONVERSION_EXECTOBUNDLE_PROGRAMORDER_H
#define REPRISE_LIB_CONVERSION_EXECTOBUNDLE_PROGRAMORDER_H

#include "reprise/Conversion/ExecToBundle.h"
#include "reprise/Dialect/Reprise/IR/EntrySignature.h"

namespace reprise {

/// The arguments of all programs, each a device and a number, in the order of the step.
std::vector<std::pair<size_t, unsigned>> listArguments(llvm::ArrayRef<BundlePrograms> devices);

/// Brings the results of a bundle into the order of the step.
void sortResults(runtime::Bundle &bundle, llvm::ArrayRef<BundlePrograms> devices);

/// Returns the rows of an array of the step that an argument or a result has.
runtime::Rows describeRows(const std::optional<EntrySignature::Rows> &rows);

} // namespace reprise

#endif // REPRISE_LIB_CONVERSION_EXECTOBUNDLE_PROGRAMORDER_H
