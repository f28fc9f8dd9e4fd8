// reprise: how long ops take, for planners and reports: a roofline of the device
#include "reprise/Compiler/CostModel.h"

#include "CostFiles.h"
#include "reprise/Dialect/Reprise/IR/Work.h"
#include "reprise/Interfaces/Interfaces.h"
#include "reprise/Target/Target.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

#include <numeric>

using namespace mlir;

namespace reprise {

/// Rates that the kernels of this compiler reach on x86-64 machines of these years, AVX2 or
/// AVX-512, as docs/Benchmarks.md has them: per thread; all threads share the memory.
static DeviceRates describeCpu(unsigned threads) {
  double count = threads ? threads : 2, single = 100e9 * count;
  DeviceRates rates;
  rates.name = "x86-64";
  rates.contractionFlops = {
      {"f32", single}, {"f64", single / 2}, {"bf16", single}, {"f16", single}};
  rates.elementwiseFlops = 40e9 * count;
  // 22 GB/s for one thread, 29 for two, never more than 44.
  rates.bytes = 44e9 * count / (count + 1);
  rates.launchSeconds = 2e-6;
  return rates;
}

/// Data sheets' rates of A100 (from sm_80 on) and H100 SXM (from sm_90 on) outside of tensor cores,
/// since contractions are exact: chains of fma in f32, into which 16-bit operands widen.
static DeviceRates describeGpu(unsigned chip) {
  bool isHopper = chip >= 90;
  double single = isHopper ? 67e12 : 19.5e12;
  DeviceRates rates;
  rates.name = isHopper ? "H100" : "A100";
  rates.contractionFlops = {
      {"f32", single}, {"f64", single / 2}, {"bf16", single}, {"f16", single}};
  // An fma counts two there; most other arithmetic is no fma.
  rates.elementwiseFlops = single / 2;
  rates.bytes = isHopper ? 3.35e12 : 2.04e12;
  rates.launchSeconds = 3e-6;
  return rates;
}

static FailureOr<DeviceRates> findRates(const CostSources &sources, unsigned threads,
                                        Location location) {
  if (!sources.deviceFile.empty())
    return readDeviceFile(sources.deviceFile, location);
  auto [device, machine] = StringRef(sources.target).split(':');
  if (device == "cpu")
    return describeCpu(threads);
  unsigned chip = 0;
  if (device == "cuda" && machine.consume_front("sm_") && !machine.consumeInteger(10, chip))
    return describeGpu(chip);
  return emitError(location, "unknown target '") << sources.target << "'";
}

static LogicalResult checkProfile(const CostProfile &profile, const CostSources &sources,
                                  Location location) {
  auto fail = [&]() { return emitError(location) << "profile '" << sources.profile << "' "; };
  std::shared_ptr<const Target> target;
  if (failed(Target::get(sources.target, location, target)))
    return failure();
  if (profile.target != target->getName())
    return fail() << "was measured on '" << profile.target << "', this compilation is for '"
                  << target->getName() << "'";
  if (sources.threads && profile.threads != sources.threads)
    return fail() << "was measured with --threads=" << profile.threads
                  << ", this compilation is for --threads=" << sources.threads;
  return success();
}

FailureOr<CostModel> CostModel::load(const CostSources &sources, Location location) {
  CostProfile measured;
  unsigned threads = sources.threads;
  if (!sources.profile.empty()) {
    FailureOr<CostProfile> profile = readProfile(sources.profile, location);
    if (failed(profile) || failed(checkProfile(*profile, sources, location)))
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
    if (failed(model.checkScales(location)))
      return failure();
  }
  return model;
}

double CostModel::getRate(StringRef kind, StringRef dtype) const {
  auto found = rates.contractionFlops.find(dtype.str());
  if (!isContractionKind(kind) || found == rates.contractionFlops.end())
    return rates.elementwiseFlops;
  // Beside its products attention has exponentials and random words, which no fma unit helps with.
  constexpr double attentionShare = 0.6;
  return kind == "attention" ? attentionShare * found->second : found->second;
}

void CostModel::Fit::add(bool isArithmetic, double measuredPart, double modelledPart) {
  Side &side = isArithmetic ? arithmetic : memory;
  side.measured += measuredPart;
  side.modelled += modelledPart;
}

/// Shares out the seconds of each launch among its ops, in the proportion of their arithmetic.
void CostModel::learn(const CostProfile &measured) {
  double total = 0, calls = 0;
  for (const ProfiledLaunch &launch : measured.launches) {
    std::vector<double> parts;
    for (const ProfiledOp &op : launch.ops)
      parts.push_back(launch.calls * op.flops / getRate(op.kind, op.dtype));
    double arithmetic = std::accumulate(parts.begin(), parts.end(), 0.0);
    double modelled = std::max(arithmetic, launch.bytes / rates.bytes);
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
      for (Fit *fit : {&bySignature[op.signature], &byKind[op.kind]})
        fit->add(arithmetic >= modelled, share * launch.seconds, share * modelled);
      count(op.kind, share);
    }
    if (launch.ops.empty())
      count("copy", 1);
    total += launch.seconds;
    calls += launch.calls;
  }
  // What a step takes beside its commands is what launching them takes.
  if (calls > 0)
    rates.launchSeconds = std::max(0.0, measured.stepSeconds - total) / calls;
}

