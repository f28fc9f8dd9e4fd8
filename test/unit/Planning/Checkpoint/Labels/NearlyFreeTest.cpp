// reprise: tests of values that are cheap enough to be replayed without a budget
#include "reprise/Planning/Checkpoint/Labels/NearlyFree.h"
#include "../LabelledChain.h"

#include <gtest/gtest.h>

using namespace reprise::checkpoint;
using namespace reprise::checkpoint::test;
using Label = Problem::Label;

namespace {

constexpr int64_t kBytes = 4096;

/// A forward and a backward part, operation by operation.
struct Step {
  Step() { problem.containers = {{-1}, {0}}; }

  int add(int64_t order, Kind kind, std::vector<int> operands, int64_t flops, int64_t bytes) {
    int value = addOperation(problem, 1, order, order == 0, std::move(operands), Label::None);
    problem.operations.back().kind = kind;
    problem.operations.back().flops = flops;
    problem.values.back().bytes = bytes;
    return value;
  }
  int forward(Kind kind, std::vector<int> operands, int64_t flops = kBytes,
              int64_t bytes = kBytes) {
    int value = add(0, kind, std::move(operands), flops, bytes);
    if (kind == Kind::View)
      problem.values[value].root = problem.values[problem.operations.back().operands[0]].root;
    return value;
  }
  /// Adds a contraction that is never replayed and that the backward pass does not read.
  int product(int64_t bytes = kBytes) {
    return forward(Kind::Contraction, {kAvailable}, kBytes, bytes);
  }
  /// Adds a contraction that is saved, since the backward pass reads it.
  int saved() {
    int value = product();
    reads.push_back({Kind::Elementwise, value});
    return value;
  }
  void readBack(int value, Kind kind = Kind::Elementwise) { reads.push_back({kind, value}); }

  std::vector<bool> find() {
    for (auto [kind, value] : reads)
      add(1, kind, {value}, kBytes, kBytes);
    reads.clear();
    return findNearlyFree(problem);
  }

  Problem problem;
  std::vector<std::pair<Kind, int>> reads;
};

TEST(NearlyFree, IsAnElementwiseValueOfWhatIsSaved) {
  Step step;
  int input = step.saved(), activation = step.forward(Kind::Elementwise, {input});
  step.readBack(activation);
  std::vector<bool> free = step.find();
  EXPECT_TRUE(free[activation]);
  EXPECT_FALSE(free[input]);
}

TEST(NearlyFree, ArgumentsNeedNotBeSaved) {
  Step step;
  int mask = step.forward(Kind::Elementwise, {kAvailable});
  step.readBack(mask);
  EXPECT_TRUE(step.find()[mask]);
}

TEST(NearlyFree, NotWhatTheBackwardPassDoesNotRead) {
  Step step;
  int activation = step.forward(Kind::Elementwise, {step.saved()});
  step.forward(Kind::Reduction, {activation});
  EXPECT_FALSE(step.find()[activation]);
}

TEST(NearlyFree, ArithmeticIsComparedWithTheBytesThatItSpares) {
  for (bool isCheap : {true, false}) {
    Step step;
    int64_t flops = 12 * kBytes + (isCheap ? 0 : 1);
    int activation = step.forward(Kind::Elementwise, {step.saved()}, flops);
    step.readBack(activation);
    EXPECT_EQ(step.find()[activation], isCheap);
  }
}

/// No value is replayed in a kernel that reads memory, except for a contraction: a pass before it
/// replays the value, as the contraction reads its operand many times.
TEST(NearlyFree, NotWhatIsReadFromMemoryButByAContraction) {
  for (Kind kind : {Kind::Contraction, Kind::Other}) {
    Step step;
    int activation = step.forward(Kind::Elementwise, {step.saved()});
    step.readBack(activation);
    step.readBack(activation, kind);
    EXPECT_EQ(step.find()[activation], kind == Kind::Contraction);
  }
}

TEST(NearlyFree, NotWhatIsReadFromMemoryThroughAView) {
  for (Kind kind : {Kind::Contraction, Kind::Other, Kind::Elementwise}) {
    Step step;
    int activation = step.forward(Kind::Elementwise, {step.saved()});
    int view = step.add(1, Kind::View, {activation}, 0, kBytes);
    step.problem.values[view].root = activation;
    step.add(1, kind, {view}, kBytes, kBytes);
    EXPECT_EQ(step.find()[activation], kind == Kind::Elementwise);
  }
}

TEST(NearlyFree, AChainHasAtMostSixOperations) {
  for (int length : {6, 7}) {
    Step step;
    int value = step.saved();
    for (int i = 0; i < length; ++i)
      value = step.forward(Kind::Elementwise, {value}, 1);
    step.readBack(value);
    EXPECT_EQ(step.find()[value], length == 6);
  }
}

TEST(NearlyFree, TheWholeChainIsComputedAgain) {
  Step step;
  int inner = step.forward(Kind::Elementwise, {step.saved()});
  int outer = step.forward(Kind::Elementwise, {inner});
  step.readBack(outer);
  std::vector<bool> free = step.find();
  EXPECT_TRUE(free[inner]);
  EXPECT_TRUE(free[outer]);
}

/// An operand of at most half of the value's bytes may be kept for the replay; a larger one may
/// not.
TEST(NearlyFree, WhatItReadsMayBeKeptIfItIsSmall) {
  for (int64_t bytes : {kBytes / 8, kBytes / 2, kBytes / 2 + 1, kBytes}) {
    Step step;
    int leaf = step.product(bytes);
    int activation = step.forward(Kind::Elementwise, {step.saved(), leaf});
    step.readBack(activation);
    EXPECT_EQ(step.find()[activation], bytes <= kBytes / 2);
  }
}

/// The chain starts from a 16-bit product, has the maximal length, and ends in 16 bits; conversions
/// do not count.
TEST(NearlyFree, ConversionsAddNothingToALength) {
  for (int length : {6, 7}) {
    Step step;
    int value = step.forward(Kind::Elementwise, {step.product(kBytes / 2)});
    for (int i = 0; i < length; ++i)
      value = step.forward(Kind::Elementwise, {step.saved(), value});
    step.readBack(value);
    EXPECT_EQ(step.find()[value], length == 6);
  }
}

TEST(NearlyFree, LabelsComeFirst) {
  for (Label label : {Label::PreferSave, Label::MustSave, Label::PreferRecompute}) {
    Step step;
    int activation = step.forward(Kind::Elementwise, {step.saved()});
    step.problem.values[activation].label = label;
    step.readBack(activation);
    EXPECT_FALSE(step.find()[activation]);
  }
}

/// A chain does not start from a value that is replayed for a label, because the chain would be
/// computed twice.
TEST(NearlyFree, NotOfWhatIsComputedAgainForALabel) {
  Step step;
  int input = step.saved();
  step.problem.values[input].label = Label::PreferRecompute;
  int activation = step.forward(Kind::Elementwise, {input});
  step.readBack(activation);
  EXPECT_FALSE(step.find()[activation]);
}

TEST(NearlyFree, NotWhatIsThereInAnyCase) {
  Step step;
  int activation = step.forward(Kind::Elementwise, {step.saved()});
  step.problem.values[activation].outlives = true;
  step.readBack(activation);
  EXPECT_FALSE(step.find()[activation]);
}

TEST(NearlyFree, OnlyElementwiseOperations) {
  Step step;
  int sum = step.forward(Kind::Reduction, {step.saved()});
  step.readBack(sum);
  EXPECT_FALSE(step.find()[sum]);
}

} // namespace
