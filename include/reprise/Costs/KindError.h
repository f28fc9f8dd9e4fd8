// reprise: how far the rates of a device are from what was measured
#ifndef REPRISE_COSTS_KINDERROR_H
#define REPRISE_COSTS_KINDERROR_H

namespace reprise {

/// How the device's rates alone compare with a profile, for one kind of ops.
struct KindError {
  double ops = 0;      ///< executions of a step
  double measured = 0; ///< seconds of a step
  double modelled = 0;
  /// Of launches, in the proportion of this kind in them: what is too long in one does not make up
  /// for what is too short in another.
  double deviation = 0;

  /// The deviation as a fraction of what was measured.
  double relative() const { return measured > 0 ? deviation / measured : 0; }
};

} // namespace reprise

#endif // REPRISE_COSTS_KINDERROR_H
