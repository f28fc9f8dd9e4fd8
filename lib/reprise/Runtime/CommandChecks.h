// reprise: the checks of library calls, transfers and events in a bundle
#ifndef REPRISE_LIB_RUNTIME_COMMANDCHECKS_H
#define REPRISE_LIB_RUNTIME_COMMANDCHECKS_H

#include "reprise/Runtime/Bundle.h"

namespace reprise::runtime {

/// Checks the fields of one command: fails if a field is out of range, or is set although the
/// command's kind does not use it.
Error checkExplicit(const Command &command);

/// Checks the order of a program whose commands are each valid: a wait has an event, a transfer is
/// waited for, and no two accesses to the same bytes run beside one another if one of them writes.
Error checkOrder(const Program &program);

} // namespace reprise::runtime

#endif // REPRISE_LIB_RUNTIME_COMMANDCHECKS_H
