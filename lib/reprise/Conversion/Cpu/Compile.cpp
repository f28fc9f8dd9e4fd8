// reprise: lowers a module of kernels through MLIR and LLVM IR to machine code
#include "reprise/Conversion/Cpu/Target.h"

#include "../Codegen.h"
#include "mlir/IR/Threading.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/TargetSelect.h"

using namespace mlir;

namespace reprise {
namespace {

std::unique_ptr<llvm::TargetMachine> makeCpu(const CpuTarget &target) {
  static const bool initialized = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    return true;
  }();
  (void)initialized;
  return makeMachine("x86_64-unknown-linux-gnu", target.level);
}

/// Compiles one lowered batch of kernels to an object.
FailureOr<std::string> compileBatch(ModuleOp batch, const CpuTarget &target) {
  std::unique_ptr<llvm::TargetMachine> machine = makeCpu(target);
  auto adjust = [&](llvm::Module &module) {
    for (llvm::Function &function : module) {
      if (function.isDeclaration())
        continue;
      // Without nounwind every kernel would need an .eh_frame.
      function.addFnAttr(llvm::Attribute::NoUnwind);
      function.addFnAttr("target-cpu", target.level);
      function.addFnAttr("tune-cpu", target.tune);
      function.setAlignment(llvm::Align(64));
    }
    return success();
  };
  return generateCode(batch, *machine, llvm::CodeGenFileType::ObjectFile, adjust);
}

/// Copies a module's kernels into modules of about equal numbers of operations, inside of a new
/// module. The split depends only on the module, not on the number of threads, so that the image is
/// always the same.
OwningOpRef<ModuleOp> splitIntoBatches(ModuleOp module) {
  constexpr int64_t operationsPerBatch = 1500;
  OwningOpRef<ModuleOp> outer = ModuleOp::create(module.getLoc());
  ModuleOp batch;
  int64_t filled = operationsPerBatch;
  for (Operation &kernel : *module.getBody()) {
    if (filled >= operationsPerBatch) {
      batch = ModuleOp::create(module.getLoc());
      outer->push_back(batch);
      filled = 0;
    }
    batch.push_back(kernel.clone());
    kernel.walk([&](Operation *) { ++filled; });
  }
  return outer;
}

void registerTranslations(MLIRContext &context) {
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  context.appendDialectRegistry(registry);
}

} // namespace

FailureOr<OwningOpRef<ModuleOp>> lowerKernels(ModuleOp module) {
  OwningOpRef<ModuleOp> outer = splitIntoBatches(module);
  if (failed(lowerToLlvmDialect(*outer)))
    return failure();
  return outer;
}

FailureOr<Image> compileKernels(ModuleOp module, const CpuTarget &target) {
  MLIRContext &context = *module.getContext();
  registerTranslations(context);
  FailureOr<OwningOpRef<ModuleOp>> outer = lowerKernels(module);
  if (failed(outer))
    return failure();
  auto batches = llvm::to_vector((*outer)->getOps<ModuleOp>());
  std::vector<std::string> objects(batches.size());
  LogicalResult compiled = failableParallelForEachN(&context, 0, batches.size(), [&](size_t i) {
    FailureOr<std::string> object = compileBatch(batches[i], target);
    if (succeeded(object))
      objects[i] = std::move(*object);
    return LogicalResult(object);
  });
  if (failed(compiled))
    return failure();
  llvm::Expected<Image> image = linkImage(objects);
  if (!image)
    return module.emitError(llvm::toString(image.takeError()));
  return std::move(*image);
}

} // namespace reprise
