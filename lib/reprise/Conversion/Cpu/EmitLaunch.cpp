// reprise: emission of any launch for the CPU
#include "reprise/Conversion/Cpu/EmitLaunch.h"

#include "../LoopNest/AttentionLaunch.h"
#include "../LoopNest/InPlace.h"
#include "CpuOperands.h"
#include "NestSchedule.h"
#include "reprise/Conversion/Cpu/Attention.h"
#include "reprise/Conversion/Cpu/LoopNests.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Target/GivenNests.h"

using namespace mlir;

namespace reprise {

SmallVector<std::pair<unsigned, unsigned>> findInPlacePairs(Block &body) {
  if (!findGivenNests(body) && isContractionLaunch(body))
    return findContractionInPlacePairs(body);
  // Levels of one architecture share places: the fewest registers tell.
  return nests::findInPlacePairs(body, nests::NestRules(), [](const nests::Nest &nest) {
    return nests::makeSchedule(nest, 16);
  });
}

static bool isEmpty(Value value) {
  return cast<RankedTensorType>(value.getType()).getNumElements() == 0;
}

FailureOr<EmittedLaunch> emitLaunch(Block &body, StringRef name, ModuleOp kernels,
                                    const CpuTarget &target) {
  // The emitters divide by sizes.
  if (llvm::all_of(body.getTerminator()->getOperands(), isEmpty))
    return EmittedLaunch();
  if (findGivenNests(body))
    return emitLoopNests(body, name, kernels, target);
  if (isContractionLaunch(body))
    return emitContractionLaunch(body, name, kernels, target);
  if (Operation *op = findAttention(body))
    return emitAttentionLaunch(
        op, makeCpuOperands(name, kernels, target), [&](const AttentionSpec &spec) {
          return isa<AttentionOp>(op) ? emitAttention(kernels, name, spec, target)
                                      : emitAttentionBackward(kernels, name, spec, target);
        });
  if (isPoolLaunch(body))
    return emitPoolLaunch(body, name, kernels, target);
  return emitLoopNests(body, name, kernels, target);
}

} // namespace reprise
