// reprise: tests of the executor: items, workers, floating-point state, memory, indices, traces
#include "reprise/Runtime/Executable.h"
#include "TestBundle.h"

#include "gtest/gtest.h"
#include <cstring>
#include <fstream>
#include <xmmintrin.h>

using namespace reprise::runtime;
using namespace reprise::runtime::test;

namespace {

std::unique_ptr<Executable> make(Bundle bundle, unsigned threads) {
  auto executable = Executable::create(std::move(bundle), "m.rpb", threads);
  EXPECT_TRUE(bool(executable)) << executable.message();
  return std::move(*executable);
}

std::string refusal(Bundle bundle, unsigned threads = 0) {
  auto executable = Executable::create(std::move(bundle), "m.rpb", threads);
  return executable ? "accepted" : executable.message();
}

/// Makes a bundle with one result `out` of n i64 in the arena, written by `kernel`.
Bundle writerBundle(TestKernel kernel, int64_t n) {
  Bundle bundle = emptyBundle();
  uint64_t bytes = 8 * uint64_t(n);
  bundle.programs[0] = {"step", {command(kernel, n, {}, {arena(0, bytes)})}, bytes};
  bundle.results = {{"out", DType::I64, {n}, arena(0, bytes), -1}};
  return bundle;
}

class ExecutableThreads : public ::testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Counts, ExecutableThreads, ::testing::Values(1, 2, 5));

TEST_P(ExecutableThreads, EveryItemRunsOnceWithItsOwnWorkspace) {
  for (int64_t n : {0, 1, 2, 7, 1000, 100003}) {
    std::unique_ptr<Executable> executable = make(writerBundle(Scratch, n), GetParam());
    for (unsigned round = 0; round < 3; ++round) {
      std::memset(executable->arena(), 0xff, executable->arenaMemory().size());
      ASSERT_FALSE(bool(executable->run("step")));
      auto *out = static_cast<const int64_t *>(executable->result(0));
      for (int64_t i = 0; i < n; ++i)
        ASSERT_EQ(out[i], i);
      EXPECT_EQ(executable->arena()[8 * n], 0xff);
    }
  }
}

// Each command depends on the one before: a worker that runs ahead would count wrong.
TEST_P(ExecutableThreads, CommandsWaitForEachOther) {
  for (int64_t n : {1, 3, 4096}) {
    Bundle bundle = writerBundle(Scratch, n);
    constexpr int64_t rounds = 200;
    for (int64_t i = 0; i < rounds; ++i)
      bundle.programs[0].commands.push_back(
          command(Increment, i % 3 ? n : 1, {}, {arena(0, 8 * uint64_t(n))}));
    std::unique_ptr<Executable> executable = make(bundle, GetParam());
    ASSERT_FALSE(bool(executable->run("step")));
    auto *out = static_cast<const int64_t *>(executable->result(0));
    EXPECT_EQ(out[0], rounds);
    EXPECT_EQ(out[n - 1], n - 1 + (n == 1 ? rounds : rounds - (rounds + 2) / 3));
  }
}

TEST_P(ExecutableThreads, WorkersHavePlainFloatingPoint) {
  constexpr int64_t n = 5000;
  std::unique_ptr<Executable> executable = make(writerBundle(Control, n), GetParam());
  // Whatever the caller has: flush to zero, denormals are zero, round up.
  unsigned before = _mm_getcsr();
  _mm_setcsr(0x1f80 | 0x8040 | 0x4000);
  ASSERT_FALSE(bool(executable->run("step")));
  EXPECT_EQ(_mm_getcsr() & ~0x3fu, 0xdfc0u & ~0x3fu) << "the caller's state is left alone";
  _mm_setcsr(before);
  auto *out = static_cast<const int64_t *>(executable->result(0));
  for (int64_t i = 0; i < n; ++i)
    ASSERT_EQ(out[i] & ~0x3f, 0x1f80);
}

