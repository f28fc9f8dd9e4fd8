// reprise: durations of ops for planners and reports: arithmetic, traffic and launches
#ifndef REPRISE_COSTS_COSTMODEL_H
#define REPRISE_COSTS_COSTMODEL_H

#include "reprise/Costs/KindError.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Planning/Pipeline/Links.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace reprise {

struct CostProfile;
struct ProfiledLaunch;

/// Peak rates of a device; all per second, for the threads that the program is compiled for.
struct DeviceRates {
  std::string name;
  std::map<std::string, double> contractionFlops; ///< by dtype: f32, f64, bf16, f16
  std::map<std::string, double> attentionFlops;   ///< by dtype; empty: a share of contractionFlops
  /// Rates of tensor cores on 16-bit types (half for TF32), and of libraries on the same types;
  /// none: contractionFlops.
  std::optional<double> tensorFlops, libraryFlops;
  double elementwiseFlops = 0; ///< rate of all ops other than contractions
  double bytes = 0;            ///< to and from memory
  double launchSeconds = 0;    ///< fixed cost of a launch
  double link = 0; ///< bytes per second to another device; 0: the rate of a copy in memory
  /// Devices per node, and bytes per second to a device of another node; 0: one node.
  int64_t nodeDevices = 0;
  double network = 0;
  /// Bytes per second to host memory, one way; 0: the rate of a copy in memory.
  double hostLink = 0;
  std::optional<int64_t> memory; ///< bytes; none: no limit
};

/// Sources of seconds.
struct CostSources {
  std::string target = "cpu"; ///< target, as Target::get reads it
  /// Number of threads on a CPU. 0 means the number of the profile, or two without a profile, on
  /// every machine, so that the same input gives the same plan everywhere.
  unsigned threads = 0;
  std::string deviceFile; ///< rates that replace the built-in rates; empty: none
  std::string profile;    ///< output of reprise-run --profile-out; empty: none
};

/// Model of costs. The same sources give the same seconds on every machine.
class CostModel {
public:
  /// Loads a model. Errors, at `location` or in the files: no such target, a file that is malformed
  /// or cannot be read, a profile of another target or number of threads.
  static mlir::FailureOr<CostModel> load(const CostSources &sources, mlir::Location location);

  /// Fails at an op whose type has no rate on the device.
  mlir::LogicalResult check(ProgramOp step) const;
  /// Checks the profile against all programs that run together, at any phase after autodiff.
  /// Errors: a profile of another entry, or of another model, whose ops the programs do not have.
  mlir::LogicalResult checkModel(llvm::ArrayRef<ProgramOp> programs) const;

  /// Returns the seconds of one execution of `op` that moves `bytes` to and from memory: flops /
  /// rate + bytes / bandwidth, without the launch. An op without CostOpInterface, such as a loop,
  /// has no flops of its own.
  ///
  /// With a profile the bandwidth is that of the launches that move most bytes. The time of
  /// arithmetic is scaled to the measured launches of ops of the same signature, or otherwise of
  /// the same kind.
  double getSeconds(mlir::Operation *op, int64_t bytes) const;
  /// Returns the seconds of ops in one launch, which run one after the other on the same bytes.
  double getSeconds(llvm::ArrayRef<mlir::Operation *> ops, int64_t bytes) const;
  /// Returns the seconds of all executions of the op if its launches hold no other op.
  double getSecondsAlone(mlir::Operation *op) const;
  /// Returns the seconds from one device to another: a launch, and `bytes` over the link, or read
  /// and written in memory.
  double getCopySeconds(int64_t bytes) const {
    return rates.launchSeconds +
           (rates.link ? static_cast<double>(bytes) / rates.link : getTransferSeconds(2 * bytes));
  }
  /// Returns the rates of the links between devices, inside and between nodes.
  pipeline::Links getLinks() const {
    double link = rates.link ? rates.link : rates.bytes / 2;
    return {rates.nodeDevices, link, rates.network ? rates.network : link, rates.launchSeconds};
  }
  /// Returns the seconds that a step loses if `bytes` go to the host and come back. A link
  /// transfers beside the computation and uses a part of the memory bandwidth. Without a link the
  /// bytes are copied, twice.
  double getOffloadSeconds(int64_t bytes) const {
    return 2 * (rates.launchSeconds + getTransferSeconds(rates.hostLink ? bytes : 2 * bytes));
  }
  /// Returns the seconds of moving `bytes` to or from memory.
  double getTransferSeconds(int64_t bytes) const {
    return static_cast<double>(bytes) / rates.bytes;
  }
  /// Returns the fixed seconds per launch, in addition to the seconds of its ops.
  double getLaunchSeconds() const { return rates.launchSeconds; }

  const DeviceRates &getRates() const { return rates; }
  /// Returns errors by kind (getKindName), and "copy" for launches without arithmetic; empty
  /// without a profile.
  const std::map<std::string, KindError> &getErrors() const { return errors; }

private:
  /// Seconds of arithmetic, as measured and by the rates.
  struct Fit {
    double measured = 0, modelled = 0;
    double getScale() const { return modelled > 0 ? measured / modelled : 1; }
  };

  explicit CostModel(DeviceRates rates) : rates(std::move(rates)) {}

  double getRate(llvm::StringRef kind, llvm::StringRef dtype) const;
  double getRate(mlir::Operation *op) const;
  void learn(const CostProfile &measured);
  void learnBandwidth(const CostProfile &measured);
  double getArithmetic(const ProfiledLaunch &launch, std::vector<double> &parts) const;
  mlir::LogicalResult checkScales(mlir::Location location) const;
  double getScale(mlir::Operation *op) const;

  DeviceRates rates;
  std::string profile, profiledEntry;
  std::map<std::string, Fit> bySignature, byKind;
  Fit traffic;                                 ///< bandwidth fit of the launches that move most
  std::map<std::string, std::string> profiled; ///< op names by signature, for messages
  std::map<std::string, KindError> errors;
};

} // namespace reprise

#endif // REPRISE_COSTS_COSTMODEL_H
