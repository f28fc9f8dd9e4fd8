// reprise: hash of two steps of a module in the interpreter
#ifndef REPRISE_TEST_UNIT_REFERENCE_HASHSTEPS_H
#define REPRISE_TEST_UNIT_REFERENCE_HASHSTEPS_H

#include "Interpret.h"
#include "reprise/Reference/Steps.h"

namespace reprise::test {

struct HashStepsTest : InterpreterTest {
  /// Over the bits of all results after two steps.
  uint64_t hash() {
    StepsOptions options;
    options.seed = 3;
    options.steps = 2;
    std::string problem;
    auto report = interpretSteps(*module, options, problem);
    EXPECT_TRUE(succeeded(report)) << problem << error;
    return succeeded(report) ? report->hash : 0;
  }
};

} // namespace reprise::test

#endif
