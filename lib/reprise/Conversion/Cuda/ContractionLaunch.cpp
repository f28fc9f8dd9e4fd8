// reprise: a launch for a GPU whose leader is a contraction or a convolution
#include "ContractionLaunch.h"

#include "../ConvolutionParts.h"
#include "LibraryConvolution.h"
#include "LibraryProduct.h"
#include "PlainContraction.h"
#include "TensorContraction.h"
#include "TiledContraction.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Target/Target.h"

using namespace mlir;

namespace reprise {

Operation *findLeaderAlone(Block &body) {
  Operation *leader = findLeader(body);
  return leader && isAlone(body, leader) ? leader : nullptr;
}

/// Scratch is aligned, whatever places have.
static int64_t alignmentOf(const BufferSlot &slot, int64_t ofPlaces) {
  int64_t own = slot.offset == 0 ? widestAccess : slot.offset & -slot.offset;
  return slot.kind == BufferSlot::Shared ? own : std::min(own, ofPlaces);
}

static FailureOr<LaunchOperand> findFramed(LaunchOperands &operands, Value image,
                                           const Frame &frame) {
  if (frame.isEmpty())
    return operands.find(image);
  size_t spatial = cast<RankedTensorType>(image.getType()).getRank() - 2;
  SmallVector<int64_t> low = {0, 0}, high = {0, 0};
  llvm::append_range(low, ArrayRef(frame.low).take_back(spatial));
  llvm::append_range(high, ArrayRef(frame.high).take_back(spatial));
  return operands.findPadded(image, low, high);
}

FailureOr<EmittedLaunch> emitLeaderAlone(Operation *leader, StringRef name, ModuleOp kernels,
                                         LaunchOperands operands, Contractions contractions) {
  auto dot = dyn_cast<DotGeneralOp>(leader);
  if (!dot && contractions == Contractions::Library) {
    FailureOr<bool> isCalled = emitLibraryConvolution(leader, operands);
    if (failed(isCalled))
      return failure();
    if (*isCalled)
      return operands.launch;
  }
  auto found = dot ? ConvolutionOperands{dot.getLhs(), dot.getRhs(), {}} : operandsOf(leader);
  FailureOr<LaunchOperand> lhs = operands.find(found.lhs);
  FailureOr<LaunchOperand> rhs = findFramed(operands, found.rhs, found.frame);
  if (failed(lhs) || failed(rhs))
    return failure();
  int64_t places = getPlaceAlignment(*leader->getBlock());
  int64_t ofLhs = alignmentOf(lhs->slot, places), ofRhs = alignmentOf(rhs->slot, places);
  auto add = [&](const std::string &own, const ContractionSpec &spec, const ResultStrides &result) {
    EmittedCommand command = suitsTensorCores(spec, contractions)
                                 ? emitTensorContraction(kernels, own, spec, result, ofLhs, ofRhs)
                             : suitsTiles(spec)
                                 ? emitTiledContraction(kernels, own, spec, result, ofLhs, ofRhs)
                                 : emitPlainContraction(kernels, own, spec, result);
    command.buffers = {lhs->slot, rhs->slot, {BufferSlot::Output, 0, 0}};
    operands.launch.commands.push_back(command);
  };
  if (dot) {
    auto spec = ContractionSpec::of(dot, lhs->strides, rhs->strides);
    if (contractions == Contractions::Library &&
        emitLibraryProduct(dot, spec, *lhs, *rhs, operands.launch))
      return operands.launch;
    add(name.str(), spec, ResultStrides::rowMajor(spec));
    return operands.launch;
  }
  for (auto [i, part] : llvm::enumerate(partsOf(leader, lhs->strides, rhs->strides)))
    add(i == 0 ? name.str() : (name + "_" + Twine(i)).str(), part.spec, part.result);
  return operands.launch;
}

} // namespace reprise
