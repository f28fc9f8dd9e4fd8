// reprise: how long ops take, for planners and reports: arithmetic, traffic and launches
#ifndef REPRISE_COSTS_COSTMODEL_H
#define REPRISE_COSTS_COSTMODEL_H

#include "reprise/Costs/KindError.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

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
  std::map<std::string, double> attentionFlops;   ///< by dtype; none: a share of those
  /// Of tensor cores on 16 bits, half of it on TF32, and of a library there; none: as above.
  std::optional<double> tensorFlops, libraryFlops;
  double elementwiseFlops = 0; ///< of all ops that are no contraction
  double bytes = 0;            ///< to and from memory
  double launchSeconds = 0;    ///< what a launch costs before it does anything
  double link = 0;     ///< bytes per second to another device; 0: a copy in memory stands for that
  double hostLink = 0; ///< bytes per second to the host's memory, one way; 0: as for `link`
  std::optional<int64_t> memory; ///< bytes; none: as many as a step takes
};

/// Where seconds come from.
struct CostSources {
  std::string target = "cpu"; ///< as Target::get reads it
  /// On a CPU. 0 is those of the profile, and two without one, whatever the machine has: the same
  /// input gives the same plan everywhere.
  unsigned threads = 0;
  std::string deviceFile; ///< rates in the stead of the built-in ones; empty: none
  std::string profile;    ///< of reprise-run --profile-out; empty: none
};

/// The same sources give the same seconds on every machine.
class CostModel {
public:
  /// Errors, at `location` or in the files: no such target, a file that is malformed or cannot be
  /// read, a profile of another target or number of threads.
  static mlir::FailureOr<CostModel> load(const CostSources &sources, mlir::Location location);

  /// An error: an op whose type the device has no rate for.
  mlir::LogicalResult check(ProgramOp step) const;
  /// Of all programs that run together, at any phase after autodiff. Errors: a profile of another
  /// entry, or of another model, whose ops they do not have.
  mlir::LogicalResult checkModel(llvm::ArrayRef<ProgramOp> programs) const;

  /// Seconds that one execution of `op` takes if it moves `bytes` to and from memory:
  /// flops / rate + bytes / bandwidth, without the launch. An op that has no CostOpInterface, such
  /// as a loop, has no flops of its own.
  ///
  /// With a profile the bandwidth is that of the launches that move most, and the arithmetic is
  /// scaled so that launches meet what was measured for ops of the same signature, or else of the
  /// same kind.
  double getSeconds(mlir::Operation *op, int64_t bytes) const;
  /// The same of ops in one launch, which do their work one after the other on the same bytes.
  double getSeconds(llvm::ArrayRef<mlir::Operation *> ops, int64_t bytes) const;
  /// Seconds that all executions of the op take if nothing else is in their launches.
  double getSecondsAlone(mlir::Operation *op) const;
  /// Seconds from one device to another: a launch, and `bytes` over the link, or read and written
  /// in memory.
  double getCopySeconds(int64_t bytes) const {
    return rates.launchSeconds +
           (rates.link ? static_cast<double>(bytes) / rates.link : getTransferSeconds(2 * bytes));
  }
  /// Seconds that a step loses if `bytes` go to the host and come back. Over a link they go beside
  /// the computation, and take a part of the memory's bandwidth; without one they are copied,
  /// twice.
  double getOffloadSeconds(int64_t bytes) const {
    return 2 * (rates.launchSeconds + getTransferSeconds(rates.hostLink ? bytes : 2 * bytes));
  }
  /// Seconds that `bytes` take to or from memory.
  double getTransferSeconds(int64_t bytes) const {
    return static_cast<double>(bytes) / rates.bytes;
  }
  /// What each launch costs beside the seconds of its ops.
  double getLaunchSeconds() const { return rates.launchSeconds; }

  const DeviceRates &getRates() const { return rates; }
  /// By kind (getKindName), and "copy" for launches without arithmetic; empty without a profile.
  const std::map<std::string, KindError> &getErrors() const { return errors; }

private:
  /// Seconds of arithmetic, as they were measured and as the rates say.
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
  Fit traffic;                                 ///< of launches that move most
  std::map<std::string, std::string> profiled; ///< op names by signature, for messages
  std::map<std::string, KindError> errors;
};

} // namespace reprise

#endif // REPRISE_COSTS_COSTMODEL_H
