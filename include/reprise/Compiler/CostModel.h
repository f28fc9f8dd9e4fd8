// reprise: how long ops take, for planners and reports: a roofline of the device
#ifndef REPRISE_COMPILER_COSTMODEL_H
#define REPRISE_COMPILER_COSTMODEL_H

#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"

#include <map>
#include <string>

namespace reprise {

/// Peak rates of a device; all per second, for the threads that the program is compiled for.
struct DeviceRates {
  std::map<std::string, double> contractionFlops; ///< by dtype: f32, f64, bf16, f16
  double elementwiseFlops = 0;                    ///< of all ops that are no contraction
  double bytes = 0;                               ///< to and from memory
  double launchSeconds = 0;                       ///< what a launch costs before it does anything
};

/// Where seconds come from.
struct CostSources {
  std::string target = "cpu"; ///< as Target::get reads it
  /// On a CPU; 0 is two, whatever the machine has: the same input gives the same plan everywhere.
  unsigned threads = 0;
};

/// The same sources give the same seconds on every machine.
class CostModel {
public:
  /// The model of the target's built-in device. Errors, at `location`: no such target.
  static mlir::FailureOr<CostModel> load(const CostSources &sources, mlir::Location location);

  /// Seconds that one execution of `op` takes if it moves `bytes` to and from memory: the roofline
  /// max(flops / rate, bytes / bandwidth), without the launch. An op that has no CostOpInterface,
  /// such as a loop, has no flops of its own.
  double getSeconds(mlir::Operation *op, int64_t bytes) const;
  /// What each launch costs beside the seconds of its ops.
  double getLaunchSeconds() const { return rates.launchSeconds; }

private:
  explicit CostModel(DeviceRates rates) : rates(std::move(rates)) {}

  double getRate(mlir::Operation *op) const;

  DeviceRates rates;
};

} // namespace reprise

#endif // REPRISE_COMPILER_COSTMODEL_H
