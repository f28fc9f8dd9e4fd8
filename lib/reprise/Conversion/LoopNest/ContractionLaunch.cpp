// reprise: launches whose leader is a contraction or a convolution, for all targets
#include "reprise/Conversion/LoopNest/ContractionLaunch.h"

#include "InPlace.h"
#include "LaunchOperands.h"
#include "TileNest.h"
#include "reprise/Conversion/BodyView.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

using namespace mlir;

namespace reprise {

using namespace nests;

/// [batch, rows, columns] of a result of which each group has `rows`: [samples, groups, rows,
/// columns…], or without samples.
static std::array<int64_t, 3> matrixOf(Value result, int64_t groups, bool hasSamples) {
  auto type = cast<RankedTensorType>(result.getType());
  int64_t rows = type.getDimSize(hasSamples) / groups;
  int64_t batch = groups * (hasSamples ? type.getDimSize(0) : 1);
  return {batch, rows, type.getNumElements() / std::max<int64_t>(1, batch * rows)};
}

std::array<int64_t, 3> matrixOf(Operation *leader) {
  if (auto image = dyn_cast<ConvolutionTransposeOp>(leader))
    return matrixOf(image.getResult(), image.getGroups(), true);
  if (auto output = dyn_cast<ConvolutionOp>(leader))
    return matrixOf(output.getResult(), output.getGroups(), true);
  if (auto filter = dyn_cast<ConvolutionFilterOp>(leader))
    return matrixOf(filter.getResult(), filter.getGroups(), false);
  auto dot = cast<DotGeneralOp>(leader);
  auto sizeOf = [](Value value, ArrayRef<int64_t> dims) {
    int64_t size = 1;
    for (int64_t dim : dims)
      size *= cast<RankedTensorType>(value.getType()).getDimSize(dim);
    return size;
  };
  return {sizeOf(dot.getLhs(), dot.getLhsBatch()), sizeOf(dot.getLhs(), dot.getLhsFree()),
          sizeOf(dot.getRhs(), dot.getRhsFree())};
}

/// The ops behind the leader; none if no nest over its elements computes them.
static std::optional<TileNest> findTileNest(Block &body, Operation *leader) {
  if (!llvm::all_of(leader->getOperands(), [](Value operand) { return isMoved(operand); }))
    return std::nullopt;
  auto [batch, rows, columns] = matrixOf(leader);
  return TileNest::get(body, leader, {{batch}, {rows}, {columns}});
}

bool isContractionLaunch(Block &body) {
  Operation *leader = findLeader(body);
  return leader && (isAlone(body, leader) || findTileNest(body, leader));
}

OwningOpRef<Operation *> nests::formNests(Block &body, const NestRules &rules, StringRef name,
                                          ScheduleFn makeSchedule) {
  FailureOr<OwningOpRef<NestProgramOp>> program = failure();
  if (!isContractionLaunch(body)) {
    program = planProgram(body, rules, name);
  } else if (Operation *leader = findLeader(body); !isAlone(body, leader)) {
    TileNest nest = *findTileNest(body, leader);
    OpBuilder b(leader->getContext());
    program = OwningOpRef<NestProgramOp>(
        NestProgramOp::create(b, leader->getLoc(), name, nest.elements, /*shared=*/0));
    (*program)->getBody().emplaceBlock().push_back(nest.kernel.release());
  }
  if (failed(program))
    return nullptr;
  (*program)->walk([&](KernelOp kernel) { (void)makeSchedule(Nest(kernel)); });
  return program->release().getOperation();
}

SmallVector<std::pair<unsigned, unsigned>> findContractionInPlacePairs(Block &body) {
  SmallVector<std::pair<unsigned, unsigned>> pairs;
  Operation *leader = findLeader(body);
  auto isFactor = [&](unsigned argument) {
    return llvm::any_of(leader->getOperands().take_front(2), [&](Value operand) {
      auto view = viewOfArgument(operand);
      return view && view->argument == argument;
    });
  };
  if (isAlone(body, leader)) {
    // Each worker reads given sums before it stores those of the same elements.
    if (auto dot = dyn_cast<DotAccumulateOp>(leader))
      if (auto sums = dyn_cast<BlockArgument>(dot.getSums());
          sums && !isFactor(sums.getArgNumber()))
        pairs.push_back({0, sums.getArgNumber()});
    return pairs;
  }
  std::optional<TileNest> nest = findTileNest(body, leader);
  for (auto [output, result] : llvm::enumerate(body.getTerminator()->getOperands()))
    for (BlockArgument argument : body.getArguments()) {
      unsigned number = argument.getArgNumber();
      if (argument.getType() == result.getType() && !isFactor(number) &&
          readsAtPosition(nest->nest, number))
        pairs.push_back({output, number});
    }
  return pairs;
}

} // namespace reprise
