// reprise: the arena over the step: the offset and the launches of each buffer
#include "Report.h"

#include "reprise/Dialect/Exec/IR/Storage.h"
#include "reprise/Dialect/Reprise/IR/Naming.h"
#include "reprise/Support/ByteSize.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace reprise {

/// Returns the name of the command or loop that first stores into a buffer.
static std::string getName(Operation *op) {
  if (auto launch = dyn_cast<exec::LaunchOp>(op))
    return exec::getLabel(launch);
  if (exec::Positions::isBeside(op))
    return op->getName().stripDialect().str();
  std::string scope = getScope(op->getLoc());
  return scope.empty() ? "loop" : "loop " + scope;
}

namespace {
struct Buffer {
  std::string name;
  int64_t first, last;
};
} // namespace

/// The buffers by their roots, in the order of their first accesses in the program.
static llvm::MapVector<Value, Buffer> findBuffers(ProgramOp step,
                                                  const exec::Positions &positions) {
  llvm::MapVector<Value, Buffer> buffers;
  auto touch = [&](Value value, Operation *op) {
    Value root = exec::findStorage(value).root;
    if (!exec::isMade(root))
      return;
    auto [first, last] = positions.seenFrom(root, op);
    auto [found, isNew] = buffers.try_emplace(root);
    Buffer &buffer = found->second;
    if (isNew)
      buffer = {getName(root.getDefiningOp()), first, last};
    buffer.first = std::min(buffer.first, first);
    buffer.last = std::max(buffer.last, last);
  };
  step.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op->getParentOfType<exec::LaunchOp>())
      return;
    if (isa<exec::LaunchOp, LoopOp, ReturnOp>(op) || exec::Positions::isBeside(op)) {
      llvm::for_each(op->getResults(), [&](Value value) { touch(value, op); });
      llvm::for_each(op->getOperands(), [&](Value value) { touch(value, op); });
    }
  });
  return buffers;
}

/// Returns the part of the step whose op computes the result; "" if the kernels phase recorded
/// none.
static std::string findPart(exec::LaunchOp launch, unsigned result) {
  auto parts = launch ? launch->getAttrOfType<DenseI64ArrayAttr>(exec::kPartsAttr) : nullptr;
  if (!parts)
    return "";
  Block &body = launch.getBody().front();
  Operation *maker = body.getTerminator()->getOperand(result).getDefiningOp();
  for (auto [op, part] : llvm::zip(body.without_terminator(), parts.asArrayRef()))
    if (&op == maker)
      return stringifyPart(static_cast<exec::Part>(part)).str();
  return "";
}

std::optional<int64_t> findBackwardLaunch(ProgramOp step) {
  exec::Positions positions(step.getBody().front());
  std::optional<int64_t> first;
  for (exec::LaunchOp launch : positions.launches) {
    auto parts = launch->getAttrOfType<DenseI64ArrayAttr>(exec::kPartsAttr);
    // A copy has no ops, and may be of any part.
    bool isForward =
        !parts || parts.empty() ||
        llvm::is_contained(parts.asArrayRef(), static_cast<int64_t>(exec::Part::Forward));
    if (!isForward)
      first = std::min(first.value_or(INT64_MAX), positions.of(launch).first);
  }
  return first;
}

std::vector<ReportedBuffer> describeTimeline(ProgramOp step) {
  std::vector<ReportedBuffer> described;
  exec::Positions positions(step.getBody().front());
  for (auto &[root, buffer] : findBuffers(step, positions)) {
    unsigned result = cast<OpResult>(root).getResultNumber();
    Operation *op = root.getDefiningOp();
    auto maker = dyn_cast<exec::StoringOpInterface>(op);
    if (maker && (*maker.getArguments())[result] >= 0)
      continue;
    auto places = op->getAttrOfType<DenseI64ArrayAttr>(exec::kOffsetsAttr);
    described.push_back({buffer.name, buffer.first, buffer.last,
                         maker ? (*maker.getOffsets())[result] : places[result],
                         getByteSize(root.getType()),
                         findPart(dyn_cast<exec::LaunchOp>(op), result)});
  }
  for (exec::LaunchOp launch : positions.launches)
    if (auto scratch = launch.getScratch()) {
      auto [first, last] = positions.of(launch);
      described.push_back({"scratch of " + exec::getLabel(launch), first, last, (*scratch)[0],
                           (*scratch)[1], "scratch"});
    }
  return described;
}

} // namespace reprise
