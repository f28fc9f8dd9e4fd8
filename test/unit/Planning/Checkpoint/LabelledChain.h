// reprise: checkpoint problems made by hand, for tests
#ifndef REPRISE_TEST_PLANNING_CHECKPOINT_LABELLEDCHAIN_H
#define REPRISE_TEST_PLANNING_CHECKPOINT_LABELLEDCHAIN_H

#include "reprise/Planning/Checkpoint/Problem/Problem.h"

namespace reprise::checkpoint::test {

/// Returns the first result.
inline int addOperation(Problem &problem, int container, int64_t order, bool primal,
                        std::vector<int> operands, Problem::Label label, int results = 1) {
  Problem::Operation op;
  op.container = container;
  op.order = order;
  op.primal = primal;
  op.operands = std::move(operands);
  op.firstResult = static_cast<int>(problem.values.size());
  op.numResults = results;
  op.flops = 1;
  for (int i = 0; i < results; ++i) {
    Problem::Value value;
    value.operation = static_cast<int>(problem.operations.size());
    value.bytes = 4;
    value.root = static_cast<int>(problem.values.size());
    value.label = label;
    problem.values.push_back(value);
  }
  problem.operations.push_back(op);
  return op.firstResult;
}

/// Makes `blocks` blocks of `length` operations in a chain, then a loss, then the backward pass.
/// The cotangent of every operation reads its operand.
inline Problem makeChain(int blocks, int length, Problem::Label label) {
  Problem problem;
  problem.containers.push_back({-1});
  std::vector<int> inputs, containers;
  int value = kAvailable;
  for (int block = 0; block <= blocks; ++block) {
    problem.containers.push_back({0});
    bool isLoss = block == blocks;
    for (int i = 0; i < (isLoss ? 1 : length); ++i) {
      inputs.push_back(value);
      containers.push_back(block + 1);
      value =
          addOperation(problem, block + 1, 0, true, {value}, isLoss ? Problem::Label::None : label);
    }
  }
  int cotangent = kAvailable;
  for (size_t i = inputs.size(); i-- > 0;)
    cotangent = addOperation(problem, containers[i], 1, false, {cotangent, inputs[i]},
                             Problem::Label::None);
  return problem;
}

} // namespace reprise::checkpoint::test

#endif // REPRISE_TEST_PLANNING_CHECKPOINT_LABELLEDCHAIN_H