TEST_P(ExecutableThreads, DenormalsSurvive) {
  constexpr int64_t n = 4096;
  Bundle bundle = emptyBundle();
  bundle.arguments = {{"x", Role::Input, DType::F32, {n}, -1, 4 * n, false}};
  bundle.programs[0] = {"step", {command(Half, n, {argument(0, 4 * n)}, {arena(0, 4 * n)})}, 4 * n};
  bundle.results = {{"out", DType::F32, {n}, arena(0, 4 * n), -1}};
  std::unique_ptr<Executable> executable = make(bundle, GetParam());
  auto *x = static_cast<uint32_t *>(executable->argument(0));
  std::fill(x, x + n, 0x00000400); // 2^-139, a denormal
  unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040);
  ASSERT_FALSE(bool(executable->run("step")));
  _mm_setcsr(before);
  auto *out = static_cast<const uint32_t *>(executable->result(0));
  for (int64_t i = 0; i < n; ++i)
    ASSERT_EQ(out[i], 0x00000200u);
}

TEST_P(ExecutableThreads, ResultsReplaceArguments) {
  constexpr int64_t n = 100;
  std::unique_ptr<Executable> executable = make(trainingBundle(n), GetParam());
  auto *w = static_cast<float *>(executable->argument(0));
  auto *x = static_cast<float *>(executable->argument(1));
  for (int64_t i = 0; i < n; ++i) {
    w[i] = float(i);
    x[i] = 2;
  }
  int64_t offset = 12;
  std::memcpy(executable->argument(3), &offset, 8);
  ASSERT_FALSE(bool(executable->run("step")));
  EXPECT_EQ(executable->result(1), w);
  EXPECT_EQ(w[7], 4.5f);
  EXPECT_EQ(*static_cast<const float *>(executable->result(0)), 0.5f);
  std::memcpy(&offset, executable->argument(3), 8);
  EXPECT_EQ(offset, 20);
}

TEST(Executable, BuffersAreAligned) {
  std::unique_ptr<Executable> executable = make(trainingBundle(3), 1);
  for (size_t i = 0; i < 5; ++i)
    EXPECT_EQ(reinterpret_cast<uintptr_t>(executable->argument(i)) % 64, 0u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(executable->arena()) % 64, 0u);
}

TEST(Executable, TheImageIsNeverWritable) {
  std::unique_ptr<Executable> executable = make(trainingBundle(3), 1);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::string rights = line.substr(line.find(' ') + 1, 3);
    EXPECT_NE(rights, "rwx") << line;
  }
}

TEST(Executable, RefusesWhatCannotRunHere) {
  Bundle bundle = trainingBundle(4);
  bundle.images[0].features = {"sse3", "warp-drive"};
  EXPECT_EQ(
      refusal(bundle),
      "m.rpb: the bundle is for another machine, this one lacks warp-drive: compile it for this "
      "machine or for --target=cpu:x86-64-v3");
  bundle = trainingBundle(4);
  bundle.images[0].target = "cuda:sm_90";
  for (Kernel &kernel : bundle.kernels)
    kernel.itemThreads = kernel.blockThreads = 128;
  bundle.images[0].bytes.push_back(0);
  EXPECT_EQ(refusal(bundle),
            "m.rpb: the bundle is for cuda:sm_90, not for the CPU: use --device=cuda");
  bundle = trainingBundle(4);
  bundle.kernels[0].imageOffset = 1 << 20;
  EXPECT_EQ(refusal(bundle), "m.rpb: the bundle is malformed: kernel 'add' lies outside the image");
}

TEST(Executable, RefusesMoreThreadsThanItsBudgetAllows) {
  Bundle bundle = trainingBundle(4);
  EXPECT_EQ(refusal(bundle, 5), "accepted");
  bundle.hasBudget = true;
  bundle.budgetBytes = 1000;
  EXPECT_EQ(refusal(bundle, 2), "accepted");
  EXPECT_EQ(refusal(bundle, 5), "m.rpb: the bundle meets its budget with at most 2 threads, got 5");
}

TEST(Executable, RefusesWhatDoesNotFitBeforeItStarts) {
  Bundle bundle = trainingBundle(4);
  bundle.programs[0].arenaBytes = uint64_t(1) << 50;
  EXPECT_EQ(refusal(bundle).find("m.rpb: a step needs 1,125,899,9"), 0u) << refusal(bundle);
}

