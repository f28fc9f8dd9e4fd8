// reprise: tests of sends, receives, events and library calls, and of their checks
#include "FakeDevice.h"
#include "RunSteps.h"
#include "TestBundle.h"
#include "reprise/Runtime/LiveBytes.h"
#include "reprise/Runtime/Session.h"

#include "gtest/gtest.h"
#include <functional>
#include <thread>

using namespace reprise::runtime;
using namespace reprise::runtime::test;

namespace {

constexpr int64_t n = 64, rows = 4;
constexpr uint64_t bytes = 4 * n, rowBytes = bytes / rows;

Operand row(BufferRef buffer, Access access) {
  buffer.bytes = rowBytes;
  return {buffer, access, {int64_t(rowBytes)}};
}

/// Makes trainingBundle(n) with halves that another program computes: row by row, or all at once.
Bundle firstStage(bool byRows) {
  Bundle bundle = trainingBundle(n);
  Program &step = bundle.programs[0];
  BufferRef sum = arena(0, bytes), w = argument(0, bytes);
  std::vector<Command> exchange = {send(sum, "second", 1, 0), receive(w, "second", 2, 7),
                                   waitFor(0), waitFor(7)};
  if (byRows) {
    exchange[0].operands[0] = row(sum, Read);
    exchange[1].operands[0] = row(w, Write);
    exchange.insert(exchange.begin(), repeat(rows, 4));
  }
  step.commands.erase(step.commands.begin() + 1);
  step.commands.insert(step.commands.begin() + 1, exchange.begin(), exchange.end());
  return bundle;
}

Bundle secondStage(bool byRows) {
  Bundle bundle = emptyBundle();
  int64_t items = byRows ? n / rows : n;
  uint64_t size = 4 * uint64_t(items);
  BufferRef in = arena(0, size), out = arena(512, size);
  Program &step = bundle.programs[0];
  step.arenaBytes = 512 + size;
  step.commands = {receive(in, "first", 1, 0), waitFor(0), command(Half, items, {in}, {out}),
                   send(out, "first", 2, 0), waitFor(0)};
  if (byRows)
    step.commands.insert(step.commands.begin(), repeat(rows, 5));
  return bundle;
}

Expected<std::unique_ptr<Executable>> open(Bundle bundle, const std::string &name,
                                           Transport &transport, unsigned threads = 2) {
  auto device = makeCpuDevice(threads);
  auto endpoint = transport.join(name);
  EXPECT_TRUE(device && endpoint);
  return Executable::create(std::move(bundle), name, std::move(*device), std::move(*endpoint));
}

struct Outcome {
  std::string error;
  uint64_t hash = 0;
};

/// Runs a session of its own, which is destroyed before this returns.
Outcome train(Bundle bundle, const std::string &name, Transport &transport, int64_t steps,
              unsigned threads = 2) {
  auto executable = open(std::move(bundle), name, transport, threads);
  if (!executable)
    return {executable.message()};
  Session session(**executable);
  if (Error error = runSteps(session, steps))
    return {error.message()};
  return {"", hashArrays(session.results())};
}

/// Runs two programs, each on a thread.
std::pair<Outcome, Outcome> trainBoth(Bundle first, Bundle second, int64_t steps,
                                      int64_t stepsOfSecond, unsigned threads = 2) {
  std::unique_ptr<Transport> transport = makeLocalTransport({"first", "second"});
  std::pair<Outcome, Outcome> outcomes;
  std::thread other([&] {
    outcomes.second = train(std::move(second), "second", *transport, stepsOfSecond, threads);
  });
  outcomes.first = train(std::move(first), "first", *transport, steps, threads);
  other.join();
  return outcomes;
}

TEST(Commands, TwoProgramsHaveTheBitsOfOne) {
  Bundle whole = trainingBundle(n);
  for (unsigned threads : {1u, 3u}) {
    std::unique_ptr<Transport> nobody = makeLocalTransport({"whole"});
    Outcome expected = train(whole, "whole", *nobody, 10, threads);
    ASSERT_EQ(expected.error, "");
    for (bool byRows : {false, true}) {
      auto [first, second] = trainBoth(firstStage(byRows), secondStage(byRows), 10, 10, threads);
      EXPECT_EQ(first.error, "");
      EXPECT_EQ(second.error, "");
      EXPECT_EQ(first.hash, expected.hash) << "by rows " << byRows << ", threads " << threads;
    }
  }
}

TEST(Commands, TwoRowsThatChangePlacesAreSeen) {
  Bundle wrong = secondStage(true);
  // The last two rows arrive in each other's place.
  Bundle first = firstStage(true);
  first.programs[0].commands[3].operands[0].buffer.offset = 3 * rowBytes;
  first.programs[0].commands[3].operands[0].strides = {-int64_t(rowBytes)};
  std::unique_ptr<Transport> nobody = makeLocalTransport({"whole"});
  uint64_t expected = train(trainingBundle(n), "whole", *nobody, 2).hash;
  EXPECT_NE(trainBoth(first, wrong, 2, 2).first.hash, expected);
}

//===--------------------------------------------------------------------------------------------===//
// Ends

TEST(Commands, AProgramThatEndsEarly) {
  auto [first, second] = trainBoth(firstStage(false), secondStage(false), 5, 3);
  EXPECT_EQ(first.error, "first: step 3, program 'second' has ended, and 'first' waits to send to "
                         "'second' with tag 1");
  EXPECT_EQ(second.error, "");
}

TEST(Commands, AProgramThatFailsEndsTheOthers) {
  Bundle second = secondStage(false);
  second.arguments = {{"late", Role::Input, DType::F32, {1}, -1, 4, false}};
  auto [first, failed] = trainBoth(firstStage(false), second, 5, 5);
  EXPECT_EQ(failed.error, "second: input 'late' has no initializer and was given no value");
  EXPECT_NE(first.error.find("program 'second' has ended"), std::string::npos) << first.error;
}

TEST(Commands, AFaultAmongStepsIsToldToPeers) {
  std::unique_ptr<Transport> transport = makeLocalTransport({"first", "second"});
  Outcome first;
  std::thread other([&] { first = train(firstStage(false), "first", *transport, 5); });
  auto executable = open(secondStage(false), "second", *transport);
  ASSERT_TRUE(bool(executable)) << executable.message();
  Session session(**executable);
  EXPECT_FALSE(bool(session.start(5)));
  EXPECT_FALSE(bool(session.step()));
  (*executable)->fail("the disk is full"); // while the executable still exists
  other.join();
  EXPECT_EQ(first.error, "first: step 1, program 'second' failed: the disk is full");
  EXPECT_EQ(session.step().message(), "second: step 1, program 'second' failed: the disk is full");
}

TEST(Commands, ADeadlockIsAnError) {
  Bundle first = firstStage(false), second = secondStage(false);
  // Both programs receive before they send.
  auto &commands = first.programs[0].commands;
  std::vector<Command> old = commands;
  for (auto [to, from] : {std::pair(1, 2), {2, 4}, {3, 1}, {4, 3}})
    commands[to] = old[from];
  auto [one, two] = trainBoth(first, second, 2, 2);
  EXPECT_NE(one.error.find("programs wait for each other: "), std::string::npos) << one.error;
  EXPECT_NE(one.error.find("'first' waits to receive from 'second' with tag 2"), std::string::npos);
  EXPECT_NE(two.error.find("'second' waits to receive from 'first' with tag 1"), std::string::npos)
      << two.error;
}

TEST(Commands, SizesMustAgree) {
  Bundle second = secondStage(false);
  second.programs[0].commands[0].operands[0].buffer.bytes = bytes - 4;
  auto [one, two] = trainBoth(firstStage(false), second, 2, 2);
  std::string text = "step 0, program 'first' sends 256 bytes with tag 1, where 'second' receives "
                     "252";
  EXPECT_EQ(one.error, "first: " + text);
  EXPECT_EQ(two.error, "second: " + text);
}

TEST(Commands, PeersAreAskedForWhenABundleIsOpened) {
  EXPECT_EQ(Executable::create(firstStage(false), "m.rpb", 1).message(),
            "m.rpb: program 'step' exchanges values with 'second', and runs alone");
  std::unique_ptr<Transport> transport = makeLocalTransport({"first"});
  EXPECT_EQ(train(firstStage(false), "first", *transport, 1).error,
            "first: there is no program 'second' to exchange values with");
  EXPECT_EQ(transport->join("first").message(), "program 'first' has already joined");
  EXPECT_EQ(transport->join("third").message(), "the transport knows no program 'third'");
}

//===--------------------------------------------------------------------------------------------===//
// Library calls and events

/// Makes w' = 2 · (w / 2) with a library call, on a stream of its own.
Bundle libraryBundle() {
  Bundle bundle = trainingBundle(1);
  bundle.images[0].target = "fake";
  Program &step = bundle.programs[0];
  BufferRef half = arena(step.arenaBytes / 64 * 64 + 64, 4), work = arena(half.offset + 64, 4);
  step.arenaBytes = work.offset + 4;
  step.commands[1].operands[1].buffer = half;
  std::vector<Command> call = {record(1), waitFor(1, 2), callDouble(half, argument(0, 4), work, 2),
                               record(2, 2), waitFor(2)};
  step.commands.insert(step.commands.begin() + 2, call.begin(), call.end());
  return bundle;
}

TEST(Commands, ADeviceWithALibraryRunsItsCalls) {
  DeviceLog log;
  auto executable = Executable::create(libraryBundle(), "m.rpb", makeFakeDevice(log));
  ASSERT_TRUE(bool(executable)) << executable.message();
  Session session(**executable);
  EXPECT_FALSE(bool(session.setState({3, 40, 0})));
  EXPECT_FALSE(bool(session.start(2)));
  EXPECT_FALSE(bool(session.step()));
  EXPECT_EQ(*static_cast<const float *>(session.results()[1].data), 300);
  EXPECT_FALSE(bool(session.step()));
  EXPECT_EQ(*static_cast<const float *>(session.results()[1].data), 400);
}

TEST(Commands, WhatADeviceCannotRunIsRefused) {
  Bundle bundle = libraryBundle();
  bundle.images[0].target = "cpu";
  EXPECT_EQ(Executable::create(bundle, "m.rpb", 1).message(),
            "m.rpb: device 'cpu' has no library with function 'fakeDouble'");
  DeviceLog log;
  EXPECT_EQ(Executable::create(firstStage(false), "m.rpb", makeFakeDevice(log)).message(),
            "m.rpb: device 'fake' cannot run a send");
  EXPECT_EQ(log.calls, std::vector<std::string>()) << "nothing was allocated";
}

//===--------------------------------------------------------------------------------------------===//
// The file and its checks

TEST(Commands, TheFileHoldsThem) {
  for (const Bundle &bundle : {trainingBundle(4), firstStage(true), libraryBundle()}) {
    Expected<std::vector<uint8_t>> file = serializeBundle(bundle);
    ASSERT_TRUE(bool(file)) << file.message();
    Expected<Bundle> again = deserializeBundle(file->data(), file->size(), "m.rpb");
    EXPECT_TRUE(bool(again) && *again == bundle);
  }
}

TEST(Commands, HostileContentNeverCrashes) {
  std::vector<uint8_t> good = *serializeBundle(firstStage(true));
  size_t refused = 0;
  for (size_t i = 8; i < good.size(); ++i)
    for (uint8_t value : {0, 1, 2, 3, 4, 5, 6, 7, 8, 127, 255}) {
      std::vector<uint8_t> bad = good;
      bad[i] = value;
      stampBundle(bad);
      Expected<Bundle> bundle = deserializeBundle(bad.data(), bad.size(), "m.rpb");
      refused += !bundle;
      if (bundle)
        countLiveBytes(*bundle);
    }
  EXPECT_GT(refused, good.size());
}

struct Defect {
  const char *message;
  std::function<void(std::vector<Command> &)> make;
};

/// Commands of firstStage: 0 add, 1 send sum, 2 receive w, 3 wait for the send, 4 wait for the
/// receive, 5 loss of w, 6 and 7 the offset.
TEST(Commands, EveryFieldIsChecked) {
  const Defect defects[] = {
      {"command 1 of program 'step': tag 32768 is out of range", [](auto &c) { c[1].tag = 32768; }},
      {"command 1 of program 'step': event 65536 is out of range",
       [](auto &c) { c[1].event = 65536; }},
      {"command 1 of program 'step': stream 16 is out of range", [](auto &c) { c[1].stream = 16; }},
      {"command 0 of program 'step': stream 1 is out of range", [](auto &c) { c[0].stream = 1; }},
      {"command 0 of program 'step': a peer without a transfer", [](auto &c) { c[0].tag = 1; }},
      {"command 3 of program 'step': a peer without a transfer", [](auto &c) { c[3].peer = "x"; }},
      {"command 1 of program 'step': a send without the name of a peer",
       [](auto &c) { c[1].peer = ""; }},
      {"command 2 of program 'step': a receive without the name of a peer",
       [](auto &c) { c[2].peer = std::string("a\0b", 3); }},
      {"command 1 of program 'step': a send is of one buffer, which it reads",
       [](auto &c) { c[1].operands[0].access = Write; }},
      {"command 2 of program 'step': a receive is into one buffer, which it writes",
       [](auto &c) { c[2].operands.push_back(c[2].operands[0]); }},
      {"command 1 of program 'step': a buffer of 256 bytes at 1024 lies outside its space of 328",
       [](auto &c) { c[1].operands[0].buffer.offset = 1024; }},
      {"command 2 of program 'step': a constant is written",
       [](auto &c) { c[2].operands[0].buffer = {Space::Constant, 0, 0, 4}; }},
      {"command 1 of program 'step': a send has a kernel, items or index checks",
       [](auto &c) { c[1].items = 1; }},
      {"command 3 of program 'step': a wait has operands",
       [](auto &c) { c[3].operands = c[1].operands; }},
      {"command 1 of program 'step': a function without a library call",
       [](auto &c) { c[1].function = "f"; }},
      {"command 1 of program 'step': a library call without the name of a function",
       [](auto &c) {
         c[1] = callDouble({}, {}, {});
         c[1].function = "";
       }},
      {"program 'step': command 3: waits for event 5, which nothing gives",
       [](auto &c) { c[3].event = 5; }},
      {"program 'step': no command waits for event 0 of command 1",
       [](auto &c) { c.erase(c.begin() + 3); }},
      {"program 'step': command 2: event 0 is given again before anything waits for it",
       [](auto &c) { c[2].event = 0; }},
  };
  for (const Defect &defect : defects) {
    Bundle bundle = firstStage(false);
    defect.make(bundle.programs[0].commands);
    Error error = validateBundle(bundle);
    EXPECT_EQ(error ? error.message() : "sound", defect.message);
  }
}

TEST(Commands, PlacesInFlightAreNotTouched) {
  BufferRef sum = arena(0, bytes), w = argument(0, bytes), x = argument(1, bytes);
  const Defect defects[] = {
      {"program 'step': command 2: writes bytes that command 1 (send) may still use: no wait is "
       "between them",
       [=](auto &c) { c.insert(c.begin() + 2, command(Half, n, {x}, {sum})); }},
      {"program 'step': command 3: reads bytes that command 2 (receive) may still use: no wait is "
       "between them",
       [=](auto &c) { c.insert(c.begin() + 3, command(Half, n, {w}, {arena(64, 128)})); }},
      {"program 'step': command 4: reads bytes that command 2 (receive) may still use: no wait is "
       "between them",
       [=](auto &c) { std::swap(c[4], c[5]); }},
  };
  for (const Defect &defect : defects) {
    Bundle bundle = firstStage(false);
    defect.make(bundle.programs[0].commands);
    Error error = validateBundle(bundle);
    EXPECT_EQ(error ? error.message() : "sound", defect.message);
  }
  // A read of a buffer that is being sent is allowed.
  Bundle reads = firstStage(false);
  auto &commands = reads.programs[0].commands;
  commands.insert(commands.begin() + 2, command(Half, 1, {sum}, {arena(256, 4)}));
  EXPECT_FALSE(bool(validateBundle(reads)));
}

TEST(Commands, RowsInFlightAreNotTouched) {
  EXPECT_FALSE(bool(validateBundle(firstStage(true))));
  // The wait for the received value comes behind its reader.
  Bundle bundle = secondStage(true);
  std::vector<Command> &commands = bundle.programs[0].commands;
  commands[2] = record(3);
  commands[5] = waitFor(0);
  Error error = validateBundle(bundle);
  EXPECT_EQ(error ? error.message() : "sound",
            "program 'step': command 3: reads bytes that command 1 (receive) may still use: no "
            "wait is between them");
}

TEST(Commands, StreamsAreOrderedByEvents) {
  EXPECT_FALSE(bool(validateBundle(libraryBundle())));
  const std::pair<size_t, const char *> defects[] = {
      {3, "program 'step': command 3: reads bytes that command 1 (kernel) may still use: no wait "
          "is between them"},
      {6, "program 'step': command 6: reads bytes that command 4 (library call) may still use: no "
          "wait is between them"}};
  for (auto [missing, message] : defects) {
    Bundle bundle = libraryBundle();
    auto &commands = bundle.programs[0].commands;
    commands.erase(commands.begin() + int64_t(missing));
    Error error = validateBundle(bundle);
    EXPECT_EQ(error ? error.message() : "sound", message);
  }
}

TEST(Commands, BuffersInFlightAreLive) {
  // In the second stage the received value dies in command 2, and the sent value lives until its
  // wait.
  Bundle bundle = secondStage(false);
  EXPECT_EQ(countLiveBytes(bundle), (std::vector<uint64_t>{bytes, bytes, 2 * bytes, bytes, bytes}));
}

} // namespace
