// reprise: the checks of a bundle with programs of several devices
#ifndef REPRISE_LIB_RUNTIME_DEVICECHECKS_H
#define REPRISE_LIB_RUNTIME_DEVICECHECKS_H

#include "reprise/Runtime/Bundle.h"

namespace reprise::runtime {

/// The names of the devices, and that every program, result and comparison is of one of them.
Error checkDevices(const Bundle &bundle);

/// Of a bundle whose programs are each sound: an argument that a result replaces is named by no
/// other device, transfers are between steps of the bundle, and all programs come to their ends.
Error checkExchange(const Bundle &bundle);

} // namespace reprise::runtime

#endif // REPRISE_LIB_RUNTIME_DEVICECHECKS_H
