// reprise: tests of calls of functions that the host registers
#include "reprise/Runtime/HostCalls.h"
#include "RunSteps.h"
#include "TestBundle.h"
#include "reprise/Runtime/Session.h"
#include "reprise/Support/LibraryCall.h"

#include "gtest/gtest.h"
#include <thread>

using namespace reprise;
using namespace reprise::runtime;
using namespace reprise::runtime::test;

namespace {

constexpr int64_t n = 8;
constexpr uint64_t bytes = 4 * n;

/// Makes a call of one f32 vector, which gives a vector and a flag that nothing reads.
HostCall describeCall() {
  HostCall call;
  call.operands = {{true, 0, {2, n / 2}}};
  call.results = {{true, 0, {n}}, {false, 6, {}}};
  return call;
}

/// Makes trainingBundle(n), of which the halves are the work of "test:half".
Bundle callingBundle() {
  Bundle bundle = trainingBundle(n);
  Command call;
  call.kind = CommandKind::Call;
  call.function = "test:half";
  call.numbers = describeCall().numbers();
  call.operands = {{arena(0, bytes), Read}, {argument(0, bytes), Write}};
  bundle.programs[0].commands[1] = call;
  return bundle;
}

Command &callOf(Bundle &bundle) { return bundle.programs[0].commands[1]; }

/// Registers the library "test" as long as it lives.
struct Registration {
  explicit Registration(HostFunction function) { registerHostCalls("test", std::move(function)); }
  ~Registration() { registerHostCalls("test", nullptr); }
};

Error half(const std::string &, const std::vector<HostTensor> &operands,
           const std::vector<HostTensor> &results) {
  for (int64_t i = 0; i < n; ++i)
    static_cast<float *>(results[0].data)[i] = static_cast<float *>(operands[0].data)[i] * 0.5f;
  return Error::success();
}

struct Outcome {
  std::string error;
  uint64_t hash = 0;
};

Outcome train(Bundle bundle, unsigned threads, int64_t steps = 3) {
  auto executable = Executable::create(std::move(bundle), "m.rpb", threads);
  if (!executable)
    return {executable.message()};
  Session session(**executable);
  if (Error error = runSteps(session, steps))
    return {error.message()};
  auto hash = session.hash();
  return hash ? Outcome{"", *hash} : Outcome{hash.message()};
}

TEST(HostCalls, NumbersReadBack) {
  std::vector<int64_t> numbers = describeCall().numbers();
  EXPECT_EQ(numbers, (std::vector<int64_t>{1, 2, 1, 0, 2, 2, n / 2, 1, 0, 1, n, 0, 6, 0}));
  auto read = HostCall::from(numbers);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->numbers(), numbers);
}

TEST(HostCalls, MalformedNumbersAreRefused) {
  std::vector<int64_t> good = describeCall().numbers();
  for (size_t length = 0; length < good.size(); ++length)
    EXPECT_FALSE(HostCall::from({good.begin(), good.begin() + int64_t(length)})) << length;
  auto refuses = [&](size_t at, int64_t number) {
    std::vector<int64_t> numbers = good;
    numbers[at] = number;
    return !HostCall::from(numbers);
  };
  EXPECT_TRUE(refuses(0, -1));
  EXPECT_TRUE(refuses(0, INT64_MAX));
  EXPECT_TRUE(refuses(1, 0)) << "no result";
  EXPECT_TRUE(refuses(1, INT64_MAX));
  EXPECT_TRUE(refuses(2, 0)) << "an absent operand";
  EXPECT_TRUE(refuses(3, 7)) << "an unknown type";
  EXPECT_TRUE(refuses(4, 65)) << "the rank";
  EXPECT_TRUE(refuses(5, -1)) << "a negative size";
  EXPECT_TRUE(refuses(5, INT64_MAX)) << "too many elements";
}

