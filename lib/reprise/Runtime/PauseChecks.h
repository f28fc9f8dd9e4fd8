// reprise: the checks of the pause of a step
#ifndef REPRISE_LIB_RUNTIME_PAUSECHECKS_H
#define REPRISE_LIB_RUNTIME_PAUSECHECKS_H

#include "reprise/Runtime/Bundle.h"

namespace reprise::runtime {

/// Fails on a pause where a program cannot stop.
Error checkPause(const Bundle &bundle, const Program &program);

} // namespace reprise::runtime

#endif // REPRISE_LIB_RUNTIME_PAUSECHECKS_H
