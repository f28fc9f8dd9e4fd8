// reprise: durations of ops for planners and reports: arithmetic, traffic and launches
#include "reprise/Costs/CostModel.h"

#include "CostFiles.h"
#include "reprise/Dialect/Reprise/IR/Call.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/Loops.h"
#include "reprise/Dialect/Reprise/IR/Work.h"
#include "reprise/Interfaces/Interfaces.h"
#include "reprise/Support/ByteSize.h"
#include "reprise/Support/Locations.h"
#include "reprise/Target/Target.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

#include <numeric>

using namespace mlir;

namespace reprise {

/// Returns the rates of this compiler's kernels on current x86-64 machines, AVX2 or AVX-512, as in
/// docs/reference/benchmarks: per thread; all threads share the memory.
static DeviceRates describeCpu(unsigned threads) {
  double count = threads ? threads : 2, single = 200e9 * count;
  DeviceRates rates;
  rates.name = "x86-64";
  rates.contractionFlops = {
      {"f32", single}, {"f64", single / 2}, {"bf16", single}, {"f16", single}};
  rates.elementwiseFlops = 80e9 * count;
  // 60 GB/s for one thread, 80 for two, at most 120: most operands of a step were written shortly
  // before, and lie in a cache. From memory itself it would be a third.
  rates.bytes = 120e9 * count / (count + 1);
  rates.launchSeconds = 0.5e-6;
  return rates;
}

/// Rates of kernels on a chip, as fractions of its data sheet: .57 for contractions of f32, .22 on
/// tensor cores, .5 by a library, and .875 of the bandwidth. Measured on an H200
/// (docs/reference/benchmarks/Gpu.md), and assumed for the others. Exact contractions do not use
/// tensor cores: they are chains of fma in f32, to which 16-bit operands are widened.
struct ChipRates {
  unsigned number; ///< sm_80 is 80
  const char *name;
  double single, elementwise, memory; ///< f32 operations and bytes per second
  double link, hostLink; ///< bytes per second, one way, to another device and to the host
  double tensor;         ///< operations of tensor cores on 16-bit types; half on TF32
  double library;        ///< operations if a library contracts
};
/// Table of chips. The sheets count both directions of a link, and for tensor cores also sparsity.
/// They count an fma as two operations; most elementwise arithmetic is no fma. The host is behind
/// PCIe 5, and 4 for an A100.
static constexpr ChipRates kChips[] = {
    {100, "B200", 4.3e13, 3.75e13, 6.7e12, 9e11, 5.5e10, 5e14, 1.1e15},
    {90, "H100", 3.8e13, 3.35e13, 2.9e12, 4.5e11, 5.5e10, 2.2e14, 5e14},
    {0, "A100", 1.1e13, 9.75e12, 1.8e12, 3e11, 2.5e10, 6.9e13, 1.56e14}};

/// Fraction of the rate in attention, which also computes exponentials and random words, for which
/// fma units do not help.
static constexpr double kAttentionShare = 0.6;
/// Fraction on tensor cores, where these weigh more; measured for llama on an H200.
static constexpr double kTensorAttentionShare = 0.35;

static DeviceRates describeGpu(unsigned number) {
  const ChipRates &chip =
      *llvm::find_if(kChips, [&](const ChipRates &c) { return c.number <= number; });
  DeviceRates rates;
  rates.name = chip.name;
  rates.contractionFlops = {
      {"f32", chip.single}, {"f64", chip.single / 2}, {"bf16", chip.single}, {"f16", chip.single}};
  rates.tensorFlops = chip.tensor;
  rates.libraryFlops = chip.library;
  rates.elementwiseFlops = chip.elementwise;
  rates.bytes = chip.memory;
  rates.launchSeconds = 1e-6;
  rates.link = chip.link;
  rates.hostLink = chip.hostLink;
  return rates;
}

static void useTensorCores(DeviceRates &rates, const Capabilities &target) {
  if (!rates.tensorFlops || !target.hasTensorCores)
    return;
  bool isLibrary = target.callsLibraries && rates.libraryFlops;
  if (target.contractions == Contractions::Tf32)
    rates.contractionFlops["f32"] = *rates.tensorFlops / 2;
  for (const char *type : {"bf16", "f16"}) {
    rates.contractionFlops[type] = isLibrary ? *rates.libraryFlops : *rates.tensorFlops;
    // Attention is ours in any case.
    rates.attentionFlops[type] = kTensorAttentionShare * *rates.tensorFlops;
  }
}

/// Returns the rates before tensor cores are added.
static FailureOr<DeviceRates> findPlainRates(const CostSources &sources, unsigned threads,
                                             Location location) {
  if (!sources.deviceFile.empty())
    return readDeviceFile(
        sources.deviceFile,
        getFlagLocation(location.getContext(), "--device-file=" + sources.deviceFile));
  auto [device, machine] = StringRef(sources.target).split(':');
  if (device == "cpu")
    return describeCpu(threads);
  unsigned chip = 0;
  if (device == "cuda" && machine.consume_front("sm_") && !machine.consumeInteger(10, chip))
    return describeGpu(chip);
  return emitError(location, "unknown target '") << sources.target << "'";
}

static FailureOr<DeviceRates> findRates(const CostSources &sources, unsigned threads,
                                        Location location) {
  FailureOr<DeviceRates> rates = findPlainRates(sources, threads, location);
  std::shared_ptr<const Target> target;
  if (failed(rates) || failed(Target::get(sources.target, location, target)))
    return failure();
  useTensorCores(*rates, target->getCapabilities());
  return rates;
}

static Location getProfileFlag(MLIRContext *context, const std::string &path) {
  return getFlagLocation(context, "--profile=" + path);
}

static LogicalResult checkProfile(const CostProfile &profile, const CostSources &sources,
                                  Location location) {
  std::shared_ptr<const Target> target;
  if (failed(Target::get(sources.target, location, target)))
    return failure();
  if (profile.target != target->getName())
    return emitError(location) << "the profile was measured on '" << profile.target
                               << "', this compilation is for '" << target->getName() << "'";
  if (sources.threads && profile.threads != sources.threads)
    return emitError(location) << "the profile was measured with --threads=" << profile.threads
                               << ", this compilation is for --threads=" << sources.threads;
  return success();
}

FailureOr<CostModel> CostModel::load(const CostSources &sources, Location location) {
  CostProfile measured;
  unsigned threads = sources.threads;
  if (!sources.profile.empty()) {
    Location flag = getProfileFlag(location.getContext(), sources.profile);
    FailureOr<CostProfile> profile = readProfile(sources.profile, flag);
    if (failed(profile) || failed(checkProfile(*profile, sources, flag)))
      return failure();
    measured = std::move(*profile);
    threads = measured.threads;
  }
  FailureOr<DeviceRates> rates = findRates(sources, threads, location);
  if (failed(rates))
    return failure();
  CostModel model(std::move(*rates));
  model.profile = sources.profile;
  model.profiledEntry = measured.entry;
  if (!sources.profile.empty()) {
    model.learn(measured);
    if (failed(model.checkScales(getProfileFlag(location.getContext(), sources.profile))))
      return failure();
  }
  return model;
}

double CostModel::getRate(StringRef kind, StringRef dtype) const {
  if (!isContractionKind(kind))
    return rates.elementwiseFlops;
  if (kind == "attention")
    if (auto own = rates.attentionFlops.find(dtype.str()); own != rates.attentionFlops.end())
      return own->second;
  auto found = rates.contractionFlops.find(dtype.str());
  if (found == rates.contractionFlops.end())
    return rates.elementwiseFlops;
  return kind == "attention" ? kAttentionShare * found->second : found->second;
}

double CostModel::getRate(Operation *op) const {
  StringRef kind = getKindName(op);
  return getRate(kind, isContractionKind(kind) ? getElementTypeName(op) : "");
}

/// Seconds of each op's arithmetic by the rates, in all calls of the launch, and their sum.
double CostModel::getArithmetic(const ProfiledLaunch &launch, std::vector<double> &parts) const {
  for (const ProfiledOp &op : launch.ops)
    parts.push_back(launch.calls * op.flops / getRate(op.kind, op.dtype));
  return std::accumulate(parts.begin(), parts.end(), 0.0);
}

/// Learns the bandwidth from launches whose bytes take longer than their arithmetic: the rate that
/// a quarter of them reach, weighted by their seconds in the model. The rest of the other launches'
/// time is attributed to arithmetic. With a mean, some launches would take less time than their
/// bytes.
void CostModel::learnBandwidth(const CostProfile &measured) {
  std::vector<std::pair<double, Fit>> fits;
  double modelled = 0;
  for (const ProfiledLaunch &launch : measured.launches) {
    if (launch.isCall)
      continue;
    std::vector<double> parts;
    double arithmetic = getArithmetic(launch, parts), memory = launch.bytes / rates.bytes;
    if (memory < arithmetic || launch.seconds == 0)
      continue;
    Fit fit{launch.seconds, arithmetic + memory};
    fits.push_back({fit.getScale(), fit});
    modelled += fit.modelled;
  }
  llvm::sort(fits, [](const auto &a, const auto &b) { return a.first < b.first; });
  double passed = 0;
  for (auto &[scale, fit] : fits) {
    traffic = fit;
    if ((passed += fit.modelled) >= modelled / 4)
      break;
  }
}

/// Learns from a profile: divides the seconds of each launch, beyond those of its bytes, among its
/// ops, in proportion to their arithmetic.
void CostModel::learn(const CostProfile &measured) {
  learnBandwidth(measured);
  // We leave some time for the arithmetic, however slow the bytes of other launches were.
  static constexpr double kLeastShare = 0.05;
  double total = 0, calls = 0, byteScale = traffic.getScale();
  for (const ProfiledLaunch &launch : measured.launches) {
    total += launch.seconds;
    calls += launch.calls;
    if (launch.isCall)
      continue;
    std::vector<double> parts;
    double arithmetic = getArithmetic(launch, parts), memory = launch.bytes / rates.bytes;
    double modelled = arithmetic + memory;
    double rest = std::max(launch.seconds - byteScale * memory, kLeastShare * launch.seconds);
    auto count = [&](const std::string &kind, double share) {
      KindError &error = errors[kind];
      error.ops += launch.calls;
      error.measured += share * launch.seconds;
      error.modelled += share * modelled;
      error.deviation += share * std::abs(modelled - launch.seconds);
    };
    for (auto [op, part] : llvm::zip(launch.ops, parts)) {
      double share = arithmetic > 0 ? part / arithmetic : 0;
      profiled[op.signature] = op.name;
      for (Fit *fit : {&bySignature[op.signature], &byKind[op.kind]}) {
        fit->measured += share * rest;
        fit->modelled += part;
      }
      count(op.kind, share);
    }
    if (launch.ops.empty())
      count("copy", 1);
  }
  rates.bytes /= byteScale;
  // The time of a step beyond its commands is the launch overhead. Programs that run together also
  // wait for each other, so we measure only single programs.
  if (calls > 0 && measured.programs == 1)
    rates.launchSeconds = std::max(0.0, measured.stepSeconds - total) / calls;
}

/// Rates and a profile that tell times of another order of magnitude are of different machines, and
/// seconds made of both would lose all digits in the planner's sums.
LogicalResult CostModel::checkScales(Location location) const {
  constexpr double most = 1e9;
  auto check = [&](StringRef name, const Fit &fit) -> LogicalResult {
    bool isFar =
        fit.modelled > 0 && fit.measured > 0 && std::abs(std::log(fit.getScale())) > std::log(most);
    if (!isFar)
      return success();
    return emitError(location) << "the profile gives '" << name << "' "
                               << llvm::formatv(
                                      "{0:e} seconds where the device's rates give {1:e}: expected "
                                      "them within a factor of 1e9",
                                      fit.measured, fit.modelled)
                                      .str();
  };
  for (const auto *fits : {&byKind, &bySignature})
    for (const auto &[name, fit] : *fits)
      if (failed(check(name, fit)))
        return failure();
  return check("traffic", traffic);
}

static std::string printSignature(Operation *op) {
  return llvm::formatv("{0:x-16}", getSignature(op)).str();
}

LogicalResult CostModel::check(ProgramOp step) const {
  WalkResult walked = step.walk([&](Operation *op) -> WalkResult {
    auto cost = dyn_cast<CostOpInterface>(op);
    if (!cost || cost.getFlops() == 0)
      return WalkResult::advance();
    if (!isContractionKind(getKindName(op)))
      return WalkResult::advance();
    std::string dtype = getElementTypeName(op);
    if (!rates.contractionFlops.count(dtype))
      return op->emitError("device '") << rates.name << "' has no rate for contractions of "
                                       << dtype << ": add it to 'flops' of the device file";
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

LogicalResult CostModel::checkModel(ArrayRef<ProgramOp> programs) const {
  if (profile.empty())
    return success();
  ProgramOp step = programs.front();
  Location flag = getProfileFlag(step.getContext(), profile);
  StringRef entry = getEntryName(step);
  if (entry != profiledEntry)
    return emitError(flag) << "the profile is of entry '" << profiledEntry << "', not of '" << entry
                           << "'";
  llvm::StringSet<> known;
  for (ProgramOp program : programs)
    program.walk([&](CostOpInterface op) { known.insert(printSignature(op)); });
  for (const auto &[signature, name] : profiled)
    if (!known.contains(signature))
      return emitError(flag) << "the profile is of another model: this one has no op '" << name
                             << "' of signature " << signature;
  return success();
}

double CostModel::getScale(Operation *op) const {
  if (profile.empty())
    return 1;
  auto own = bySignature.find(printSignature(op));
  if (own != bySignature.end() && own->second.modelled > 0)
    return own->second.getScale();
  auto kind = byKind.find(getKindName(op).str());
  return kind == byKind.end() ? 1 : kind->second.getScale();
}

double CostModel::getSeconds(Operation *op, int64_t bytes) const {
  return getSeconds(ArrayRef(op), bytes);
}

double CostModel::getSeconds(ArrayRef<Operation *> ops, int64_t bytes) const {
  double seconds = getTransferSeconds(bytes);
  for (Operation *op : ops)
    if (auto call = dyn_cast<CustomCallOp>(op))
      seconds += call.getPrice();
    else if (auto cost = dyn_cast<CostOpInterface>(op))
      seconds += getScale(op) * static_cast<double>(cost.getFlops()) / getRate(op);
  return seconds;
}

static int64_t countBytes(ValueRange values) {
  int64_t bytes = 0;
  for (Value value : values)
    bytes += getByteSize(value.getType());
  return bytes;
}

double CostModel::getSecondsAlone(Operation *op) const {
  // A view moves no bytes: its readers load the elements in place.
  int64_t bytes = isa<ViewOpInterface>(op) || op->hasTrait<OpTrait::ConstantLike>()
                      ? 0
                      : countBytes(op->getOperands()) + countBytes(op->getResults());
  return getSeconds(op, bytes) * static_cast<double>(countExecutions(op));
}

} // namespace reprise
