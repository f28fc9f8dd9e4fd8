// reprise: lowers a module of kernels through MLIR and LLVM IR to machine code
#include "reprise/Conversion/Cpu/Target.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/IR/Threading.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"

using namespace mlir;

namespace reprise {
namespace {

constexpr const char *triple = "x86_64-unknown-linux-gnu";

std::unique_ptr<llvm::TargetMachine> makeMachine(const CpuTarget &target) {
  static const bool initialized = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    return true;
  }();
  (void)initialized;
  std::string error;
  llvm::Triple parsed(triple);
  const llvm::Target *backend = llvm::TargetRegistry::lookupTarget(parsed, error);
  if (!backend)
    llvm::report_fatal_error(llvm::Twine(error));
  llvm::TargetOptions options;
  // Standard, the default, would fuse what vector.fma and the like leave as fmuladd.
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(
      backend->createTargetMachine(parsed, target.level, "", options, llvm::Reloc::PIC_,
                                   llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
}

/// Lowers the batches, which are modules inside of `outer`, at the same time. One pass manager runs
/// them all: several at once would load dialects into the context concurrently, which it does not
/// allow.
LogicalResult lowerToLlvmDialect(ModuleOp outer) {
  PassManager manager(outer.getContext(), ModuleOp::getOperationName());
  OpPassManager &passes = manager.nest<ModuleOp>();
  passes.addPass(createSCFToControlFlowPass());
  passes.addPass(createConvertVectorToLLVMPass());
  passes.addPass(createConvertMathToLLVMPass());
  passes.addPass(createArithToLLVMConversionPass());
  passes.addPass(createConvertControlFlowToLLVMPass());
  passes.addPass(createConvertIndexToLLVMPass());
  passes.addPass(createUBToLLVMConversionPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
  return manager.run(outer);
}

void setAttributes(llvm::Module &module, const CpuTarget &target) {
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    // Without nounwind every kernel would drag an .eh_frame along.
    function.addFnAttr(llvm::Attribute::NoUnwind);
    function.addFnAttr("target-cpu", target.level);
    function.addFnAttr("tune-cpu", target.tune);
    function.setAlignment(llvm::Align(64));
  }
}

/// The passes that emitted vector code needs: it is as fast as after -O3, and compiles in a tenth
/// of the time.
LogicalResult optimize(llvm::Module &module, llvm::TargetMachine &machine,
                       const llvm::TargetLibraryInfoImpl &library) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  functions.registerPass([&] { return llvm::TargetLibraryAnalysis(library); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes;
  llvm::Error error = builder.parsePassPipeline(
      passes, "function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,"
              "loop-mssa(licm),early-cse<memssa>,dce)");
  if (error) {
    llvm::consumeError(std::move(error));
    return failure();
  }
  passes.run(module, modules);
  return success();
}

/// Compiles one lowered batch of kernels to an object.
FailureOr<std::string> compileBatch(ModuleOp batch, const CpuTarget &target) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = translateModuleToLLVMIR(batch, context, "kernels");
  if (!module)
    return batch.emitError("the kernels do not translate to LLVM IR");
  std::unique_ptr<llvm::TargetMachine> machine = makeMachine(target);
  module->setTargetTriple(machine->getTargetTriple());
  module->setDataLayout(machine->createDataLayout());
  setAttributes(*module, target);
  // LLVM would turn loops into calls of memset and memcpy, which an image cannot reach.
  llvm::TargetLibraryInfoImpl library(machine->getTargetTriple());
  library.disableAllFunctions();
  if (failed(optimize(*module, *machine, library)))
    return batch.emitError("the kernels' LLVM IR cannot be optimized");

  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager codegen;
  codegen.add(new llvm::TargetLibraryInfoWrapperPass(library));
  if (machine->addPassesToEmitFile(codegen, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    return batch.emitError("this LLVM cannot write x86-64 objects");
  codegen.run(*module);
  return std::string(object.data(), object.size());
}

/// Copies a module's kernels into modules of about equal numbers of operations, inside of one that
/// is returned. The split depends on the module alone, never on the threads at hand, so that the
/// image is always the same.
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

FailureOr<Image> compileKernels(ModuleOp module, const CpuTarget &target) {
  MLIRContext &context = *module.getContext();
  registerTranslations(context);
  OwningOpRef<ModuleOp> outer = splitIntoBatches(module);
  if (failed(lowerToLlvmDialect(*outer)))
    return failure();
  auto batches = llvm::to_vector(outer->getOps<ModuleOp>());
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