TEST(Executable, ChecksIndices) {
  Bundle bundle = emptyBundle();
  bundle.arguments = {{"table", Role::Parameter, DType::F32, {3}, -1, 12, false},
                      {"tokens", Role::Input, DType::I64, {4}, -1, 32, false}};
  Command gather = command(Gather, 4, {argument(0, 12), argument(1, 32)}, {arena(0, 16)});
  gather.indexChecks = {{1, DType::I64, 4, 3, "tokens"}};
  gather.label = "gather";
  bundle.programs[0] = {
      "step", {command(Half, 3, {argument(0, 12)}, {argument(0, 12)}), gather}, 16};
  std::unique_ptr<Executable> executable = make(bundle, 2);
  executable->setCheckIndices(true);
  int64_t good[4] = {2, 0, 1, 2}, high[4] = {2, 0, 3, -1}, low[4] = {0, -1, 3, 0};
  std::memcpy(executable->argument(1), good, 32);
  EXPECT_FALSE(bool(executable->run("step")));
  std::memcpy(executable->argument(1), high, 32);
  EXPECT_EQ(
      executable->run("step").message(),
      "command 1 (gather): indices of tokens outside [0, 3): 2 of 4, the first is 3 at position 2");
  std::memcpy(executable->argument(1), low, 32);
  EXPECT_EQ(executable->run("step").message(), "command 1 (gather): indices of tokens outside [0, "
                                               "3): 2 of 4, the first is -1 at position 1");
}

TEST_P(ExecutableThreads, RepeatsMoveTheirOperands) {
  // Backwards over rows of w, into rows of the arena: row r gets w[3 - r] halved, then added to x.
  constexpr int64_t rows = 4, n = 600;
  constexpr uint64_t bytes = 4 * n;
  Bundle bundle = emptyBundle();
  bundle.arguments = {{"w", Role::Parameter, DType::F32, {rows, n}, -1, rows * bytes, false},
                      {"x", Role::Input, DType::F32, {n}, -1, bytes, false}};
  Command half = command(Half, n, {argument(0, bytes)}, {arena(rows * bytes, bytes)});
  half.operands[0].buffer.offset = (rows - 1) * bytes;
  half.operands[0].strides = {-int64_t(bytes)};
  Command add =
      command(Add, n, {arena(rows * bytes, bytes), argument(1, bytes)}, {arena(0, bytes)});
  add.operands[2].strides = {int64_t(bytes)};
  Command rest = copy(arena(0, bytes), argument(0, bytes));
  rest.operands[0].strides = rest.operands[1].strides = {int64_t(bytes)};
  bundle.programs[0] = {
      "step", {repeat(rows, 2), half, add, repeat(rows, 1), rest}, (rows + 1) * bytes};
  bundle.results = {{"w", DType::F32, {rows, n}, argument(0, rows * bytes), 0}};
  std::unique_ptr<Executable> executable = make(bundle, GetParam());
  auto *w = static_cast<float *>(executable->argument(0));
  auto *x = static_cast<float *>(executable->argument(1));
  for (int64_t i = 0; i < rows * n; ++i)
    w[i] = float(2 * i);
  for (int64_t i = 0; i < n; ++i)
    x[i] = 10000;
  Recorder recorder(3 * rows, GetParam());
  executable->setRecorder(&recorder);
  ASSERT_FALSE(bool(executable->run("step")));
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t i = 0; i < n; ++i)
      ASSERT_EQ(w[row * n + i], float((rows - 1 - row) * n + i) + 10000) << row << " " << i;
  Profile profile(executable->bundle());
  profile.add(recorder, 1);
  EXPECT_NE(profile.json(1, {1e12, 2e10}).find("\"calls\": 4,"), std::string::npos);
}

TEST(Executable, IndicesAreCheckedInEveryIteration) {
  Bundle bundle = emptyBundle();
  bundle.arguments = {{"table", Role::Parameter, DType::F32, {3}, -1, 12, false},
                      {"tokens", Role::Input, DType::I64, {2, 2}, -1, 32, false}};
  Command gather = command(Gather, 2, {argument(0, 12), argument(1, 16)}, {arena(0, 8)});
  gather.operands[1].strides = {16};
  gather.indexChecks = {{1, DType::I64, 2, 3, "tokens"}};
  bundle.programs[0] = {"step", {repeat(2, 1), gather}, 8};
  std::unique_ptr<Executable> executable = make(bundle, 2);
  executable->setCheckIndices(true);
  int64_t tokens[4] = {2, 0, 1, 3};
  std::memcpy(executable->argument(1), tokens, 32);
  EXPECT_EQ(executable->run("step").message(),
            "command 1: indices of tokens outside [0, 3): 1 of 2, the first is 3 at position 1");
}

