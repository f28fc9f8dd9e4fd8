// reprise: the files that seconds come from: devices and profiles
#ifndef REPRISE_LIB_COSTS_COSTFILES_H
#define REPRISE_LIB_COSTS_COSTFILES_H

#include "reprise/Costs/CostModel.h"

#include <vector>

namespace reprise {

/// Reads `{"version": 1, "name", "flops": {"f32", …}, "elementwise_flops", "bytes_per_second",
/// "launch_seconds", "memory", "link_bytes_per_second"}`
/// (docs/reference/schemas/device.schema.json).
mlir::FailureOr<DeviceRates> readDeviceFile(llvm::StringRef path, mlir::Location from);

/// An op of a measured launch.
struct ProfiledOp {
  std::string name, kind, dtype;
  std::string signature; ///< getSignature as 16 hexadecimal digits
  double flops = 0;      ///< of one execution
};

/// All that ran under one launch's name in a step, with what packs for it or adds its parts.
struct ProfiledLaunch {
  double seconds = 0;          ///< of a step
  double calls = 0, bytes = 0; ///< of a step
  std::vector<ProfiledOp> ops;
  bool isCall = false; ///< of a library, whose ops are not known
};

/// What `reprise-run --profile-out` wrote.
struct CostProfile {
  std::string target, entry;
  unsigned threads = 0;  ///< of each program
  unsigned programs = 1; ///< that ran together
  double stepSeconds = 0;
  std::vector<ProfiledLaunch> launches;
};
mlir::FailureOr<CostProfile> readProfile(llvm::StringRef path, mlir::Location from);

} // namespace reprise

#endif // REPRISE_LIB_COSTS_COSTFILES_H
