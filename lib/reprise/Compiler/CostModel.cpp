// reprise: how long ops take, for planners and reports: a roofline of the device
#include "reprise/Compiler/CostModel.h"

#include "mlir/IR/Diagnostics.h"
#include "reprise/Interfaces/Interfaces.h"

using namespace mlir;

namespace reprise {

/// Rates that the kernels of this compiler reach on x86-64 machines of these years, AVX2 or
/// AVX-512, as docs/Benchmarks.md has them: per thread; all threads share the memory.
static DeviceRates describeCpu(unsigned threads) {
  double count = threads ? threads : 2;
  DeviceRates rates;
  rates.contractionFlops = {{"f32", 100e9 * count},
                            {"f64", 50e9 * count},
                            {"bf16", 100e9 * count},
                            {"f16", 100e9 * count}};
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
  rates.contractionFlops = {
      {"f32", single}, {"f64", single / 2}, {"bf16", single}, {"f16", single}};
  // An fma counts two there; most other arithmetic is no fma.
  rates.elementwiseFlops = single / 2;
  rates.bytes = isHopper ? 3.35e12 : 2.04e12;
  rates.launchSeconds = 3e-6;
  return rates;
}

FailureOr<CostModel> CostModel::load(const CostSources &sources, Location location) {
  auto [device, machine] = StringRef(sources.target).split(':');
  if (device == "cpu")
    return CostModel(describeCpu(sources.threads));
  unsigned chip = 0;
  if (device == "cuda" && machine.consume_front("sm_") && !machine.consumeInteger(10, chip))
    return CostModel(describeGpu(chip));
  return emitError(location, "unknown target '") << sources.target << "'";
}

/// True for sums of products, which the contractions' rates hold for.
static bool isContraction(Operation *op) {
  return isa<ContractionOpInterface, ConvolutionOpInterface, AttentionOpInterface>(op);
}

static std::string getElementName(Type type) {
  std::string name;
  llvm::raw_string_ostream stream(name);
  getElementTypeOrSelf(type).print(stream);
  return name;
}

double CostModel::getRate(Operation *op) const {
  if (!isContraction(op))
    return rates.elementwiseFlops;
  auto found = rates.contractionFlops.find(getElementName(op->getOperand(0).getType()));
  return found == rates.contractionFlops.end() ? rates.elementwiseFlops : found->second;
}

double CostModel::getSeconds(Operation *op, int64_t bytes) const {
  auto cost = dyn_cast<CostOpInterface>(op);
  double flops = cost ? static_cast<double>(cost.getFlops()) : 0;
  return std::max(flops / getRate(op), static_cast<double>(bytes) / rates.bytes);
}

} // namespace reprise
