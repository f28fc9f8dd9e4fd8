// reprise: tests of sessions and run folders
#include "reprise/Runtime/Session.h"
#include "TestBundle.h"

#include "gtest/gtest.h"
#include <cstring>
#include <fstream>

using namespace reprise::runtime;
using namespace reprise::runtime::test;

namespace {

class SessionTest : public ::testing::Test {
protected:
  void open(Bundle bundle, unsigned threads = 2) {
    auto made = Executable::create(std::move(bundle), "m.rpb", threads);
    ASSERT_TRUE(bool(made)) << made.message();
    session.reset();
    executable = std::move(*made);
    session = std::make_unique<Session>(*executable);
  }
  static void good(Error error) { EXPECT_FALSE(bool(error)) << error.message(); }
  float value(size_t result, size_t element) const {
    return static_cast<const float *>(session->results()[result].data)[element];
  }
  std::string array(const std::string &name, std::vector<int64_t> shape, std::vector<float> data) {
    std::string path = folder.file(name);
    good(writeNpy(path, {name, DType::F32, shape, data.data()}));
    return path;
  }
  Error write(const std::string &name) const {
    return writeRunFolder({folder.file(name), describeInterface(executable->bundle()), {}, ""},
                          session->results(), session->state());
  }
  void run(RunState state, int64_t steps) {
    good(session->setState(state));
    good(session->start(steps));
    for (int64_t i = 0; i < steps; ++i)
      good(session->step());
  }
  TemporaryFolder folder;
  std::unique_ptr<Executable> executable;
  std::unique_ptr<Session> session;
};

TEST_F(SessionTest, StepsFromInitialValues) {
  open(trainingBundle(4));
  run({3, 40, 0}, 1);
  // The values are w = 300 + i, x = i.
  ASSERT_EQ(session->results().size(), 3u);
  EXPECT_EQ(session->results()[1].name, "w");
  EXPECT_EQ(value(1, 2), (302 + 2) * 0.5f);
  EXPECT_EQ(session->loss(), 75.0);
  EXPECT_EQ(session->state().offset, 48);
  EXPECT_EQ(session->state().step, 1);
  good(session->step());
  EXPECT_EQ(value(1, 2), (152 + 102) * 0.5f) << "the inputs of step 1";
}

TEST_F(SessionTest, ThreeAndThreeStepsAreSix) {
  open(trainingBundle(1000), 1);
  run({5, 8, 2}, 6);
  std::vector<ArrayRef> arrays = session->results();
  uint64_t hash = hashArrays(arrays);
  good(write("six"));
  open(trainingBundle(1000), 2);
  run({5, 8, 2}, 3);
  EXPECT_NE(hashArrays(session->results()), hash);
  good(write("three"));
  EXPECT_EQ(contents(folder.file("three/run.json")),
            R"({"seed": 5, "next_offset": 32, "next_step": 5, "entry": "train",
 "arguments": [
  {"name": "w", "role": "parameter", "type": "f32", "shape": [1000]},
  {"name": "x", "role": "input", "type": "f32", "shape": [1000]}],
 "results": [
  {"name": "loss", "type": "f32", "shape": []},
  {"name": "w", "type": "f32", "shape": [1000]},
  {"name": "sum", "type": "f32", "shape": [1000]}]}
)");
  open(trainingBundle(1000), 5);
  good(session->giveFolder(folder.file("three")));
  good(session->start(3));
  for (int i = 0; i < 3; ++i)
    good(session->step());
  EXPECT_EQ(hashArrays(session->results()), hash);
  good(write("three"));
  for (const char *name : {"loss.npy", "w.npy", "sum.npy", "run.json"})
    EXPECT_EQ(contents(folder.file("three/") + name), contents(folder.file("six/") + name));
}

TEST_F(SessionTest, OneRowPerAbsoluteStep) {
  open(trainingBundle(2));
  std::string rows = array("rows.npy", {4, 2}, {0, 1, 10, 11, 20, 21, 30, 31});
  good(session->giveArray("x", rows));
  good(session->giveArray("w", array("w.npy", {2}, {0, 0})));
  run({0, 0, 2}, 2);
  EXPECT_EQ(value(2, 1), 21 * 0.5f + 31);
  good(session->setState({0, 0, 2}));
  EXPECT_EQ(session->start(3).message(),
            "cannot read '" + rows + "': holds 4 steps, the run needs 5");
}

TEST_F(SessionTest, OneValueForAllSteps) {
  open(trainingBundle(2));
  good(session->giveArray("x", array("x.npy", {2}, {5, 6})));
  good(session->giveArray("w", array("w.npy", {2}, {0, 0})));
  run({0, 0, 0}, 2);
  EXPECT_EQ(value(2, 1), 6 * 0.5f + 6);
}

