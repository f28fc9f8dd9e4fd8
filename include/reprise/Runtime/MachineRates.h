// reprise: what this machine can do at most, measured: the two bounds of the roofline model
#ifndef REPRISE_RUNTIME_MACHINERATES_H
#define REPRISE_RUNTIME_MACHINERATES_H

#include "reprise/Runtime/Error.h"

namespace reprise::runtime {

/// The roofline model (Williams, Waterman, Patterson, CACM 52(4), 2009, section 3): a kernel takes
/// at least max(flops / peak, bytes / bandwidth) seconds.
struct MachineRates {
  /// f32 operations per second of fused multiply-adds in registers, two operations each.
  double peakFlops = 0;
  /// Bytes per second, read and written together, of a copy that fits into no cache.
  double copyBytes = 0;

  double boundSeconds(double flops, double bytes) const;
};

/// Measures with `threads` workers, in about a tenth of a second. Needs 128 MiB for that time;
/// fails if they or the workers are not to be had.
Expected<MachineRates> measureMachineRates(unsigned threads);

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_MACHINERATES_H
