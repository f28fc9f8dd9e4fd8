// reprise: registration of all dialects and passes that the tools use
#include "reprise/InitAll.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/InlinerInterfaceImpl.h"
#include "mlir/Dialect/Shard/IR/ShardDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"
#include "reprise/Conversion/Emission.h"
#include "reprise/Conversion/Targets.h"
#include "reprise/Dialect/Exec/Transforms/Passes.h"
#include "reprise/Dialect/Nest/IR/Nest.h"
#include "reprise/Dialect/Pipe/Transforms/Passes.h"
#include "reprise/Dialect/Reprise/Batching.h"
#include "reprise/Dialect/Reprise/Derivatives.h"
#include "reprise/Dialect/Reprise/Transforms/Passes.h"
#include "reprise/Pipelines/Phases.h"
#include "reprise/Policy/Policy.h"
#include "reprise/Reference/Interpreter.h"
#include "reprise/StableHlo/Passes.h"
#include "reprise/StableHlo/Syntax.h"

using namespace mlir;

namespace reprise {
#define GEN_PASS_REGISTRATION
#include "reprise/Dialect/Reprise/Transforms/Passes.h.inc"
namespace exec {
#define GEN_PASS_REGISTRATION
#include "reprise/Dialect/Exec/Transforms/Passes.h.inc"
} // namespace exec
namespace pipe {
#define GEN_PASS_REGISTRATION
#include "reprise/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace pipe
namespace stablehlo {
#define GEN_PASS_REGISTRATION
#include "reprise/StableHlo/Passes.h.inc"
} // namespace stablehlo
} // namespace reprise

void reprise::registerAllDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, cf::ControlFlowDialect, exec::ExecDialect, func::FuncDialect,
                  index::IndexDialect, LLVM::LLVMDialect, math::MathDialect, nests::NestDialect,
                  pipe::PipeDialect, RepriseDialect, scf::SCFDialect, shard::ShardDialect,
                  tensor::TensorDialect, ub::UBDialect, vector::VectorDialect>();
  func::registerInlinerExtension(registry);
  LLVM::registerInlinerInterface(registry);
  registerDerivatives(registry);
  registerBatching(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerEmission(registry);
  registerReference(registry);
  registerTargets(registry);
  registerPolicies(registry);
  stablehlo::registerSyntax(registry);
}

void reprise::registerAllPasses() {
  registerTransformsPasses();
  registerConversionPasses();
  stablehlo::registerImportStableHloPass();
  registerImportPass();
  registerCanonicalizePass();
  registerThreadRandomPass();
  registerPadClassesPass();
  registerAssignLabelsPass();
  registerDifferentiatePass();
  registerSplitLoopsPass();
  registerMakeProgramsPass();
  registerApplyPlanPass();
  registerDeferGradientPass();
  registerSliceHeadPass();
  registerShardModelPass();
  registerAnnotateShardsPass();
  registerExpandLanesPass();
  registerFuseEpiloguesPass();
  registerSplitCastsPass();
  registerOffloadValuesPass();
  registerMarkStagesPass();
  registerSliceBatchPass();
  pipe::registerBalanceStagesPass();
  pipe::registerFormPartPiecesPass();
  pipe::registerFormPiecesPass();
  pipe::registerInlinePiecesPass();
  pipe::registerLabelPiecesPass();
  pipe::registerReplayPartsPass();
  pipe::registerLowerMicrobatchesPass();
  pipe::registerScheduleTransfersPass();
  pipe::registerShardArraysPass();
  pipe::registerSplitStacksPass();
  pipe::registerSplitStagesPass();
  registerUnrollLoopsPass();
  exec::registerFormLaunchesPass();
  exec::registerFormNestsPass();
  exec::registerEmitNestsPass();
  exec::registerOrderLaunchesPass();
  exec::registerPlaceBuffersPass();
  exec::registerVerifyBuffersPass();
  exec::registerRepeatSendsPass();
  exec::registerVerifyProgramsPass();
  registerCheckpointPass();
  registerExportProblemPass();
  registerVerifyCheckpointPass();
  registerExpandNormalizationsPass();
  registerExposeReplaysPass();
  registerPhases();
}
