// reprise: seconds and bytes of a flat step for the search for a mesh
#include "reprise/Dialect/Pipe/Transforms/MeasureStep.h"

#include "Order.h"
#include "StageProblem.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/PlanAttributes.h"
#include "reprise/Support/ByteSize.h"

using namespace mlir;
using namespace reprise;
using namespace reprise::pipe;

/// Adds the seconds of values that the first part receives from other parts, once per pass.
/// Gradients of weights stay where they are.
void StageProblem::addReceived(int64_t parts, std::vector<pipeline::Stage> &units) const {
  pipeline::Links links = models[0]->getLinks();
  DenseSet<std::pair<Value, int64_t>> received;
  for (Operation &op : ProgramOp(step).getBody().front()) {
    std::optional<int64_t> unit = getUnit(&op);
    if (!unit)
      continue;
    int64_t pass = getNumber(&op, kOrderAttr).value_or(0);
    for (Value operand : op.getOperands()) {
      Operation *maker = operand.getDefiningOp();
      bool isOfOther = maker && getNumber(maker, kModelPartAttr).value_or(0) != 0;
      bool isGradient = maker && maker->hasAttr(kBatchSumAttr) && maker->hasAttr(kCotangentAttr);
      if (!isOfOther || isGradient || !received.insert({operand, pass}).second)
        continue;
      auto bytes = static_cast<double>(getByteSize(operand.getType()));
      pick(units[*unit], &op) +=
          links.getSeconds(0, parts - 1, bytes) / static_cast<double>(microbatches);
    }
  }
}

mesh::Step StageProblem::describe(int64_t parts) const {
  mesh::Step made;
  made.problem = problem;
  made.madeForWeight = madeForWeight;
  made.numParameters = numParameters;
  for (auto [unit, outside] : llvm::zip_equal(made.problem.units, problem.outside)) {
    made.arrays.push_back(outside / parts);
    made.parameters.push_back((unit.resident - outside) / parts);
    unit.resident = 0;
  }
  made.problem.outside.clear();
  for (stages::TiedWeight &weight : made.problem.tied)
    weight.bytes /= parts;
  if (parts > 1)
    addReceived(parts, made.problem.units);
  return made;
}

mesh::Step reprise::pipe::measureStep(ProgramOp step, std::shared_ptr<const CostModel> costs,
                                      int64_t parts) {
  StageInputs inputs;
  inputs.devices.push_back({std::move(costs), std::nullopt, std::nullopt});
  return StageProblem(step, inputs, /*checkpoint=*/"", /*replicas=*/1).describe(parts);
}

int64_t reprise::pipe::countStepSweeps(ProgramOp step) { return countSweeps(step); }
