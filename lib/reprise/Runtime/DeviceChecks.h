// reprise: the checks of a bundle with programs of several devices
#ifndef REPRISE_LIB_RUNTIME_DEVICECHECKS_H
#define REPRISE_LIB_RUNTIME_DEVICECHECKS_H

#include "reprise/Runtime/Bundle.h"

namespace reprise::runtime {

/// Checks the names of the devices, and that every program, result and comparison belongs to one of
/// them.
Error checkDevices(const Bundle &bundle);

/// Checks a bundle whose programs are each valid: only one device has an argument that a result
/// replaces, transfers are between steps of the bundle, and all programs end.
Error checkExchange(const Bundle &bundle);

} // namespace reprise::runtime

#endif // REPRISE_LIB_RUNTIME_DEVICECHECKS_H
