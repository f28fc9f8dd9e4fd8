// reprise: differences between the rates of a device and measurements
#ifndef REPRISE_COSTS_KINDERROR_H
#define REPRISE_COSTS_KINDERROR_H

namespace reprise {

/// Comparison of the device's rates with a profile, for one kind of ops.
struct KindError {
  double ops = 0;      ///< executions per step
  double measured = 0; ///< seconds per step
  double modelled = 0;
  /// Sum of the absolute errors of launches, weighted by the share of this kind in each launch.
  /// Errors of opposite sign do not cancel.
  double deviation = 0;

  /// Returns the deviation as a fraction of the measured seconds.
  double relative() const { return measured > 0 ? deviation / measured : 0; }
};

} // namespace reprise

#endif // REPRISE_COSTS_KINDERROR_H
