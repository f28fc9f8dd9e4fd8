// reprise: lowers kernels of a GPU through the gpu and nvvm dialects and LLVM IR to PTX
#include "../Codegen.h"
#include "AssemblePtx.h"
#include "DeviceKernels.h"
#include "ThreadKernel.h"
#include "reprise/Conversion/Cuda/CudaBackend.h"

#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Threading.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/TargetSelect.h"

using namespace mlir;

namespace reprise {
namespace {

std::unique_ptr<llvm::TargetMachine> makeGpu(StringRef chip) {
  static const bool initialized = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  (void)initialized;
  // Without features LLVM uses the oldest version of PTX that has the chip, which most drivers
  // read.
  return makeMachine("nvptx64-nvidia-cuda", chip);
}

/// Converts only the gpu dialect. The pass of this name would lower math ops to libdevice calls,
/// which approximate operations that must be rounded correctly.
LogicalResult convertGpuOps(gpu::GPUModuleOp module) {
  MLIRContext *context = module.getContext();
  LLVMTypeConverter converter(context);
  configureGpuToNVVMTypeConverter(converter);
  RewritePatternSet patterns(context);
  populateGpuToNVVMConversionPatterns(converter, patterns);
  ConversionTarget target(*context);
  target.addLegalDialect<arith::ArithDialect, LLVM::LLVMDialect, math::MathDialect,
                         NVVM::NVVMDialect, scf::SCFDialect, vector::VectorDialect>();
  target.addIllegalDialect<gpu::GPUDialect>();
  target.addLegalOp<gpu::GPUModuleOp>();
  return applyPartialConversion(module, target, std::move(patterns));
}

/// Converts a copy of each kernel and puts it into its own module, of the same name, inside of the
/// returned module.
FailureOr<OwningOpRef<ModuleOp>> convertKernels(ModuleOp kernels) {
  OwningOpRef<ModuleOp> copy = kernels.clone(), outer = ModuleOp::create(kernels.getLoc());
  for (auto kernel : copy->getOps<gpu::GPUModuleOp>()) {
    if (failed(convertGpuOps(kernel)))
      return failure();
    auto module = ModuleOp::create(kernel.getLoc(), kernel.getName());
    module.getBody()->getOperations().splice(module.getBody()->end(),
                                             kernel.getBody()->getOperations());
    outer->push_back(module);
  }
  return outer;
}

FailureOr<std::string> compileKernel(ModuleOp kernel, StringRef chip) {
  std::unique_ptr<llvm::TargetMachine> machine = makeGpu(chip);
  auto prepare = [&](llvm::Module &module) -> LogicalResult {
    if (llvm::Error error = linkDeviceKernels(module, *machine))
      return kernel.emitError("a kernel cannot be linked: ") << llvm::toString(std::move(error));
    for (llvm::Function &function : module)
      if (!function.isDeclaration())
        function.addFnAttr(llvm::Attribute::NoUnwind);
    return success();
  };
  FailureOr<std::string> text =
      generateCode(kernel, *machine, llvm::CodeGenFileType::AssemblyFile, prepare);
  // The GPU's driver could not link an external function.
  if (succeeded(text) && StringRef(*text).contains(".extern"))
    return kernel.emitError("the kernel would call a function");
  return text;
}

void registerTranslations(MLIRContext &context) {
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
  context.appendDialectRegistry(registry);
}

} // namespace

static SmallVector<StringRef> listChips(StringRef chips) {
  SmallVector<StringRef> list;
  chips.split(list, '+');
  return list;
}

bool CudaBackend::hasChips(StringRef chips) {
  std::unique_ptr<llvm::TargetMachine> any = makeGpu("sm_80");
  // Chips before sm_80 have neither max.NaN nor bf16.
  unsigned least = 80;
  return llvm::all_of(listChips(chips), [&](StringRef chip) {
    unsigned number = 0;
    StringRef digits = chip;
    bool isLater = digits.consume_front("sm_") && !digits.consumeInteger(10, number) &&
                   number >= least && any->getMCSubtargetInfo()->isCPUStringValid(chip);
    least = number + 1;
    return isLater;
  });
}

std::vector<std::string> CudaBackend::getFeatures() const {
  std::vector<std::string> features;
  for (StringRef chip : listChips(chips))
    features.push_back(chip.str());
  return features;
}

bool CudaBackend::hasAssembler() { return !findAssembler().empty(); }

/// Kernel of a chip, and of later ones up to the next.
using KernelOfChip = std::pair<StringRef, ModuleOp>;

/// Returns the texts for all chips, at multiples of 64 bytes, each ended by a zero. Cubins, if any,
/// follow, each behind 64 bytes that begin with its size, so that a search for a text works as
/// without cubins (Runtime/CudaCode.h).
static FailureOr<std::string> compileForChips(ArrayRef<KernelOfChip> kernels, StringRef chips,
                                              bool hasCubins) {
  constexpr size_t alignment = 64;
  std::string texts, cubins;
  ModuleOp kernel = kernels.front().second;
  for (StringRef chip : listChips(chips)) {
    for (auto [first, own] : kernels)
      if (first == chip)
        kernel = own;
    FailureOr<std::string> text = compileKernel(kernel, chip);
    if (failed(text))
      return failure();
    texts += *text;
    texts.resize(llvm::alignTo(texts.size() + 1, alignment));
    if (!hasCubins)
      continue;
    FailureOr<std::string> cubin = assemblePtx(kernel, *text, chip);
    if (failed(cubin))
      return failure();
    size_t size = cubins.size();
    cubins.resize(size + alignment);
    llvm::support::endian::write64le(&cubins[size], cubin->size());
    cubins += *cubin;
    cubins.resize(llvm::alignTo(cubins.size(), alignment));
  }
  return texts + cubins;
}

/// Returns the lowered kernels, each behind it those that replace it on later chips.
static std::vector<std::vector<KernelOfChip>> groupByChip(ModuleOp kernels, ModuleOp lowered) {
  std::vector<std::vector<KernelOfChip>> groups;
  llvm::StringMap<size_t> numbers;
  for (auto [kernel, module] :
       llvm::zip_equal(kernels.getOps<gpu::GPUModuleOp>(), lowered.getOps<ModuleOp>())) {
    auto replaced = kernel->getAttrOfType<StringAttr>(kReplacedAttr);
    if (!replaced) {
      numbers[kernel.getName()] = groups.size();
      groups.push_back({{"", module}});
      continue;
    }
    StringRef chip = kernel->getAttrOfType<StringAttr>(kChipAttr).getValue();
    groups[numbers.lookup(replaced.getValue())].push_back({chip, module});
  }
  return groups;
}

FailureOr<OwningOpRef<ModuleOp>> CudaBackend::lowerKernels(ModuleOp kernels) const {
  kernels.getContext()->loadDialect<gpu::GPUDialect, NVVM::NVVMDialect>();
  FailureOr<OwningOpRef<ModuleOp>> outer = convertKernels(kernels);
  if (failed(outer) || failed(lowerToLlvmDialect(**outer)))
    return failure();
  return outer;
}

FailureOr<Image> CudaBackend::compileKernels(ModuleOp kernels) const {
  MLIRContext &context = *kernels.getContext();
  registerTranslations(context);
  FailureOr<OwningOpRef<ModuleOp>> outer = lowerKernels(kernels);
  if (failed(outer))
    return failure();
  auto lowered = groupByChip(kernels, **outer);
  std::vector<std::string> texts(lowered.size());
  LogicalResult compiled = failableParallelForEachN(&context, 0, lowered.size(), [&](size_t i) {
    FailureOr<std::string> text = compileForChips(lowered[i], chips, hasCubins);
    if (succeeded(text))
      texts[i] = std::move(*text);
    return LogicalResult(text);
  });
  if (failed(compiled))
    return failure();
  Image image;
  for (auto [kernel, text] : llvm::zip_equal(lowered, texts)) {
    image.symbols[kernel.front().second.getName()->str()] = image.bytes.size();
    image.bytes.insert(image.bytes.end(), text.begin(), text.end());
  }
  return image;
}

} // namespace reprise
