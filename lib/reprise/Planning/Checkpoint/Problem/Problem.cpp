// reprise: the problem of what to save and what to replay
#include "reprise/Planning/Checkpoint/Problem/Problem.h"

#include "reprise/Planning/Checkpoint/Problem/Solution.h"

using namespace reprise::checkpoint;

int reprise::checkpoint::getLevel(int64_t order) {
  int level = 0;
  for (; order > 0; order >>= 1)
    ++level;
  return level;
}

bool reprise::checkpoint::readsBack(const Problem::Operation &reader,
                                    const Problem::Operation &definition) {
  return getLevel(reader.order) > getLevel(definition.order);
}

bool reprise::checkpoint::isFixed(const Problem &problem, int value) {
  const Problem::Value &read = problem.values[value];
  return read.outlives || !problem.operations[read.operation].primal;
}
