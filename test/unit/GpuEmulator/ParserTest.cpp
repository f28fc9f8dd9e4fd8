// reprise: programs that the emulator's parser and decoder refuse, and their messages
#include "TestKernel.h"
#include "gtest/gtest.h"

using namespace reprise::emulator;

namespace {

std::string errorOf(const std::string &body, const std::string &outside = "") {
  TestDevice device;
  return device.run(kernelText(0, body, outside), {1}, {32}, {}).text;
}

TEST(EmulatedPtx, NamesWhatItDoesNotKnow) {
  EXPECT_EQ(errorOf("ex2.approx.f32 %f0, %f1;"),
            "kernel k: line 19: unknown instruction 'ex2.approx.f32'");
  EXPECT_EQ(errorOf("\n\nwgmma.fence.sync.aligned;"),
            "kernel k: line 21: unknown instruction 'wgmma.fence.sync.aligned'");
  EXPECT_EQ(errorOf("add.ftz.f32 %f0, %f1, %f2;"),
            "kernel k: line 19: unknown instruction 'add.ftz.f32'");
  EXPECT_EQ(errorOf("div.full.f32 %f0, %f1, %f2;"),
            "kernel k: line 19: unknown instruction 'div.full.f32'");
  EXPECT_EQ(errorOf("sqrt.approx.f32 %f0, %f1;"),
            "kernel k: line 19: unknown instruction 'sqrt.approx.f32'");
  EXPECT_EQ(errorOf("mov.u32 %r0, %clock;"),
            "kernel k: line 19: unknown special register '%clock'");
}

TEST(EmulatedPtx, ChecksOperands) {
  EXPECT_EQ(errorOf("add.u32 %r0, %r1, %d2;"),
            "kernel k: line 19: register '%d2' is not of 32 bits");
  EXPECT_EQ(errorOf("add.u32 %r0, %r1;"), "kernel k: line 19: 'add.u32' with too few operands");
  EXPECT_EQ(errorOf("bra $nowhere;"), "kernel k: line 19: no label '$nowhere'");
  EXPECT_EQ(errorOf("ld.global.u32 %r0, [%r1];"),
            "kernel k: line 19: an address that is not of 64 bits");
  EXPECT_EQ(errorOf("ld.shared.u32 %r0, [unknown];"),
            "kernel k: line 19: unknown symbol 'unknown'");
  EXPECT_EQ(errorOf("@%r1 bra $L;"), "line 19: '%r1' is no predicate");
  EXPECT_EQ(errorOf("call foo;"), "kernel k: line 19: no function 'foo'");
}

TEST(EmulatedPtx, RefusesTextThatIsNoPtx) {
  Module module;
  std::string error;
  EXPECT_FALSE(parsePtx("hello", module, error));
  EXPECT_EQ(error, "line 1: expected a directive and not 'hello'");
  EXPECT_FALSE(parsePtx("", module, error));
  EXPECT_EQ(error, "line 1: no .version; this is not PTX");
  EXPECT_FALSE(parsePtx(".version 7.8\n\x01", module, error));
  EXPECT_EQ(error.substr(0, 7), "line 2:");
  EXPECT_EQ(errorOf("add.u32 %r0, %r1, %r2"), "line 20: expected ';' and not 'ret'");
  EXPECT_EQ(errorOf("", ".weird .u32 x;"), "line 4: unknown directive .weird");
  EXPECT_EQ(errorOf("mov.u32 %r0, 0xzz;"), "line 19: '0' begins no word of PTX");
}

TEST(EmulatedPtx, ParsesWhatCompilersWrite) {
  Module module;
  std::string error;
  ASSERT_TRUE(parsePtx(R"(// made by hand
.version 8.3
.target sm_90, debug
.address_size 64
.file 1 "a.cu"
.global .align 4 .b8 table[8] = {1, 2, 3, 4, 255};
.extern .shared .align 16 .b8 dynamic[];
.visible .entry f(.param .align 8 .b8 f_param_0[24], .param .u32 f_param_1)
.maxntid 128, 1, 1
.minnctapersm 2
{ .reg .b32 %r<3>; .loc 1 2 3
  { .reg .b32 %r1; mov.b32 %r1, 5; }
  mov.u32 %r1, %tid.x; /* two
  lines */ $L: @!%r2 bra $L; ret; })",
                       module, error) == false);
  EXPECT_EQ(error, "line 14: '%r2' is no predicate");
}

TEST(EmulatedPtx, KeepsNamesOfInnerScopesApart) {
  TestDevice device;
  uint64_t out = device.reserve(4);
  FaultReport report =
      device.run(kernelText(1, "{ .reg .b32 %r1; mov.b32 %r1, 5; }\nmov.u32 %r1, 7;\n"
                               "{ .reg .b32 %r1; mov.b32 %r1, 9; }\nst.global.u32 [%p0], %r1;"),
                 {1}, {1}, {out});
  EXPECT_EQ(report.text, "");
  EXPECT_EQ(device.take<uint32_t>(out, 1)[0], 7u);
}

} // namespace
