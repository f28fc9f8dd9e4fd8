// reprise: the files with rates and measurements: devices and profiles
#ifndef REPRISE_LIB_COSTS_COSTFILES_H
#define REPRISE_LIB_COSTS_COSTFILES_H

#include "reprise/Costs/CostModel.h"

#include <vector>

namespace reprise {

/// Reads `{"version": 1, "name", "flops": {"f32", …}, "elementwise_flops", "bytes_per_second",
/// "launch_seconds", "memory", "link_bytes_per_second"}`
/// (docs/reference/schemas/device.schema.json).
mlir::FailureOr<DeviceRates> readDeviceFile(llvm::StringRef path, mlir::Location from);

/// Op of a measured launch.
struct ProfiledOp {
  std::string name, kind, dtype;
  std::string signature; ///< getSignature as 16 hexadecimal digits
  double flops = 0;      ///< FLOPs of one execution
};

/// Kernels of one launch in a step, including those that pack for it or add its parts.
struct ProfiledLaunch {
  double seconds = 0;          ///< seconds per step
  double calls = 0, bytes = 0; ///< per step
  std::vector<ProfiledOp> ops;
  bool isCall = false; ///< a library call, whose ops are unknown
};

/// Profile that `reprise-run --profile-out` wrote.
struct CostProfile {
  std::string target, entry;
  unsigned threads = 0;  ///< threads of each program
  unsigned programs = 1; ///< programs that ran together
  double stepSeconds = 0;
  std::vector<ProfiledLaunch> launches;
};
mlir::FailureOr<CostProfile> readProfile(llvm::StringRef path, mlir::Location from);

} // namespace reprise

#endif // REPRISE_LIB_COSTS_COSTFILES_H