/// Rates and a profile that tell times of another order of magnitude are of different machines, and
/// seconds made of both would lose all digits in the planner's sums.
LogicalResult CostModel::checkScales(Location location) const {
  constexpr double most = 1e9;
  auto isFar = [&](const Side &side) {
    return side.modelled > 0 && side.measured > 0 &&
           std::abs(std::log(side.measured / side.modelled)) > std::log(most);
  };
  for (const auto *fits : {&byKind, &bySignature})
    for (const auto &[name, fit] : *fits)
      for (const Side &side : {fit.arithmetic, fit.memory})
        if (isFar(side))
          return emitError(location)
                 << "profile '" << profile << "' gives '" << name << "' "
                 << llvm::formatv(
                        "{0:e} seconds where the device's rates give {1:e}: expected them "
                        "within a factor of 1e9",
                        side.measured, side.modelled)
                        .str();
  return success();
}

static std::string printSignature(Operation *op) {
  return llvm::formatv("{0:x-16}", getSignature(op)).str();
}

LogicalResult CostModel::check(func::FuncOp step) const {
  llvm::StringSet<> known;
  WalkResult walked = step.walk([&](Operation *op) -> WalkResult {
    auto cost = dyn_cast<CostOpInterface>(op);
    if (!cost || cost.getFlops() == 0)
      return WalkResult::advance();
    if (!profile.empty())
      known.insert(printSignature(op));
    std::string dtype = getElementTypeName(op);
    if (isContractionKind(getKindName(op)) && !rates.contractionFlops.count(dtype))
      return op->emitError("device '")
             << rates.name << "' has no rate for contractions of " << dtype;
    return WalkResult::advance();
  });
  if (walked.wasInterrupted())
    return failure();
  if (!profile.empty() && step.getName() != profiledEntry)
    return step.emitError("profile '") << profile << "' is of entry '" << profiledEntry
                                       << "', not of '" << step.getName() << "'";
  for (const auto &[signature, name] : profiled)
    if (!known.contains(signature))
      return step.emitError("profile '") << profile << "' is of another model: this one has no op '"
                                         << name << "' of signature " << signature;
  return success();
}

CostModel::Scales CostModel::getScales(Operation *op) const {
  if (profile.empty())
    return {};
  auto own = bySignature.find(printSignature(op));
  auto kind = byKind.find(getKindName(op).str());
  auto scale = [&](Side Fit::*side) {
    for (const Fit *fit : {own == bySignature.end() ? nullptr : &own->second,
                           kind == byKind.end() ? nullptr : &kind->second})
      if (fit && (fit->*side).modelled > 0)
        return (fit->*side).measured / (fit->*side).modelled;
    return 1.0;
  };
  return {scale(&Fit::arithmetic), scale(&Fit::memory)};
}

double CostModel::getSeconds(Operation *op, int64_t bytes) const {
  return getSeconds(ArrayRef(op), bytes);
}

double CostModel::getSeconds(ArrayRef<Operation *> ops, int64_t bytes) const {
  // How well the bytes move depends on the ops in the proportion of their arithmetic, too.
  double arithmetic = 0, unscaled = 0, memoryScales = 0;
  for (Operation *op : ops) {
    auto cost = dyn_cast<CostOpInterface>(op);
    double part = cost ? static_cast<double>(cost.getFlops()) /
                             getRate(getKindName(op), getElementTypeName(op))
                       : 0;
    if (part == 0)
      continue;
    Scales scales = getScales(op);
    unscaled += part;
    arithmetic += part * scales.arithmetic;
    memoryScales += part * scales.memory;
  }
  double memory = static_cast<double>(bytes) / rates.bytes;
  return std::max(arithmetic, memory * (unscaled > 0 ? memoryScales / unscaled : 1));
}

} // namespace reprise
