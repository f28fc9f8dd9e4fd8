// reprise: what a GPU can do at most
#ifndef REPRISE_LIB_RUNTIME_CUDARATES_H
#define REPRISE_LIB_RUNTIME_CUDARATES_H

#include "CudaDriver.h"
#include "reprise/Runtime/MachineRates.h"

namespace reprise::runtime::cuda {

/// The copy is measured, with twice eight times the second-level cache of memory; operations are
/// those of all multiprocessors at the clock that the driver names. The context is current.
Expected<MachineRates> measureRates(const Driver &driver, Number device);

} // namespace reprise::runtime::cuda

#endif // REPRISE_LIB_RUNTIME_CUDARATES_H
