// reprise: measured limits of this machine: the two bounds of the roofline model
#ifndef REPRISE_RUNTIME_MACHINERATES_H
#define REPRISE_RUNTIME_MACHINERATES_H

#include "reprise/Runtime/Error.h"

namespace reprise::runtime {

/// Rates of the roofline model (Williams, Waterman, Patterson, CACM 52(4), 2009, section 3): a
/// kernel needs at least max(flops / peak, bytes / bandwidth) seconds.
struct MachineRates {
  /// Peak f32 operations per second of fused multiply-adds in registers, two operations each.
  double peakFlops = 0;
  /// Bytes per second of a copy that fits into no cache; reads and writes both count.
  double copyBytes = 0;

  double boundSeconds(double flops, double bytes) const;
};

/// Measures with `threads` workers, in about 0.1 seconds. Needs 128 MiB during the measurement.
/// Fails if the memory or the workers cannot be allocated.
Expected<MachineRates> measureMachineRates(unsigned threads);

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_MACHINERATES_H