TEST(HostCalls, BuffersMustMatchTheNumbers) {
  auto refusal = [](auto change) {
    Bundle bundle = callingBundle();
    change(callOf(bundle));
    auto file = serializeBundle(bundle);
    return file ? std::string() : file.message();
  };
  EXPECT_EQ(refusal([](Command &) {}), "");
  const char *wrong = "does not match the numbers of the call";
  EXPECT_NE(refusal([](Command &c) { c.operands.pop_back(); }).find(wrong), std::string::npos);
  EXPECT_NE(refusal([](Command &c) { c.operands.push_back(c.operands[0]); }).find(wrong),
            std::string::npos);
  EXPECT_NE(refusal([](Command &c) { c.operands[0].buffer.bytes -= 4; }).find(wrong),
            std::string::npos);
  EXPECT_NE(refusal([](Command &c) { c.operands[1].access = Read; }).find(wrong),
            std::string::npos);
  EXPECT_NE(refusal([](Command &c) { c.numbers.pop_back(); }).find("malformed numbers"),
            std::string::npos);
}

TEST(HostCalls, AStepCallsOnTheThreadThatRunsIt) {
  Outcome expected = train(trainingBundle(n), 1);
  ASSERT_EQ(expected.error, "");
  for (unsigned threads : {1u, 2u, 5u}) {
    std::vector<std::thread::id> callers;
    Registration registration([&](const std::string &callee, auto &operands, auto &results) {
      callers.push_back(std::this_thread::get_id());
      EXPECT_EQ(callee, "test:half");
      EXPECT_EQ(operands[0].shape, (std::vector<int64_t>{2, n / 2}));
      EXPECT_EQ(results.size(), 2u);
      EXPECT_EQ(results[1].data, nullptr);
      EXPECT_EQ(results[1].dtype, DType::I1);
      return half(callee, operands, results);
    });
    Outcome called = train(callingBundle(), threads);
    EXPECT_EQ(called.error, "") << threads;
    EXPECT_EQ(called.hash, expected.hash) << threads;
    EXPECT_EQ(callers, std::vector<std::thread::id>(3, std::this_thread::get_id())) << threads;
  }
}

TEST(HostCalls, AnErrorOfTheCallbackEndsTheStep) {
  for (unsigned threads : {1u, 2u}) {
    int calls = 0;
    Registration registration([&](const std::string &callee, auto &operands, auto &results) {
      return ++calls == 2 ? Error::make("the matrix is singular") : half(callee, operands, results);
    });
    Outcome outcome = train(callingBundle(), threads);
    EXPECT_NE(outcome.error.find("the call of 'test:half' failed: the matrix is singular"),
              std::string::npos)
        << outcome.error;
    EXPECT_EQ(calls, 2);
  }
}

TEST(HostCalls, AMissingLibraryIsNamed) {
  EXPECT_EQ(train(callingBundle(), 1).error,
            "m.rpb: the step calls 'test:half', but no library 'test' is registered in this "
            "process: register it with reprise_register_calls");
}

/// A loop makes the call for each row.
TEST(HostCalls, ALoopCallsInEveryIteration) {
  Bundle bundle = callingBundle();
  Command &call = callOf(bundle);
  HostCall row;
  row.operands = row.results = {{true, 0, {n / 4}}};
  call.numbers = row.numbers();
  for (Operand &operand : call.operands) {
    operand.buffer.bytes = bytes / 4;
    operand.strides = {int64_t(bytes / 4)};
  }
  std::vector<Command> &commands = bundle.programs[0].commands;
  commands.insert(commands.begin() + 1, repeat(4, 1));
  int calls = 0;
  Registration registration([&](const std::string &, auto &operands, auto &results) {
    ++calls;
    for (int64_t i = 0; i < n / 4; ++i)
      static_cast<float *>(results[0].data)[i] = static_cast<float *>(operands[0].data)[i] * 0.5f;
    return Error::success();
  });
  Outcome looped = train(bundle, 2);
  EXPECT_EQ(looped.error, "");
  EXPECT_EQ(looped.hash, train(trainingBundle(n), 1).hash);
  EXPECT_EQ(calls, 4 * 3);
}

} // namespace
