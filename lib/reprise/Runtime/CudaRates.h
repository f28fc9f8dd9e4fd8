// reprise: measured limits of a GPU
#ifndef REPRISE_LIB_RUNTIME_CUDARATES_H
#define REPRISE_LIB_RUNTIME_CUDARATES_H

#include "CudaDriver.h"
#include "reprise/Runtime/MachineRates.h"

namespace reprise::runtime::cuda {

/// Measures the rates. The copy uses two buffers of eight times the second-level cache; operations
/// are those of all multiprocessors at the driver's clock rate. The context is current.
Expected<MachineRates> measureRates(const Driver &driver, Number device);

} // namespace reprise::runtime::cuda

#endif // REPRISE_LIB_RUNTIME_CUDARATES_H