TEST_F(SessionTest, ValuesFromMemory) {
  open(trainingBundle(2));
  float zero[2] = {0, 0}, first[2] = {5, 6}, second[2] = {7, 8};
  good(session->giveValue({"w", DType::F32, {2}, zero}));
  good(session->giveValue({"x", DType::F32, {2}, first}));
  good(session->start(2));
  first[1] = 100; // the session holds a copy
  good(session->step());
  EXPECT_EQ(value(2, 1), 6);
  good(session->giveValue({"x", DType::F32, {2}, second}));
  good(session->step());
  EXPECT_EQ(value(2, 1), 3 + 8);
  good(session->giveValue({"x", DType::F32, {1, 2}, second}));
  EXPECT_EQ(session->step().message(), "m.rpb: input 'x': holds 1 step, the run needs 3");
  EXPECT_EQ(session->giveValue({"x", DType::I32, {2}, second}).message(),
            "m.rpb: cannot take a value: type i32, expected f32 for 'x'");
  EXPECT_EQ(session->giveValue({"x", DType::F32, {1}, second}).message(),
            "m.rpb: cannot take a value: shape [1], expected [2] for 'x'");
}

TEST_F(SessionTest, AnInputThatAResultReplacesIsCarried) {
  // x' = w + x is the input's next value, and w stays.
  Bundle bundle = trainingBundle(2);
  bundle.programs[0].commands = {command(Add, 2, {argument(0, 8), argument(1, 8)}, {arena(0, 8)}),
                                 copy(arena(0, 8), argument(1, 8))};
  bundle.results = {{"x", DType::F32, {2}, argument(1, 8), 1}};
  open(bundle);
  run({1, 0, 0}, 3);
  EXPECT_EQ(value(0, 1), 1 + 3 * 101.0f);
  open(bundle);
  good(session->giveArray("x", array("x.npy", {2}, {5, 6})));
  run({1, 0, 0}, 3);
  EXPECT_EQ(value(0, 1), 6 + 3 * 101.0f);
  // A value per step outranks the result of the step before.
  open(bundle);
  good(session->giveArray("x", array("rows.npy", {3, 2}, {1, 2, 3, 4, 5, 6})));
  run({1, 0, 0}, 3);
  EXPECT_EQ(value(0, 1), 6 + 101.0f);
}

