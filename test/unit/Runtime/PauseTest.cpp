// reprise: tests of steps that stop at a pause
#include "TestBundle.h"
#include "reprise/Runtime/Session.h"
#include "reprise/Runtime/Trace.h"

#include "gtest/gtest.h"

using namespace reprise::runtime;
using namespace reprise::runtime::test;

namespace {

constexpr int64_t n = 4;
constexpr uint64_t bytes = 4 * n;

/// Arguments w (parameter, 100 · seed + i), x (input), late (input); sum = w + x, the pause,
/// total = sum + late, w' = total · 0.5. Results: sum, total, w.
Bundle pausingBundle() {
  Bundle bundle = emptyBundle();
  bundle.threads = 2;
  bundle.arguments = {{"w", Role::Parameter, DType::F32, {n}, -1, bytes, true},
                      {"x", Role::Input, DType::F32, {n}, -1, bytes, false},
                      {"late", Role::Input, DType::F32, {n}, -1, bytes, false},
                      {"seed", Role::Seed, DType::I64, {}, -1, 8, false}};
  BufferRef w = argument(0, bytes), sum = arena(0, bytes), total = arena(64, bytes);
  Program step{"step", {}, 64 + bytes};
  step.commands = {command(Add, n, {w, argument(1, bytes)}, {sum}),
                   command(Add, n, {sum, argument(2, bytes)}, {total}),
                   command(Half, n, {total}, {w})};
  step.pause = 1;
  bundle.programs = {step, {"init_parameters", {command(Fill, n, {argument(3, 8)}, {w})}, 0}};
  bundle.results = {{"sum", DType::F32, {n}, sum, -1},
                    {"total", DType::F32, {n}, total, -1},
                    {"w", DType::F32, {n}, w, 0}};
  return bundle;
}

class PauseTest : public ::testing::Test {
protected:
  void open(Bundle bundle, unsigned threads = 2) {
    auto made = Executable::create(std::move(bundle), "m.rpb", threads);
    ASSERT_TRUE(bool(made)) << made.message();
    session.reset();
    executable = std::move(*made);
    session = std::make_unique<Session>(*executable);
  }
  static void good(Error error) { EXPECT_FALSE(bool(error)) << error.message(); }
  void give(const char *name, float first) {
    float data[n] = {first, first + 1, first + 2, first + 3};
    good(session->giveValue({name, DType::F32, {n}, data}));
  }
  float value(size_t result, size_t element) const {
    return static_cast<const float *>(session->results()[result].data)[element];
  }
  std::unique_ptr<Executable> executable;
  std::unique_ptr<Session> session;
};

TEST_F(PauseTest, WhatIsThereAtThePauseFollowsFromTheCommands) {
  Bundle bundle = pausingBundle();
  EXPECT_TRUE(bundle.pauses());
  EXPECT_FALSE(trainingBundle(4).pauses());
  EXPECT_EQ(bundle.programs[0].executionsToPause(), 1u);
  EXPECT_TRUE(bundle.isLate(2));
  EXPECT_FALSE(bundle.isLate(0)) << "no input";
  EXPECT_FALSE(bundle.isLate(1)) << "read before";
  bundle.arguments[2].role = Role::State;
  EXPECT_TRUE(bundle.isLate(2)) << "nothing makes its value";
  bundle.arguments[2].hasInitializer = true;
  EXPECT_FALSE(bundle.isLate(2)) << "an initializer does, before the first step";
  bundle.arguments[2].hasInitializer = false;
  bundle.arguments[2].role = Role::Input;
  EXPECT_TRUE(bundle.isUsedBehindPause(0)) << "written";
  EXPECT_TRUE(bundle.isUsedBehindPause(2)) << "read";
  EXPECT_FALSE(bundle.isUsedBehindPause(1));
  EXPECT_FALSE(trainingBundle(4).isUsedBehindPause(0)) << "no pause";
  EXPECT_TRUE(bundle.isEarly(bundle.results[0]));
  EXPECT_FALSE(bundle.isEarly(bundle.results[1]));
  EXPECT_FALSE(bundle.isEarly(bundle.results[2]));
  // The step runs row by row, in a repeat behind the pause.
  bundle.programs[0].commands.insert(bundle.programs[0].commands.begin() + 1, repeat(n, 1));
  Command &row = bundle.programs[0].commands[2];
  row = command(Half, 1, {argument(2, 4)}, {arena(0, 4)});
  row.operands[1].strides = {4};
  EXPECT_FALSE(bundle.isEarly(bundle.results[0])) << "the last row is written there";
  row.operands[1].buffer.offset = bytes;
  EXPECT_TRUE(bundle.isEarly(bundle.results[0]));
}

TEST_F(PauseTest, AStepInTwoParts) {
  open(pausingBundle());
  give("x", 0);
  good(session->setState({1, 0, 0}));
  good(session->start(2));
  for (int64_t step = 0; step < 2; ++step) {
    float before = value(2, 3);
    good(session->beginStep());
    EXPECT_TRUE(session->isPaused());
    EXPECT_EQ(session->state().step, step) << "the step is not done";
    EXPECT_EQ(value(0, 3), before + 3);
    EXPECT_EQ(value(2, 3), before);
    give("late", float(10 * step));
    good(session->endStep());
    EXPECT_FALSE(session->isPaused());
    EXPECT_EQ(session->state().step, step + 1);
    EXPECT_EQ(value(2, 3), (before + 3 + float(10 * step + 3)) * 0.5f);
  }
}

TEST_F(PauseTest, BothPartsAreOneStep) {
  uint64_t hashes[3];
  for (int way = 0; way < 3; ++way) {
    open(pausingBundle(), way == 2 ? 1 : 2);
    give("x", 3);
    give("late", 7);
    good(session->start(1));
    if (way == 0) {
      good(session->step());
    } else {
      good(session->beginStep());
      good(session->beginStep()); // drops the first step
      good(session->endStep());
    }
    hashes[way] = *session->hash();
  }
  EXPECT_EQ(hashes[0], hashes[1]);
  EXPECT_EQ(hashes[0], hashes[2]);
}

TEST_F(PauseTest, LateInputsMayBeBoundAtThePause) {
  alignas(64) float late[n] = {1, 2, 3, 4}, other[n] = {5, 6, 7, 8};
  open(pausingBundle());
  give("x", 0);
  good(session->start(2));
  good(session->beginStep());
  good(session->bind("late", late, bytes));
  good(session->endStep());
  EXPECT_EQ(value(1, 1), (1 + 1) + 2);
  good(session->beginStep());
  good(session->bind("late", other, bytes));
  good(session->endStep());
  EXPECT_EQ(value(1, 1), 2 + 1 + 6);
}

TEST_F(PauseTest, MemoryMayMoveAtThePause) {
  alignas(64) float w[n] = {1, 2, 3, 4}, moved[n] = {1, 2, 3, 4}, x[n] = {};
  open(pausingBundle());
  good(session->bind("w", w, bytes));
  good(session->bind("x", x, bytes));
  good(session->start(2));
  good(session->beginStep());
  // The memory of x holds other data by now, because no command reads x any more.
  good(session->bind("late", x, bytes));
  good(session->bind("w", moved, bytes));
  good(session->endStep());
  EXPECT_EQ(w[3], 4);
  EXPECT_EQ(moved[3], (4 + 0 + 0) * 0.5f);
  good(session->bind("x", w, bytes));
  good(session->beginStep());
  good(session->bind("w", x, bytes));
  EXPECT_NE(session->endStep().message().find("overlaps"), std::string::npos) << "w and late";
}

TEST_F(PauseTest, RefusesWhatItShould) {
  open(pausingBundle());
  EXPECT_EQ(session->start(1).message(),
            "m.rpb: input 'x' has no initializer and was given no value");
  give("x", 0);
  good(session->start(1));
  EXPECT_EQ(session->endStep().message(), "m.rpb: no step waits at its pause");
  EXPECT_EQ(session->step().message(),
            "m.rpb: input 'late' has no initializer and was given no value");
  good(session->beginStep());
  EXPECT_EQ(session->hash().message(),
            "m.rpb: the step waits at its pause: only some of its results are there");
  EXPECT_EQ(session->endStep().message(),
            "m.rpb: input 'late' has no initializer and was given no value");
  open(trainingBundle(4));
  good(session->start(1));
  EXPECT_EQ(session->beginStep().message(), "m.rpb: the step has no pause");
}

TEST_F(PauseTest, ARecorderSeesBothParts) {
  open(pausingBundle(), 1);
  give("x", 0);
  give("late", 0);
  good(session->start(2));
  Recorder recorder(3, 1);
  executable->setRecorder(&recorder);
  auto countSpans = [&] {
    int count = 0;
    for (uint64_t command = 0; command < 3; ++command)
      count += recorder.at(command, 0).end != 0;
    return count;
  };
  good(session->step());
  EXPECT_EQ(countSpans(), 3);
  good(session->beginStep());
  EXPECT_EQ(countSpans(), 1) << "what was before is cleared";
  good(session->endStep());
  EXPECT_EQ(countSpans(), 3);
}

TEST_F(PauseTest, TheArenaOfBothPartsIsExecuted) {
  open(pausingBundle());
  give("x", 0);
  give("late", 0);
  good(session->start(1));
  auto executed = session->executedArenaBytes();
  ASSERT_TRUE(bool(executed)) << executed.message();
  EXPECT_EQ(executed->front(), 64 + bytes);
}

TEST_F(PauseTest, IndicesAreCheckedInBothParts) {
  Bundle bundle = trainingBundle(4);
  bundle.arguments[1] = {"x", Role::Input, DType::I64, {2}, -1, 16, false};
  BufferRef x = argument(1, 16), w = argument(0, 16);
  bundle.programs[0].commands = {command(Gather, 2, {w, x}, {arena(0, 8)}),
                                 command(Gather, 2, {w, x}, {arena(8, 8)})};
  bundle.programs[0].pause = 1;
  bundle.programs.pop_back(); // init_inputs
  bundle.results = {{"sum", DType::F32, {2}, arena(0, 8), -1}};
  bundle.programs[0].commands[0].indexChecks = {{1, DType::I64, 2, 4, "first"}};
  bundle.programs[0].commands[1].indexChecks = {{1, DType::I64, 2, 3, "second"}};
  open(bundle);
  executable->setCheckIndices(true);
  int64_t positions[2] = {0, 3};
  good(session->giveValue({"x", DType::I64, {2}, positions}));
  good(session->start(1));
  good(session->beginStep());
  EXPECT_EQ(session->endStep().message(),
            "m.rpb: step 0, command 1: indices of second outside [0, 3): 1 of 2, the first is 3 at "
            "position 1");
}

TEST(PauseBundle, RoundTrip) {
  Expected<std::vector<uint8_t>> file = serializeBundle(pausingBundle());
  ASSERT_TRUE(bool(file)) << file.message();
  Expected<Bundle> again = deserializeBundle(file->data(), file->size(), "m.rpb");
  ASSERT_TRUE(bool(again)) << again.message();
  EXPECT_TRUE(*again == pausingBundle());
  EXPECT_EQ(again->programs[0].pause, 1);
  Bundle other = pausingBundle();
  other.programs[0].pause = 2;
  EXPECT_FALSE(other == pausingBundle());
}

TEST(PauseBundle, APauseStandsWhereAStepCanStop) {
  auto check = [](auto change) -> std::string {
    Bundle bundle = pausingBundle();
    change(bundle);
    Error error = validateBundle(bundle);
    return error ? error.message() : "";
  };
  EXPECT_EQ(check([](Bundle &) {}), "");
  EXPECT_EQ(check([](Bundle &b) { b.programs[0].pause = 0; }), "");
  EXPECT_EQ(check([](Bundle &b) { b.programs[0].pause = 3; }), "");
  EXPECT_EQ(check([](Bundle &b) { b.programs[0].pause = 4; }),
            "program 'step': the pause is out of range");
  EXPECT_EQ(check([](Bundle &b) { b.programs[0].pause = -2; }),
            "program 'step': the pause is out of range");
  EXPECT_EQ(check([](Bundle &b) { b.programs[1].pause = 0; }),
            "program 'init_parameters': only a step of a single device can pause");
  auto insert = [](Bundle &b, int64_t pause) {
    b.programs[0].commands.insert(b.programs[0].commands.begin(), repeat(2, 2));
    b.programs[0].pause = pause;
  };
  EXPECT_EQ(check([&](Bundle &b) { insert(b, 2); }),
            "program 'step': the pause stands in a repeat");
  EXPECT_EQ(check([&](Bundle &b) { insert(b, 1); }),
            "program 'step': the pause stands in a repeat");
  EXPECT_EQ(check([&](Bundle &b) { insert(b, 0); }), "");
  EXPECT_EQ(check([&](Bundle &b) { insert(b, 3); }), "");
  Bundle two = twoDeviceBundle(4);
  two.programs[0].pause = 0;
  EXPECT_EQ(validateBundle(two).message(),
            "program 'step': only a step of a single device can pause");
}

} // namespace
