// reprise: tests of devices: the CPU, one that has no host memory, and memory of the caller
#include "FakeDevice.h"
#include "TestBundle.h"
#include "reprise/Runtime/Session.h"

#include "gtest/gtest.h"
#include <algorithm>
#include <cstring>

using namespace reprise::runtime;
using namespace reprise::runtime::test;

namespace {

Bundle fakeBundle(int64_t n) {
  Bundle bundle = trainingBundle(n);
  bundle.images[0].target = "fake";
  return bundle;
}

class DeviceTest : public ::testing::Test {
protected:
  void open(Bundle bundle) {
    auto made = Executable::create(std::move(bundle), "m.rpb", makeFakeDevice(log));
    ASSERT_TRUE(bool(made)) << made.message();
    executable = std::move(*made);
    session = std::make_unique<Session>(*executable);
  }
  void openCpu(Bundle bundle, unsigned threads = 2) {
    auto made = Executable::create(std::move(bundle), "m.rpb", threads);
    ASSERT_TRUE(bool(made)) << made.message();
    executable = std::move(*made);
    session = std::make_unique<Session>(*executable);
  }
  static void good(Error error) { EXPECT_FALSE(bool(error)) << error.message(); }
  uint64_t run(int64_t steps) {
    good(session->setState({3, 40, 0}));
    good(session->start(steps));
    for (int64_t i = 0; i < steps; ++i)
      good(session->step());
    return hashArrays(session->results());
  }
  DeviceLog log;
  std::unique_ptr<Executable> executable;
  std::unique_ptr<Session> session;
};

TEST_F(DeviceTest, TheSameStepsOnEveryDevice) {
  openCpu(trainingBundle(100));
  uint64_t expected = run(3);
  std::optional<double> loss = session->loss();
  session.reset();
  open(fakeBundle(100));
  EXPECT_EQ(run(3), expected);
  EXPECT_EQ(session->loss(), loss);
  EXPECT_EQ(session->state().offset, 64);
  session.reset();
  executable.reset();
  EXPECT_EQ(log.allocated, 0u) << "all memory is given back";
}

TEST_F(DeviceTest, IsAskedForEachThingOnce) {
  open(fakeBundle(4));
  EXPECT_EQ(log.calls, (std::vector<std::string>{
                           "allocate the arguments", "allocate the arena", "allocate the workspace",
                           "allocate the constants", "to device 4", "load fake", "prepare step",
                           "prepare init_parameters", "prepare init_inputs"}));
  good(session->start(1));
  log.calls.clear();
  good(session->step());
  EXPECT_EQ(log.calls, (std::vector<std::string>{"to device 8", "to device 8", "to device 8",
                                                 "run init_inputs", "run step", "to host 8"}));
}

TEST_F(DeviceTest, GivenValuesArriveByCopies) {
  TemporaryFolder folder;
  float data[4] = {5, 6, 7, 8}, zero[4] = {0, 0, 0, 0};
  good(writeNpy(folder.file("x.npy"), {"x", DType::F32, {4}, data}));
  open(fakeBundle(4));
  good(session->giveArray("x", folder.file("x.npy")));
  good(session->giveValue({"w", DType::F32, {4}, zero}));
  run(1);
  EXPECT_EQ(static_cast<const float *>(session->results()[2].data)[3], 8);
  EXPECT_EQ(session->executedArenaBytes().message(),
            "m.rpb: the arena of device 'fake' cannot be painted");
}

TEST_F(DeviceTest, ChecksIndicesAndReplaysOnTheHost) {
  Bundle bundle = emptyBundle();
  bundle.images[0].target = "fake";
  bundle.arguments = {{"table", Role::Parameter, DType::F32, {3}, -1, 12, false},
                      {"tokens", Role::Input, DType::I64, {2}, -1, 16, false}};
  Command gather = command(Gather, 2, {argument(0, 12), argument(1, 16)}, {arena(0, 8)});
  gather.indexChecks = {{1, DType::I64, 2, 2, "tokens"}};
  Command again = command(Gather, 2, {argument(0, 12), argument(1, 16)}, {arena(64, 8)});
  bundle.programs[0] = {"step", {gather, again}, 72};
  bundle.replayChecks = {{"replay 1 of gather", DType::F32, arena(0, 8), arena(64, 8)}};
  float table[3] = {1, 2, 3};
  int64_t tokens[2] = {0, 2};
  for (bool sabotaged : {false, true}) {
    bundle.programs[0].commands[1].items = sabotaged ? 1 : 2;
    open(bundle);
    good(session->giveValue({"table", DType::F32, {3}, table}));
    good(session->giveValue({"tokens", DType::I64, {2}, tokens}));
    good(session->start(2));
    Error error = session->step();
    EXPECT_EQ(error ? error.message() : "",
              sabotaged ? "m.rpb: step 0, replay 1 of gather differs from its original at element 1"
                        : "");
  }
  executable->setCheckIndices(true);
  EXPECT_EQ(session->step().message(),
            "m.rpb: step 0, command 0: indices of tokens outside [0, 2): 1 of 2, the first is 2 at "
            "position 1");
}

TEST_F(DeviceTest, FaultsOfADeviceAreErrors) {
  log.failOn = "allocate the arena";
  EXPECT_EQ(Executable::create(fakeBundle(4), "m.rpb", makeFakeDevice(log)).message(),
            "m.rpb: no memory for the arena");
  EXPECT_EQ(log.allocated, 0u);
  log.failOn = "";
  open(fakeBundle(4));
  good(session->start(2));
  log.failOn = "run step";
  EXPECT_EQ(session->step().message(), "m.rpb: step 0, the device is gone");
  log.failOn = "synchronize";
  EXPECT_EQ(session->step().message(), "m.rpb: the device is gone");
  EXPECT_EQ(session->results()[0].data, nullptr);
}

TEST_F(DeviceTest, ImagesAreChosenByTheDevice) {
  Bundle bundle = trainingBundle(4);
  EXPECT_EQ(Executable::create(bundle, "m.rpb", makeFakeDevice(log)).message(),
            "m.rpb: 'cpu' is not for a fake device");
  bundle.images.push_back({"fake", {}, {1}});
  EXPECT_EQ(Executable::create(bundle, "m.rpb", makeFakeDevice(log)).message(),
            "m.rpb: kernel 'add' is for cpu, and one device runs here");
  for (Kernel &kernel : bundle.kernels) {
    kernel.image = 1;
    kernel.imageOffset = 0;
  }
  open(bundle);
  openCpu(trainingBundle(4));
  uint64_t expected = run(2);
  open(bundle);
  EXPECT_EQ(run(2), expected);
}

TEST(CpuDevice, EventsHaveHappened) {
  auto device = makeCpuDevice(2);
  ASSERT_TRUE(bool(device));
  EXPECT_TRUE((*device)->hasHostMemory());
  EXPECT_EQ((*device)->workers(), 2u);
  auto stream = (*device)->makeStream(), other = (*device)->makeStream();
  auto event = (*device)->makeEvent();
  auto memory = (*device)->allocate(100, "a test");
  ASSERT_TRUE(stream && other && event && memory);
  int from = 7, to = 0;
  EXPECT_FALSE(bool((*stream)->copyToDevice((*memory)->address(), &from, 4)));
  EXPECT_FALSE(bool((*stream)->record(**event)));
  EXPECT_FALSE(bool((*other)->wait(**event)));
  EXPECT_FALSE(bool((*other)->copyToHost(&to, (*memory)->address(), 4)));
  EXPECT_FALSE(bool((*other)->synchronize()));
  EXPECT_EQ(to, 7);
}

//===--------------------------------------------------------------------------------------------===//
// Memory of the caller

struct alignas(64) Aligned {
  float data[16] = {};
};

TEST_F(DeviceTest, BoundStateIsUpdatedInPlace) {
  openCpu(trainingBundle(4));
  Aligned first;
  for (int i = 0; i < 4; ++i)
    // The values that the initializer would compute for seed 3.
    first.data[i] = float(300 + i);
  uint64_t expected = run(3);
  openCpu(trainingBundle(4));
  Aligned w = first, x;
  good(session->bind("w", w.data, 16));
  good(session->bind("x", x.data, 16));
  EXPECT_EQ(executable->argument(0), w.data);
  good(session->setState({3, 40, 0}));
  good(session->start(3));
  EXPECT_EQ(w.data[2], 302) << "no initializer has been here";
  for (int64_t step = 0; step < 3; ++step) {
    for (int i = 0; i < 4; ++i)
      x.data[i] = float(100 * step + i);
    good(session->step());
  }
  EXPECT_EQ(hashArrays(session->results()), expected);
  EXPECT_EQ(session->results()[1].data, w.data) << "nothing is copied";
  EXPECT_NE(w.data[2], 302);
  EXPECT_EQ(w.data[4], 0) << "nothing behind the buffer is touched";
  EXPECT_EQ(session->giveValue({"w", DType::F32, {4}, first.data}).message(),
            "m.rpb: 'w' is bound to memory of the caller");
}

TEST_F(DeviceTest, StateThatIsCopiedBackReachesTheCaller) {
  // w' is computed in the arena, and copied.
  Bundle bundle = trainingBundle(4);
  Program &step = bundle.programs[0];
  BufferRef fresh = arena(step.arenaBytes / 64 * 64 + 64, 16);
  step.arenaBytes = fresh.offset + 16;
  step.commands[1].operands[1].buffer = fresh;
  step.commands.push_back(copy(fresh, argument(0, 16)));
  openCpu(bundle);
  Aligned w;
  w.data[3] = 5;
  good(session->bind("w", w.data, 16));
  run(1);
  EXPECT_EQ(w.data[3], (5 + 3) * 0.5f);
}

TEST_F(DeviceTest, BoundBuffersAreChecked) {
  openCpu(trainingBundle(4));
  Aligned w;
  EXPECT_EQ(session->bind("w", w.data, 12).message(),
            "m.rpb: cannot bind 'w': the buffer has 12 bytes, expected 16");
  EXPECT_EQ(session->bind("w", w.data + 1, 16).message(),
            "m.rpb: cannot bind 'w': the buffer is not at a multiple of 64");
  EXPECT_EQ(session->bind("y", w.data, 16).message(), "m.rpb: the step takes no argument 'y'");
  EXPECT_EQ(session->bind("seed", w.data, 8).message(), "m.rpb: the step takes no argument 'seed'");
  good(session->bind("w", w.data, 16));
  good(session->bind("x", w.data, 16));
  good(session->start(1));
  EXPECT_EQ(session->step().message(),
            "m.rpb: step 0, the buffer of 'x' overlaps that of 'w', and the step writes 'w'");
  Aligned x;
  good(session->bind("x", x.data, 16));
  run(1);
}

/// Bindings of earlier steps do not matter, and inputs may be views of one another.
TEST_F(DeviceTest, InputsMayShareMemory) {
  Bundle bundle = trainingBundle(4);
  bundle.arguments.push_back(bundle.arguments[1]);
  bundle.arguments.back().name = "z";
  openCpu(bundle);
  Aligned first, second;
  for (auto [x, z] : {std::pair(&first, &second), {&second, &first}, {&first, &first}}) {
    good(session->bind("x", x->data, 16));
    good(session->bind("z", z->data, 16));
    run(1);
  }
  good(session->bind("w", second.data, 16));
  run(1);
  good(session->bind("x", second.data, 16));
  good(session->start(1));
  EXPECT_EQ(session->step().message(),
            "m.rpb: step 1, the buffer of 'x' overlaps that of 'w', and the step writes 'w'");
}

TEST_F(DeviceTest, BindsMemoryOfTheDevice) {
  open(fakeBundle(1));
  uint8_t *w = fakeAddress(executable->device(), 4);
  setFakeValue(executable->device(), w, 300);
  good(session->bind("w", w, 4));
  run(2);
  EXPECT_EQ(fakeValue(executable->device(), w), ((300 + 0) * 0.5f + 100) * 0.5f);
  EXPECT_EQ(std::count(log.calls.begin(), log.calls.end(), "prepare step"), 2);
}

} // namespace