TEST_F(SessionTest, RefusesWhatItShould) {
  Bundle bundle = trainingBundle(2);
  bundle.arguments[1].hasInitializer = false;
  open(bundle);
  EXPECT_EQ(session->start(1).message(),
            "m.rpb: input 'x' has no initializer and was given no value");
  std::string odd = array("odd.npy", {3}, {1, 2, 3});
  EXPECT_EQ(session->giveArray("x", odd).message(),
            "cannot read '" + odd + "': shape [3], expected [2] for 'x'");
  std::string rows = array("rows.npy", {2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(session->giveArray("w", rows).message(),
            "cannot read '" + rows + "': shape [2, 2], expected [2] for 'w'");
  EXPECT_EQ(session->giveArray("y", rows).message(), "m.rpb: the step takes no argument 'y'");
  EXPECT_TRUE(bool(session->giveArray("seed", rows)));
  EXPECT_EQ(session->setState({0, 6, 0}).message(), "the offset 6 is no multiple of 4");
  EXPECT_TRUE(bool(session->setState({0, -4, 0})));
  EXPECT_EQ(session->giveFolder(folder.file("none")).message(),
            "cannot read '" + folder.file("none") +
                "': expected a folder, a .safetensors file or its .index.json");
  bundle.arguments[0].name = "a/b";
  bundle.arguments[1].name = "a.b";
  bundle.results[1].name = "a/b";
  open(bundle);
  EXPECT_EQ(session->giveFolder(folder.path).message(),
            "cannot read '" + folder.path +
                "': arguments 'a/b' and 'a.b' have the same file name 'a.b.npy'");
}

TEST_F(SessionTest, RefusesABadRunJson) {
  open(trainingBundle(2));
  std::string path = folder.file("run.json");
  auto message = [&](const std::string &text) {
    std::ofstream(path) << text;
    Error error = session->giveFolder(folder.path);
    return error ? error.message() : "ok";
  };
  EXPECT_EQ(message("{\"seed\": 1, \"next_offset\": 4, \"next_step\": 2, \"more\": [1, {}]}"),
            "ok");
  EXPECT_EQ(message("{\"seed\": 1, \"next_offset\": 4, \"next_step\": 2, \"results\": 1}"),
            "cannot read '" + path +
                "': expected 'entry', 'arguments' and 'results' as a run writes them");
  EXPECT_EQ(session->state().step, 2);
  EXPECT_EQ(message("{\"seed\": 1, \"next_offset\": 4}"),
            "cannot read '" + path + "': expected an integer 'next_step'");
  EXPECT_EQ(message("{\"seed\": 1, \"next_offset\": 5, \"next_step\": 2}"),
            "cannot read '" + path + "': the offset 5 is no multiple of 4");
  for (const char *text : {"", "{", "[1]", "{\"seed\": 1,}", "{\"seed\" 1}", "{}x", "{\"a\": tru}"})
    EXPECT_NE(message(text), "ok") << text;
  EXPECT_NE(message("{\"a\": " + std::string(100000, '[')), "ok");
}

TEST_F(SessionTest, LossOfEveryFloatingType) {
  const std::pair<DType, uint64_t> bits[] = {{DType::F32, 0xc0200000},
                                             {DType::F64, 0xc004000000000000},
                                             {DType::BF16, 0xc020},
                                             {DType::F16, 0xc100}};
  for (auto [dtype, value] : bits) {
    Bundle bundle = emptyBundle();
    uint64_t bytes = elementBytes(dtype);
    bundle.arguments = {{"x", Role::Input, dtype, {}, -1, bytes, false}};
    bundle.results = {{"loss", dtype, {}, argument(0, bytes), -1}};
    open(bundle);
    std::memcpy(executable->argument(0), &value, bytes);
    EXPECT_EQ(session->loss(), -2.5) << dtypeName(dtype);
  }
}

TEST_F(SessionTest, ExecutedArenaIsObserved) {
  for (unsigned threads : {1, 2, 5}) {
    open(trainingBundle(1000), threads);
    good(session->setState({7, 0, 0}));
    good(session->start(2));
    good(session->step());
    Expected<std::vector<uint64_t>> executed = session->executedArenaBytes();
    ASSERT_TRUE(bool(executed));
    EXPECT_EQ(executed->front(), executable->bundle().arenaBytes());
    good(session->step());
    uint64_t hash = hashArrays(session->results());
    open(trainingBundle(1000), threads);
    run({7, 0, 0}, 2);
    EXPECT_EQ(hashArrays(session->results()), hash) << "observing changes nothing";
  }
}

// Sabotage: the test finds a command that writes beyond the bytes of the manifest.
TEST_F(SessionTest, ExecutedArenaShowsAWriteBehindTheEnd) {
  Bundle bundle = trainingBundle(1000);
  bundle.programs[0].commands.push_back(command(Scratch, 1010, {}, {arena(0, 4000)}));
  open(bundle);
  good(session->start(1));
  Expected<std::vector<uint64_t>> executed = session->executedArenaBytes();
  ASSERT_TRUE(bool(executed));
  EXPECT_EQ(executed->front(), 8 * 1010u);
}

TEST_F(SessionTest, HashSeesEverything) {
  float data[4] = {1, 2, 3, 4};
  uint64_t base = hashArrays({{"a", DType::F32, {4}, data}});
  EXPECT_EQ(hashText(base).size(), 16u);
  EXPECT_NE(hashArrays({{"b", DType::F32, {4}, data}}), base);
  EXPECT_NE(hashArrays({{"a", DType::I32, {4}, data}}), base);
  EXPECT_NE(hashArrays({{"a", DType::F32, {2, 2}, data}}), base);
  EXPECT_NE(hashArrays({{"a", DType::F32, {2}, data}, {"a", DType::F32, {2}, data + 2}}), base);
  uint32_t nan1 = 0x7fc00000, nan2 = 0xffc00001;
  // Parts of an array are one array, whatever fills no word.
  const char *bytes = reinterpret_cast<const char *>(data);
  ArrayRef first{"a", DType::I1, {1, 5}, data, 0, 3},
      second{"a", DType::I1, {2, 5}, bytes + 5, 1, 3};
  EXPECT_EQ(hashArrays({first, second}), hashArrays({{"a", DType::I1, {3, 5}, data}}));
  EXPECT_EQ(hashArrays({first, second}, {sumElements(first), sumElements(second)}),
            hashArrays({first, second}));
  // Columns of a 2 x 2 matrix.
  float left[2] = {1, 3}, right[2] = {2, 4};
  EXPECT_EQ(hashArrays({{"a", DType::F32, {2, 1}, left, 0, 2, 1},
                        {"a", DType::F32, {2, 1}, right, 1, 2, 1}}),
            hashArrays({{"a", DType::F32, {2, 2}, data}}));
  EXPECT_NE(hashArrays({{"a", DType::F32, {2, 1}, right, 0, 2, 1},
                        {"a", DType::F32, {2, 1}, left, 1, 2, 1}}),
            hashArrays({{"a", DType::F32, {2, 2}, data}}));
  EXPECT_EQ(hashArrays({{"a", DType::F32, {}, &nan1}}), hashArrays({{"a", DType::F32, {}, &nan2}}));
  EXPECT_NE(hashArrays({{"a", DType::I32, {}, &nan1}}), hashArrays({{"a", DType::I32, {}, &nan2}}));
  data[3] = 5;
  EXPECT_NE(hashArrays({{"a", DType::F32, {4}, data}}), base);
}

} // namespace
