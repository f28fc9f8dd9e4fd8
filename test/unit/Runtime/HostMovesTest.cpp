// reprise: tests of values that wait in the memory of the host
#include "TestBundle.h"
#include "reprise/Runtime/Executable.h"
#include "reprise/Runtime/Session.h"

#include "gtest/gtest.h"
#include <cstring>
#include <functional>

using namespace reprise::runtime;
using namespace reprise::runtime::test;

namespace {

constexpr int64_t n = 64;
constexpr uint64_t bytes = 4 * n;

BufferRef onHost(uint64_t offset) {
  BufferRef place;
  place.space = Space::Host;
  place.offset = offset;
  place.bytes = bytes;
  return place;
}

Command move(CommandKind kind, BufferRef from, BufferRef to, uint32_t event) {
  Command made = copy(from, to);
  made.kind = kind;
  made.event = event;
  return made;
}

/// Makes trainingBundle(n) with a sum that waits on the host while its place holds another value.
Bundle offloadingBundle() {
  Bundle bundle = trainingBundle(n);
  Program &step = bundle.programs[0];
  step.hostBytes = 64 + bytes;
  BufferRef sum = arena(0, bytes);
  std::vector<Command> moves = {move(CommandKind::Offload, sum, onHost(64), 0), waitFor(0),
                                copy(argument(1, bytes), sum),
                                move(CommandKind::Fetch, onHost(64), sum, 1), waitFor(1)};
  step.commands.insert(step.commands.begin() + 1, moves.begin(), moves.end());
  return bundle;
}

std::vector<float> train(Bundle bundle, unsigned threads) {
  auto executable = Executable::create(std::move(bundle), "test", threads);
  EXPECT_TRUE(executable) << executable.message();
  Session session(**executable);
  EXPECT_FALSE(session.setState({3, 0, 0}));
  EXPECT_FALSE(session.start(2));
  for (int step = 0; step < 2; ++step)
    EXPECT_FALSE(session.step());
  std::vector<float> w(n);
  std::memcpy(w.data(), (*executable)->argument(0), bytes);
  return w;
}

TEST(HostMoves, TheValueComesBack) {
  for (unsigned threads : {1u, 2u})
    EXPECT_EQ(train(offloadingBundle(), threads), train(trainingBundle(n), threads));
}

/// If the fetch is removed, the step reads the other value in the place of the sum.
TEST(HostMoves, TheFetchIsWhatBringsIt) {
  Bundle bundle = offloadingBundle();
  bundle.programs[0].commands.erase(bundle.programs[0].commands.begin() + 4,
                                    bundle.programs[0].commands.begin() + 6);
  EXPECT_NE(train(bundle, 1), train(trainingBundle(n), 1));
}

TEST(HostMoves, TheFileHoldsThem) {
  Bundle bundle = offloadingBundle();
  auto data = serializeBundle(bundle);
  ASSERT_TRUE(data) << data.message();
  auto read = deserializeBundle(data->data(), data->size(), "test");
  ASSERT_TRUE(read) << read.message();
  EXPECT_TRUE(*read == bundle);
}

TEST(HostMoves, ABundleIsChecked) {
  struct Case {
    const char *message;
    std::function<void(Program &)> change;
  };
  std::vector<Case> cases = {
      {"lies outside its space of", [](Program &step) { step.hostBytes = bytes; }},
      {"an offload is from the device to the memory of the host",
       [](Program &step) {
         std::swap(step.commands[1].operands[0].buffer, step.commands[1].operands[1].buffer);
       }},
      {"a fetch is from the memory of the host to the device",
       [](Program &step) { step.commands[4].operands[0].buffer = argument(1, bytes); }},
      {"only offloads and fetches have operands in the memory of the host",
       [](Program &step) { step.commands[3].operands[0].buffer = onHost(64); }},
      {"no command waits for event 1",
       [](Program &step) { step.commands.erase(step.commands.begin() + 5, step.commands.end()); }},
      {"(offload) may still use: no wait is between them",
       [](Program &step) { std::swap(step.commands[2], step.commands[3]); }},
      {"a copy is from one buffer to another of its size",
       [](Program &step) { step.commands[1].operands[1].buffer.bytes = 4; }},
  };
  for (const Case &each : cases) {
    Bundle bundle = offloadingBundle();
    each.change(bundle.programs[0]);
    Error error = validateBundle(bundle);
    EXPECT_NE(error.message().find(each.message), std::string::npos)
        << "expected '" << each.message << "', got '" << error.message() << "'";
  }
}

TEST(HostMoves, ResultsDoNotLieThere) {
  Bundle bundle = offloadingBundle();
  bundle.results[2].buffer = onHost(64);
  EXPECT_EQ(validateBundle(bundle).message(), "result 'sum': a buffer in the memory of the host");
}

} // namespace