/// A step with sum = w + x twice, the second time `again`, at the end of the arena.
Bundle replayBundle(BufferRef again) {
  Bundle bundle = trainingBundle(4);
  Program &step = bundle.programs[0];
  BufferRef replay = arena(192, 16);
  step.arenaBytes = 208;
  step.commands.insert(step.commands.begin() + 1,
                       command(Add, 4, {argument(0, 16), again}, {replay}));
  bundle.replayChecks = {{"replay 1 of add", DType::F32, arena(0, 16), replay}};
  return bundle;
}

TEST(Executable, ComparesReplaysWithTheirOriginals) {
  EXPECT_FALSE(bool(make(replayBundle(argument(1, 16)), 2)->run("step")));
  std::unique_ptr<Executable> executable = make(replayBundle(argument(0, 16)), 2);
  float w[4] = {1, 2, 3, 4}, x[4] = {1, 2, 5, 4};
  std::memcpy(executable->argument(0), w, 16);
  std::memcpy(executable->argument(1), x, 16);
  EXPECT_EQ(executable->run("step").message(),
            "replay 1 of add differs from its original at element 2");
}

TEST(Executable, NaNsOfReplaysAreEqualWhateverTheirBits) {
  std::unique_ptr<Executable> executable = make(replayBundle(argument(0, 16)), 2);
  uint32_t quiet = 0x7fc00000, other = 0xffc12345;
  uint32_t w[4] = {quiet, 0, 0, 0}, x[4] = {other, 0, 0, 0};
  std::memcpy(executable->argument(0), w, 16);
  std::memcpy(executable->argument(1), x, 16);
  EXPECT_FALSE(bool(executable->run("step")));
  x[1] = 0x80000000; // 0 + -0 is 0, as 0 + 0 is
  std::memcpy(executable->argument(0), w, 16);
  std::memcpy(executable->argument(1), x, 16);
  EXPECT_FALSE(bool(executable->run("step")));
  w[2] = x[2] = 0x80000000, x[2] = 0;
  std::memcpy(executable->argument(0), w, 16);
  std::memcpy(executable->argument(1), x, 16);
  EXPECT_EQ(executable->run("step").message(),
            "replay 1 of add differs from its original at element 2");
}

TEST(Executable, RecordsWhoDidWhatWhen) {
  TemporaryFolder folder;
  std::unique_ptr<Executable> executable = make(trainingBundle(1000), 2);
  Recorder recorder(5, 2);
  executable->setRecorder(&recorder);
  ASSERT_FALSE(bool(executable->run("step")));
  uint64_t before = 0;
  for (uint64_t i = 0; i < 4; ++i) {
    uint64_t begin = UINT64_MAX, end = 0;
    for (unsigned worker = 0; worker < 2; ++worker)
      if (Span span = recorder.at(i, worker); span.end != 0) {
        begin = std::min(begin, span.begin);
        end = std::max(end, span.end);
      }
    EXPECT_LE(before, begin) << "a command starts after the one before it has ended";
    EXPECT_LE(begin, end);
    before = end;
  }
  Profile profile(executable->bundle());
  profile.add(recorder, 0.5);
  profile.add(recorder, 1.5);
  std::string json = profile.json(2, {1e12, 2e10});
  EXPECT_NE(json.find("\"steps\": 2, \"threads\": 2, \"programs\": 1, \"target\": \"cpu\", "
                      "\"entry\": \"train\", "
                      "\"step_seconds\": 1,"),
            std::string::npos)
      << json;
  EXPECT_NE(json.find("\"calls\": 2, \"flops\": 0, \"bytes\": 0"), std::string::npos) << json;
  EXPECT_NE(json.find("\"calls\": 1, \"flops\": 1000, \"bytes\": 12000, \"bound\": \"memory\","),
            std::string::npos)
      << json;
  Trace events(executable->bundle(), 2);
  TraceFile trace(folder.file("t.json"));
  ASSERT_FALSE(bool(trace.add(events.names())));
  ASSERT_FALSE(bool(executable->run("step")));
  ASSERT_FALSE(bool(trace.add(events.step(7, recorder))));
  EXPECT_TRUE(folder.entries().empty());
  ASSERT_FALSE(bool(trace.commit()));
  std::string text = contents(folder.file("t.json"));
  EXPECT_NE(text.find("\"args\": {\"step\": 7, \"command\": 0, \"label\": \"layer/0/add\"}"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.substr(text.size() - 4), "\n]}\n");
}

} // namespace
