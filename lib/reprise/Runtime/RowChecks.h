// reprise: the checks of arrays whose rows lie on several devices
#ifndef REPRISE_LIB_RUNTIME_ROWCHECKS_H
#define REPRISE_LIB_RUNTIME_ROWCHECKS_H

#include "reprise/Runtime/Bundle.h"

namespace reprise::runtime {

/// Checks arguments and results with valid shapes: rows of an array lie in it, and in a bundle of
/// several devices all parts of an array follow each other, from its first row to its last.
Error checkRows(const Bundle &bundle);

} // namespace reprise::runtime

#endif // REPRISE_LIB_RUNTIME_ROWCHECKS_H
