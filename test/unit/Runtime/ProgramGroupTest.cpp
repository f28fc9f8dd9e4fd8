// reprise: tests of bundles with programs of several devices, and of groups that run them
#include "reprise/Runtime/ProgramGroup.h"
#include "RunSteps.h"
#include "TestBundle.h"
#include "reprise/Runtime/LiveBytes.h"
#include "reprise/Runtime/Session.h"

#include "gtest/gtest.h"
#include <functional>
#include <numeric>

using namespace reprise::runtime;
using namespace reprise::runtime::test;

namespace {

constexpr int64_t n = 64;
constexpr uint64_t bytes = 4 * n;

Bundle twoDevices() { return twoDeviceBundle(n); }

/// Runs some steps and returns the error, or the hash of the results and the next offset.
std::string train(Bundle bundle, int64_t steps, unsigned threads = 2) {
  auto group = ProgramGroup::create(std::move(bundle), "m.rpb", threads);
  if (!group)
    return group.message();
  Session session(**group);
  Error error = runSteps(session, steps);
  return error ? error.message()
               : hashText(hashArrays(session.results())) + " " +
                     std::to_string(session.state().offset);
}

TEST(ProgramGroup, TwoDevicesHaveTheBitsOfOne) {
  std::string expected = train(trainingBundle(n), 5);
  for (unsigned threads : {1, 2, 3})
    EXPECT_EQ(train(twoDevices(), 5, threads), expected);
  EXPECT_EQ(expected.substr(17), "80"); // 40 + 5 · 8
}

TEST(ProgramGroup, ProgramsShareThreads) {
  const unsigned cases[][3] = {{1, 1, 1}, {2, 1, 1}, {3, 2, 1}, {8, 4, 4}};
  for (auto [threads, first, second] : cases) {
    auto group = ProgramGroup::create(twoDevices(), "m.rpb", threads);
    ASSERT_TRUE(bool(group)) << group.message();
    EXPECT_EQ((*group)->executable(0).device().workers(), first) << threads;
    EXPECT_EQ((*group)->executable(1).device().workers(), second) << threads;
    EXPECT_EQ((*group)->allThreads(), first + second) << threads;
  }
}

TEST(ProgramGroup, ValuesGoToTheProgramsThatTakeThem) {
  auto group = ProgramGroup::create(twoDevices(), "m.rpb", 1);
  ASSERT_TRUE(bool(group)) << group.message();
  ASSERT_EQ((*group)->size(), 2u);
  EXPECT_EQ((*group)->bundle().arguments.size(), 5u);
  EXPECT_EQ((*group)->executable(1).bundle().arguments.size(), 1u);
  Session session(**group);
  std::vector<float> w(n, 2), x(n, 4);
  EXPECT_FALSE(session.giveValue({"w", DType::F32, {n}, w.data()}));
  EXPECT_FALSE(session.giveValue({"x", DType::F32, {n}, x.data()}));
  EXPECT_EQ(session.giveValue({"y", DType::F32, {n}, x.data()}).message(),
            "m.rpb: the step takes no argument 'y'");
  ASSERT_FALSE(session.start(1));
  ASSERT_FALSE(session.step());
  EXPECT_EQ(session.loss(), 1.5); // (2 + 4) / 2 / 2
  Expected<std::vector<uint64_t>> executed = session.executedArenaBytes();
  ASSERT_TRUE(bool(executed)) << executed.message();
  for (size_t device : {0, 1})
    EXPECT_EQ((*executed)[device], (*group)->executable(device).bundle().arenaBytes());
}

TEST(ProgramGroup, AnExecutableIsOfOneDevice) {
  EXPECT_EQ(Executable::create(twoDevices(), "m.rpb", 1).message(),
            "m.rpb: the bundle has programs for 2 devices, and one runs here");
}

TEST(ProgramGroup, AMissingTargetIsNamedWithItsProgram) {
  Bundle bundle = twoDevices();
  Image other = bundle.images[0];
  other.target = "cpu:of-tomorrow";
  other.features = {"of-tomorrow"};
  bundle.images.push_back(other);
  Kernel half = bundle.kernels[Half];
  half.image = 1;
  bundle.kernels.push_back(half);
  bundle.programs.back().commands[2].kernel = uint32_t(bundle.kernels.size() - 1);
  std::string error = train(bundle, 1);
  EXPECT_EQ(error.find("m.rpb, program 'second': "), 0u) << error;
  EXPECT_NE(error.find("of-tomorrow"), std::string::npos) << error;
}

TEST(ProgramGroup, ProgramsThatDoNotFitTogetherAreRefused) {
  Bundle bundle = tooLargeBundle(n);
  auto refused = ProgramGroup::create(bundle, "m.rpb", 1);
  ASSERT_FALSE(bool(refused));
  EXPECT_EQ(refused.message().find("m.rpb: a step of all programs needs "), 0u)
      << refused.message();
}

/// The error is the one of the program that failed, not its consequence for other programs.
TEST(ProgramGroup, AFaultOfOneProgramIsTheError) {
  Bundle bundle = twoDevices();
  Program &second = bundle.programs.back();
  second.arenaBytes = 1024;
  BufferRef checked = arena(896, 8);
  second.commands.insert(second.commands.begin(), command(Advance, 1, {argument(3, 8)}, {checked}));
  Command gather = command(Half, n, {arena(0, bytes), checked}, {arena(512, bytes)});
  gather.kernel = Add;
  gather.indexChecks.push_back({1, DType::I64, 1, 4, "gather"});
  second.commands.insert(second.commands.begin() + 3, gather);
  auto group = ProgramGroup::create(bundle, "m.rpb", 1);
  ASSERT_TRUE(bool(group)) << group.message();
  (*group)->executable(1).setCheckIndices(true);
  Session session(**group);
  ASSERT_FALSE(session.setState({3, 40, 0}));
  ASSERT_FALSE(session.start(1));
  std::string error = session.step().message();
  EXPECT_EQ(error.find("m.rpb, program 'second': step 0, command 3: indices of gather"), 0u)
      << error;
}

TEST(ProgramGroup, TheFileHoldsDevices) {
  std::vector<uint8_t> file = *serializeBundle(twoDevices());
  Expected<Bundle> again = deserializeBundle(file.data(), file.size(), "m.rpb");
  ASSERT_TRUE(bool(again)) << again.message();
  EXPECT_TRUE(*again == twoDevices());
}

TEST(ProgramGroup, HostileContentNeverCrashes) {
  std::vector<uint8_t> good = *serializeBundle(twoDevices());
  size_t refused = 0;
  for (size_t i = 8; i < good.size(); ++i)
    for (uint8_t value : {0, 1, 2, 3, 4, 5, 6, 8, 127, 255}) {
      std::vector<uint8_t> bad = good;
      bad[i] = value;
      stampBundle(bad);
      Expected<Bundle> bundle = deserializeBundle(bad.data(), bad.size(), "m.rpb");
      refused += !bundle;
      for (uint32_t device = 0; bundle && device < bundle->countDevices(); ++device) {
        Bundle alone = selectDevice(*bundle, device);
        EXPECT_FALSE(validateBundle(alone)) << "byte " << i << " is " << int(value);
        countLiveBytes(alone);
      }
    }
  EXPECT_GT(refused, good.size());
}

/// Halves w `steps` times, and writes it into a folder; returns the error, or the hash.
std::string halve(Bundle bundle, int64_t steps, const std::string &from, const std::string &to) {
  auto group = ProgramGroup::create(std::move(bundle), "m.rpb", 1);
  if (!group)
    return group.message();
  Session session(**group);
  std::vector<float> w(9);
  std::iota(w.begin(), w.end(), 1.f);
  Error error = from.empty() ? session.giveValue({"w", DType::F32, {3, 3}, w.data()})
                             : session.giveFolder(from);
  if (!error)
    error = session.start(steps);
  for (int64_t i = 0; i < steps && !error; ++i)
    error = session.step();
  OutputFolder folder = session.outputFolder(to);
  folder.inputDir = from;
  if (!error)
    error = writeRunFolder(folder, session.results(), session.state());
  return error ? error.message() : hashText(*session.hash());
}

/// Three rows of three elements do not fill whole words.
TEST(ProgramGroup, RowsOnSeveralDevicesAreOneArray) {
  TemporaryFolder folder;
  std::string one = folder.file("one"), shared = folder.file("shared");
  EXPECT_EQ(halve(sharedStackBundle(3), 2, "", shared), halve(stackBundle(3), 2, "", one));
  for (std::string file : {"/w.npy", "/run.json"})
    EXPECT_EQ(contents(shared + file), contents(one + file)) << file;
  EXPECT_EQ(halve(sharedStackBundle(3), 3, one, folder.file("on")),
            halve(stackBundle(3), 5, "", one));
  EXPECT_EQ(contents(folder.file("on") + "/w.npy"), contents(one + "/w.npy"));
}

TEST(ProgramGroup, ValuesForRowsAreForTheirArray) {
  auto group = ProgramGroup::create(sharedStackBundle(3), "m.rpb", 1);
  ASSERT_TRUE(bool(group)) << group.message();
  Session session(**group);
  EXPECT_TRUE(session.find("w"));
  EXPECT_FALSE(session.find("w[0]"));
  float w[9] = {};
  EXPECT_EQ(session.giveValue({"w", DType::F32, {1, 3}, w}).message(),
            "m.rpb, program 'first': cannot take a value: shape [1, 3], expected [3, 3] for 'w'");
  EXPECT_EQ(session.giveValue({"w[0]", DType::F32, {1, 3}, w}).message(),
            "m.rpb: the step takes no argument 'w[0]'");
  EXPECT_EQ(session.start(1).message(), "m.rpb, program 'first': parameter 'w' has no initializer "
                                        "and was given no value");
}

TEST(ProgramGroup, TheFileHoldsRows) {
  std::vector<uint8_t> good = *serializeBundle(sharedStackBundle(3));
  Expected<Bundle> again = deserializeBundle(good.data(), good.size(), "m.rpb");
  ASSERT_TRUE(bool(again)) << again.message();
  EXPECT_TRUE(*again == sharedStackBundle(3));
  size_t accepted = 0;
  for (size_t i = 8; i < good.size(); ++i)
    for (uint8_t value : {0, 1, 2, 3, 4, 127, 255}) {
      std::vector<uint8_t> bad = good;
      bad[i] = value;
      stampBundle(bad);
      Expected<Bundle> bundle = deserializeBundle(bad.data(), bad.size(), "m.rpb");
      if (!bundle)
        continue;
      ++accepted;
      EXPECT_EQ(describeInterface(*bundle).results.size(), 1u) << "byte " << i;
      for (uint32_t device = 0; device < bundle->countDevices(); ++device)
        EXPECT_FALSE(validateBundle(selectDevice(*bundle, device)));
    }
  EXPECT_GT(accepted, 0u);
}

TEST(ProgramGroup, DefectsOfRowsAreNamed) {
  const std::pair<const char *, std::function<void(Bundle &)>> defects[] = {
      {"argument 'w[1]' has rows out of range", [](Bundle &b) { b.arguments[1].rows.first = 2; }},
      {"argument 'w[1]' has rows out of range", [](Bundle &b) { b.arguments[1].rows.whole = ""; }},
      {"argument 'w[0]' has rows out of range",
       [](Bundle &b) { b.arguments[0].rows.of = int64_t(1) << 60; }},
      {"the rows of argument 'w' do not follow each other",
       [](Bundle &b) { b.arguments[0].rows.of = b.arguments[1].rows.of = 4; }},
      {"the rows of argument 'w' do not follow each other",
       [](Bundle &b) { b.arguments[1].role = Role::State; }},
      {"two arguments have the name 'w'",
       [](Bundle &b) {
         b.arguments.push_back({"w", Role::State, DType::F32, {}, -1, 4, false});
         b.devices[0].arguments.push_back(2);
       }},
      {"the rows of result 'w' do not follow each other", [](Bundle &b) { b.results.pop_back(); }},
      {"result 'w[0]' differs from the argument that it replaces",
       [](Bundle &b) { b.results[0].rows.whole = b.results[1].rows.whole = "v"; }},
  };
  EXPECT_EQ(serializeBundle(selectDevice(sharedStackBundle(3), 1)).message(),
            "the bundle is malformed: a bundle of a single device has an argument in parts");
  for (const auto &[message, make] : defects) {
    Bundle bundle = sharedStackBundle(3);
    ASSERT_FALSE(validateBundle(bundle));
    make(bundle);
    Error error = validateBundle(bundle);
    EXPECT_EQ(error ? error.message() : "sound", message);
  }
}

struct Defect {
  const char *message;
  std::function<void(Bundle &)> make;
};

std::vector<Command> &commandsOf(Bundle &bundle, uint32_t device) {
  return bundle.programs[device == 0 ? 0 : bundle.programs.size() - 1].commands;
}

TEST(ProgramGroup, DefectsAreNamed) {
  const Defect defects[] = {
      {"the number of devices is out of range", [](Bundle &b) { b.devices.pop_back(); }},
      {"two devices have the same name, or a device has no name",
       [](Bundle &b) { b.devices[1].name = "first"; }},
      {"the arguments of device 'second' are out of order or range",
       [](Bundle &b) { b.devices[1].arguments = {5}; }},
      {"the arguments of device 'first' are out of order or range",
       [](Bundle &b) { b.devices[0].arguments = {0, 1, 1, 2, 3, 4}; }},
      {"a program, result or comparison belongs to no device",
       [](Bundle &b) { b.programs.back().device = 2; }},
      {"the bundle has no program 'step' for each device",
       [](Bundle &b) { b.programs.back().name = "init_inputs"; }},
      {"two programs have the name 'step'", [](Bundle &b) { b.programs.back().device = 0; }},
      {"a command, result or comparison names an argument of another device",
       [](Bundle &b) { b.devices[0].arguments = {0, 1, 2, 3}; }},
      {"argument 'spare' belongs to no device",
       [](Bundle &b) {
         b.arguments.push_back({"spare", Role::Input, DType::F32, {}, -1, 4, false});
       }},
      {"program 'second' reads 'w', whose next value 'first' makes",
       [](Bundle &b) { b.devices[1].arguments = {0, 3}; }},
      {"command 1 of program 'step' of 'first': there is no program 'third' to exchange values "
       "with",
       [](Bundle &b) { commandsOf(b, 0)[1].peer = "third"; }},
      {"command 1 of program 'step' of 'first': the program exchanges values with itself",
       [](Bundle &b) { commandsOf(b, 0)[1].peer = "first"; }},
      {"no program takes the other side: command 0 of 'second', which receives from 'first' with "
       "tag 1",
       [](Bundle &b) { commandsOf(b, 0)[1].tag = 3; }},
      {"the two sides differ in size: command 1 of 'first', which sends to 'second' with tag 1, "
       "and command "
       "0 "
       "of 'second', which receives from 'first' with tag 1",
       [](Bundle &b) { commandsOf(b, 0)[1].operands[0].buffer.bytes = 128; }},
      {"programs wait for each other: command 1 of 'first', which receives from 'second' with tag "
       "2, and command 0 of 'second', which receives from 'first' with tag 1",
       [](Bundle &b) { // the program waits before it sends
         std::vector<Command> &c = commandsOf(b, 0);
         c = {c[0], c[2], c[4], c[1], c[3], c[5], c[6], c[7]};
       }},
  };
  for (const Defect &defect : defects) {
    Bundle bundle = twoDevices();
    ASSERT_FALSE(validateBundle(bundle));
    defect.make(bundle);
    Error error = validateBundle(bundle);
    EXPECT_EQ(error ? error.message() : "sound", defect.message);
  }
}

} // namespace
