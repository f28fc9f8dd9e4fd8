// reprise: lanes that exchange values, diverge, meet, and call functions
#include "TestKernel.h"
#include "gtest/gtest.h"

#include <functional>

using namespace reprise::emulator;

namespace {

/// Runs a warp whose thread i stores %r0 at out[i].
std::vector<uint32_t> resultsOf(const std::string &body, uint32_t threads = 32,
                                const std::string &outside = "", FaultReport *fault = nullptr) {
  TestDevice device;
  uint64_t out = device.reserve(threads * 4);
  std::string text = "mov.u32 %r31, %laneid;\n" + body +
                     "\nmul.wide.u32 %d30, %tid, 4;\nadd.u64 %d30, %d30, %p0;\n"
                     "st.global.u32 [%d30], %r0;";
  FaultReport report = device.run(kernelText(1, text, outside), {1}, {threads}, {out});
  if (fault)
    *fault = report;
  else
    EXPECT_EQ(report.text, "");
  return device.take<uint32_t>(out, threads);
}

void expectLanes(const std::string &body, const std::function<uint32_t(uint32_t)> &expected) {
  auto got = resultsOf(body);
  for (uint32_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ(got[lane], expected(lane)) << body << ", lane " << lane;
}

TEST(EmulatedWarp, Shuffles) {
  std::string value = "mul.lo.u32 %r1, %r31, 10;\n";
  expectLanes(value + "shfl.sync.bfly.b32 %r0, %r1, 5, 31, -1;",
              [](uint32_t l) { return (l ^ 5) * 10; });
  expectLanes(value + "shfl.sync.idx.b32 %r0, %r1, 7, 31, -1;", [](uint32_t) { return 70; });
  expectLanes(value + "shfl.sync.up.b32 %r0|%q1, %r1, 3, 0, -1;\n@!%q1 add.u32 %r0, %r0, 1000;",
              [](uint32_t l) { return l < 3 ? l * 10 + 1000 : (l - 3) * 10; });
  expectLanes(value + "shfl.sync.down.b32 %r0|%q1, %r1, 4, 31, -1;\n@!%q1 add.u32 %r0, %r0, 1000;",
              [](uint32_t l) { return l > 27 ? l * 10 + 1000 : (l + 4) * 10; });
  // Segments of eight lanes: the range has their mask in its second byte.
  expectLanes(value + "shfl.sync.bfly.b32 %r0, %r1, 6, 0x181f, -1;",
              [](uint32_t l) { return (l ^ 6) * 10; });
  expectLanes(value + "shfl.sync.idx.b32 %r0, %r1, 11, 0x181f, -1;",
              [](uint32_t l) { return ((l & 24) | 3) * 10; });
  expectLanes(value + "shfl.sync.down.b32 %r0|%q1, %r1, 2, 0x181f, -1;\n@!%q1 mov.u32 %r0, 7;",
              [](uint32_t l) { return l % 8 > 5 ? 7 : (l + 2) * 10; });
}

TEST(EmulatedWarp, VotesMatchesAndSums) {
  std::string odd = "and.b32 %r1, %r31, 1;\nsetp.eq.u32 %q1, %r1, 1;\n";
  expectLanes(odd + "vote.sync.ballot.b32 %r0, %q1, -1;", [](uint32_t) { return 0xaaaaaaaa; });
  expectLanes(odd + "vote.sync.any.pred %q2, %q1, -1;\nselp.u32 %r0, 1, 0, %q2;",
              [](uint32_t) { return 1; });
  expectLanes(odd + "vote.sync.all.pred %q2, %q1, -1;\nselp.u32 %r0, 1, 0, %q2;",
              [](uint32_t) { return 0; });
  expectLanes(odd + "match.any.sync.b32 %r0, %r1, -1;",
              [](uint32_t l) { return l % 2 ? 0xaaaaaaaa : 0x55555555; });
  expectLanes("redux.sync.add.u32 %r0, %r31, -1;", [](uint32_t) { return 31 * 16; });
  expectLanes("redux.sync.max.s32 %r0, %r31, -1;", [](uint32_t) { return 31; });
  expectLanes(odd + "mov.u32 %r0, 0;\n@%q1 activemask.b32 %r0;",
              [](uint32_t l) { return l % 2 ? 0xaaaaaaaa : 0; });
}

TEST(EmulatedWarp, BranchesDivergeAndMeet) {
  // A loop runs as many rounds as the lane's number, then an if and else follow; behind both, all
  // lanes vote.
  expectLanes(
      "mov.u32 %r0, 0;\nmov.u32 %r1, 0;\n$loop:\nsetp.ge.u32 %q1, %r1, %r31;\n@%q1 bra $done;\n"
      "add.u32 %r0, %r0, %r1;\nadd.u32 %r1, %r1, 1;\nbra $loop;\n$done:\n"
      "setp.lt.u32 %q2, %r31, 16;\n@%q2 bra $low;\nadd.u32 %r0, %r0, 1000;\nbra.uni $end;\n"
      "$low:\nadd.u32 %r0, %r0, 2000;\n$end:\nactivemask.b32 %r2;\nsetp.ne.u32 %q3, %r2, -1;\n"
      "@%q3 mov.u32 %r0, 9;",
      [](uint32_t l) { return (l ? l * (l - 1) / 2 : 0) + (l < 16 ? 2000 : 1000); });
  // Lanes that have ended are not waited for.
  auto got = resultsOf("mov.u32 %r0, 1;\nsetp.lt.u32 %q1, %r31, 8;\nmul.wide.u32 %d30, %tid, 4;\n"
                       "add.u64 %d30, %d30, %p0;\n@%q1 st.global.u32 [%d30], %r0;\n@%q1 exit;\n"
                       "vote.sync.ballot.b32 %r0, %q2, 0xffffff00;\nactivemask.b32 %r0;");
  EXPECT_EQ(got[0], 1u);
  EXPECT_EQ(got[31], 0xffffff00u);
}

TEST(EmulatedWarp, BranchesThroughTables) {
  std::string body =
      "and.b32 %r1, %r31, 3;\n$table: .branchtargets $a, $b,\n $c;\n"
      "setp.lt.u32 %q1, %r1, 3;\nmov.u32 %r0, 4;\n@%q1 brx.idx %r1, $table;\nbra $end;\n"
      "$a: mov.u32 %r0, 1;\nbra $end;\n$b: mov.u32 %r0, 2;\nbra $end;\n$c: mov.u32 %r0, 3;\n"
      "$end:\nactivemask.b32 %r2;\nsetp.ne.u32 %q3, %r2, -1;\n@%q3 mov.u32 %r0, 9;";
  expectLanes(body, [](uint32_t l) { return l % 4 + 1; });
  FaultReport fault;
  body.replace(body.find("@%q1 brx"), 4, "");
  resultsOf(body, 32, "", &fault);
  EXPECT_EQ(fault.fault, Fault::OutOfBounds) << fault.text;
}

TEST(EmulatedWarp, CallsFunctions) {
  const char *function = ".func (.param .b32 out) twice(.param .b32 in, .param .b64 in2)\n"
                         "{ .reg .b32 %r<4>; .reg .b64 %d<2>; .reg .pred %q;\n"
                         "ld.param.b32 %r1, [in]; ld.param.b64 %d1, [in2];\n"
                         "setp.lt.u32 %q, %r1, 10; @%q bra $small; add.u32 %r1, %r1, 100;\n"
                         "st.param.b32 [out], %r1; ret;\n"
                         "$small: cvt.u32.u64 %r2, %d1; mad.lo.u32 %r1, %r1, 2, %r2;\n"
                         "st.param.b32 [out], %r1; ret; }\n";
  auto got = resultsOf("cvt.u64.u32 %d1, %r31;\n{ .param .b32 a; .param .b64 b; .param .b32 c;\n"
                       "st.param.b32 [a], %r31; st.param.b64 [b], %d1;\n"
                       "call.uni (c), twice, (a, b);\nld.param.b32 %r0, [c]; }\n"
                       "activemask.b32 %r2;\nsetp.ne.u32 %q3, %r2, -1;\n@%q3 mov.u32 %r0, 9;",
                       32, function);
  for (uint32_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ(got[lane], lane < 10 ? 3 * lane : lane + 100);
}

TEST(EmulatedWarp, SpecialRegisters) {
  TestDevice device;
  uint64_t out = device.reserve(2 * 3 * 48 * 4);
  std::string body =
      "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %tid.y;\nmov.u32 %r3, %ntid.x;\n"
      "mad.lo.u32 %r4, %r2, %r3, %r1;\nmov.u32 %r5, %ctaid.y;\nmov.u32 %r6, %nctaid.x;\n"
      "mov.u32 %r7, %ctaid.x;\nmad.lo.u32 %r8, %r5, %r6, %r7;\nmad.lo.u32 %r9, %r8, 48, %r4;\n"
      "mov.u32 %r10, %warpid;\nmov.u32 %r11, %laneid;\nmad.lo.u32 %r12, %r10, 32, %r11;\n"
      "mul.wide.u32 %d1, %r9, 4;\nadd.u64 %d1, %d1, %p0;\nst.global.u32 [%d1], %r12;";
  EXPECT_EQ(device.run(kernelText(1, body), {2, 3}, {16, 3}, {out}).text, "");
  auto got = device.take<uint32_t>(out, 2 * 3 * 48);
  for (uint32_t i = 0; i < got.size(); ++i)
    EXPECT_EQ(got[i], i % 48);
}

TEST(EmulatedWarp, BlocksShareTheThreadsOfTheHost) {
  // The work is large enough for all threads: each lane adds its number 200 times.
  for (Order order : {Order::Forwards, Order::Backwards, Order::Shuffled}) {
    TestDevice device;
    device.order = order;
    uint32_t threads = 64 * 256;
    uint64_t out = device.reserve(threads * 4), count = device.give(std::vector<uint32_t>{0});
    std::string body =
        "mov.u32 %r1, 0;\nmov.u32 %r2, 0;\n$loop:\nadd.u32 %r2, %r2, %tid;\n"
        "add.u32 %r1, %r1, 1;\nsetp.lt.u32 %q1, %r1, 200;\n@%q1 bra $loop;\n"
        "mul.wide.u32 %d1, %tid, 4;\nadd.u64 %d1, %d1, %p0;\nst.global.u32 [%d1], %r2;\n"
        "red.global.add.u32 [%p1], 1;";
    EXPECT_EQ(device.run(kernelText(2, body), {64}, {256}, {out, count}).text, "");
    EXPECT_GT(device.laneSteps, 12000000u);
    EXPECT_EQ(device.take<uint32_t>(count, 1)[0], threads);
    auto got = device.take<uint32_t>(out, threads);
    for (uint32_t i = 0; i < threads; ++i)
      ASSERT_EQ(got[i], i * 200);
    // A word that all blocks write is a race, also on a single thread.
    body += "\nst.global.u32 [%p0], %r2;";
    EXPECT_EQ(device.run(kernelText(2, body), {64}, {256}, {out, count}).fault, Fault::Race);
  }
}

/// Compilers may place the code behind a loop before the loop: the first lanes that leave arrive
/// there alone.
TEST(EmulatedWarp, LanesWaitForThoseThatComeLater) {
  std::string loop = "mov.u32 %r0, 0;\nmov.u32 %r1, 0;\nbra $test;\n$behind:\nEXCHANGE\n"
                     "bra $end;\n$test:\nsetp.ge.u32 %q1, %r1, %r31;\n@%q1 bra $behind;\n"
                     "add.u32 %r1, %r1, 1;\nbra $test;\n$end:\n";
  auto with = [&](const std::string &exchange) {
    return std::string(loop).replace(loop.find("EXCHANGE"), 8, exchange);
  };
  expectLanes(
      with("shfl.sync.bfly.b32 %r0, %r1, 1, 31, -1;\nshfl.sync.bfly.b32 %r0, %r0, 2, 31, -1;"),
      [](uint32_t l) { return l ^ 3; });
  expectLanes(with("setp.gt.u32 %q2, %r1, 3;\nvote.sync.ballot.b32 %r0, %q2, -1;"),
              [](uint32_t) { return 0xfffffff0u; });
  expectLanes(with("bar.sync 0;\nbar.warp.sync -1;\nactivemask.b32 %r0;"),
              [](uint32_t) { return ~0u; });
  // A lane that waits at another barrier, or ends, never arrives.
  FaultReport fault;
  resultsOf(with("setp.lt.u32 %q2, %r31, 16;\n@%q2 bra $low;\nbar.warp.sync -1;\n$low:\n"
                 "shfl.sync.bfly.b32 %r0, %r1, 1, 31, -1;"),
            32, "", &fault);
  EXPECT_EQ(fault.fault, Fault::Divergence) << fault.text;
  resultsOf(with("setp.eq.u32 %q2, %r31, 31;\n@%q2 exit;\nshfl.sync.bfly.b32 %r0, %r1, 1, 31, -1;"),
            32, "", &fault);
  EXPECT_EQ(fault.fault, Fault::Divergence) << fault.text;
}

TEST(EmulatedWarp, NamesLanesThatAreMissing) {
  FaultReport fault;
  std::string half = "setp.lt.u32 %q1, %r31, 16;\nmov.u32 %r0, 0;\n";
  resultsOf(half + "@%q1 shfl.sync.bfly.b32 %r0, %r31, 1, 31, -1;", 32, "", &fault);
  EXPECT_EQ(fault.fault, Fault::Divergence) << fault.text;
  resultsOf(half + "@%q1 shfl.sync.bfly.b32 %r0, %r31, 1, 31, 0xffff;", 32, "", &fault);
  EXPECT_EQ(fault.text, "");
  resultsOf(half + "@%q1 vote.sync.ballot.b32 %r0, %q1, -1;", 32, "", &fault);
  EXPECT_EQ(fault.fault, Fault::Divergence) << fault.text;
  resultsOf(half + "@%q1 bar.sync 0;", 32, "", &fault);
  EXPECT_EQ(fault.fault, Fault::Divergence) << fault.text;
  resultsOf(half + "bar.sync 0;", 32, "", &fault);
  EXPECT_EQ(fault.text, "");
  resultsOf(
      "mov.u32 %r0, %tid;\nsetp.lt.u32 %q1, %tid, 32;\n@%q1 bra $other;\nbar.sync 1;\nbra $end;\n"
      "$other: bar.sync 2, 128;\n$end:",
      64, "", &fault);
  EXPECT_EQ(fault.fault, Fault::Deadlock) << fault.text;
  resultsOf(half + "@%q1 trap;", 32, "", &fault);
  EXPECT_EQ(fault.fault, Fault::Trap) << fault.text;
}

} // namespace
