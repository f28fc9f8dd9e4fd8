// reprise: steps from emitted kernels to code that all targets share
#include "Codegen.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetOptions.h"

using namespace mlir;

namespace reprise {

LogicalResult lowerToLlvmDialect(ModuleOp outer) {
  // We run one pass manager over all modules, because several at once would load dialects into the
  // context concurrently, which is not allowed.
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

std::unique_ptr<llvm::TargetMachine> makeMachine(StringRef triple, StringRef cpu) {
  std::string error;
  llvm::Triple parsed(triple);
  const llvm::Target *backend = llvm::TargetRegistry::lookupTarget(parsed, error);
  if (!backend)
    llvm::report_fatal_error(llvm::Twine(error));
  llvm::TargetOptions options;
  // The default, Standard, would fuse the fmuladd operations that vector.fma and others leave.
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(
      backend->createTargetMachine(parsed, cpu, "", options, llvm::Reloc::PIC_,
                                   llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
}

/// Returns the functions that LLVM may call: none, because LLVM would turn loops into calls of
/// memset and memcpy, which an image cannot reach.
static llvm::TargetLibraryInfoImpl makeLibrary(const llvm::TargetMachine &machine) {
  llvm::TargetLibraryInfoImpl library(machine.getTargetTriple());
  library.disableAllFunctions();
  return library;
}

void runPasses(llvm::Module &module, llvm::TargetMachine &machine, StringRef pipeline) {
  llvm::TargetLibraryInfoImpl library = makeLibrary(machine);
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
  llvm::cantFail(builder.parsePassPipeline(passes, pipeline), "a pipeline of passes is misspelled");
  passes.run(module, modules);
}

/// Passes that emitted vector code needs: the result is as fast as after -O3, in a tenth of the
/// compile time.
constexpr llvm::StringLiteral emittedCodePasses =
    "function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(licm),"
    "early-cse<memssa>,dce)";

/// Returns the only lane that a constant mask enables; none for any other mask.
static std::optional<unsigned> findOnlyLane(llvm::Value *mask) {
  auto *constant = dyn_cast<llvm::Constant>(mask);
  std::optional<unsigned> only;
  unsigned lanes = cast<llvm::FixedVectorType>(mask->getType())->getNumElements();
  for (unsigned lane = 0; constant && lane < lanes; ++lane) {
    llvm::Constant *element = constant->getAggregateElement(lane);
    if (element && element->isNullValue())
      continue;
    if (!element || only)
      return std::nullopt;
    only = lane;
  }
  return only;
}

/// Replaces masked stores of one lane by scalar stores. The x86 backend of LLVM 22 would store a
/// truncated lane in its original width (llvm/llvm-project#179489).
static void scalarizeSingleStores(llvm::Function &function) {
  for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto *call = dyn_cast<llvm::IntrinsicInst>(&instruction);
    if (!call || call->getIntrinsicID() != llvm::Intrinsic::masked_store)
      continue;
    llvm::Value *value = call->getArgOperand(0), *pointer = call->getArgOperand(1);
    std::optional<unsigned> lane = findOnlyLane(call->getArgOperand(2));
    if (!lane)
      continue;
    llvm::IRBuilder<> builder(call);
    llvm::Value *element = builder.CreateExtractElement(value, *lane);
    pointer = builder.CreateConstInBoundsGEP1_64(element->getType(), pointer, *lane);
    builder.CreateAlignedStore(element, pointer,
                               llvm::Align(element->getType()->getPrimitiveSizeInBits() / 8));
    call->eraseFromParent();
  }
}

FailureOr<std::string> generateCode(Operation *lowered, llvm::TargetMachine &machine,
                                    llvm::CodeGenFileType type,
                                    llvm::function_ref<LogicalResult(llvm::Module &)> prepare) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = translateModuleToLLVMIR(lowered, context, "kernels");
  if (!module)
    return lowered->emitError("the kernels do not translate to LLVM IR");
  module->setTargetTriple(machine.getTargetTriple());
  module->setDataLayout(machine.createDataLayout());
  if (failed(prepare(*module)))
    return failure();
  runPasses(*module, machine, emittedCodePasses);
  for (llvm::Function &function : *module)
    scalarizeSingleStores(function);

  llvm::SmallVector<char, 0> code;
  llvm::raw_svector_ostream stream(code);
  llvm::legacy::PassManager codegen;
  codegen.add(new llvm::TargetLibraryInfoWrapperPass(makeLibrary(machine)));
  if (machine.addPassesToEmitFile(codegen, stream, nullptr, type))
    return lowered->emitError("this LLVM cannot write code for ")
           << machine.getTargetTriple().str();
  codegen.run(*module);
  return std::string(code.data(), code.size());
}

} // namespace reprise
