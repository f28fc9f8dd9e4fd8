// reprise: every memory fault that the emulator promises to find, and the same program without the
// fault
#include "TestKernel.h"
#include "gtest/gtest.h"

using namespace reprise::emulator;

namespace {

const char *sharedArray = ".shared .align 16 .b8 s[1024];";
const Order orders[] = {Order::Forwards, Order::Backwards, Order::Shuffled};

/// Runs at least 64 threads. %d10 is the address of the thread's word in the first buffer, which is
/// written; %d11 is the address in the second buffer, which is only read; %r10 is the place of the
/// thread's word in s.
FaultReport run(const std::string &body, Order order = Order::Forwards, uint32_t blocks = 1,
                uint32_t words = 256) {
  TestDevice device;
  device.order = order;
  std::vector<uint32_t> values(words);
  for (uint32_t i = 0; i < words; ++i)
    values[i] = i;
  std::vector<uint64_t> params = {device.give(values), device.reserve(words * 4)};
  std::string start =
      "mul.wide.u32 %d30, %tid, 4;\nadd.u64 %d10, %p0, %d30;\nadd.u64 %d11, %p1, %d30;\n"
      "mov.u32 %r11, %tid.x;\nmov.u32 %r10, s;\nmad.lo.u32 %r10, %r11, 4, %r10;\n";
  return device.run(kernelText(2, start + body, sharedArray), {blocks}, {64}, params);
}

void expectFault(const std::string &body, Fault fault, uint32_t blocks = 1) {
  for (Order order : orders) {
    FaultReport report = run(body, order, blocks);
    EXPECT_EQ(report.fault, fault) << body << "\n" << report.text;
  }
}

TEST(EmulatedMemory, AccessesBeyondAnAllocation) {
  expectFault("ld.global.u32 %r1, [%d10+768];", Fault::None);
  expectFault("ld.global.u32 %r1, [%d10+772];", Fault::OutOfBounds);
  expectFault("st.global.u32 [%d10+-4], %r11;", Fault::OutOfBounds);
  expectFault("mov.u64 %d1, 64;\nld.global.u32 %r1, [%d1];", Fault::OutOfBounds);
  expectFault("st.shared.u32 [%r10+768], %r11;", Fault::None);
  expectFault("st.shared.u32 [%r10+772], %r11;", Fault::OutOfBounds);
  FaultReport report = run("st.global.u32 [%d10+772], %r11;");
  EXPECT_NE(
      report.text.find("kernel k: line 27: out-of-bounds access: a write of 4 bytes of global "
                       "memory, address 0x"),
      std::string::npos)
      << report.text;
  EXPECT_NE(report.text.find("byte 1024 of an allocation of 1024 (block 0, 0, 0, thread 63, 0, 0)"),
            std::string::npos)
      << report.text;
}

TEST(EmulatedMemory, MisalignedAccesses) {
  expectFault("and.b64 %d1, %d10, -16;\nld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%d1];",
              Fault::None);
  expectFault("ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%d10];", Fault::Misaligned);
  expectFault(
      "and.b64 %d1, %d10, -32;\nld.global.v8.u32 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%d1];\n"
      "and.b32 %r9, %r11, -8;\nadd.u32 %r9, %r9, 6;\nsetp.ne.u32 %q1, %r7, %r9;\n@%q1 trap;\n"
      "st.global.v4.b64 [%d1], {%d2, %d3, %d4, %d5};",
      Fault::None);
  expectFault(
      "mov.u32 %r20, s;\nmad.lo.u32 %r20, %r11, 8, %r20;\nst.shared.v2.u32 [%r20], {%r11, %tid};\n"
      "ld.shared.b64 %d1, [%r20];\nmov.b64 {%r1, %r2}, %d1;\nsetp.ne.u32 %q1, %r2, %r11;\n@%q1 "
      "trap;",
      Fault::None);
  expectFault("ld.global.u32 %r1, [%d10+2];", Fault::Misaligned);
  expectFault("st.shared.u32 [%r10+1], %r11;", Fault::Misaligned);
}

TEST(EmulatedMemory, ReadsOfWhatNobodyWrote) {
  expectFault("ld.global.u32 %r1, [%d11];", Fault::NeverWritten);
  expectFault("st.global.u32 [%d11], %r11;\nld.global.u32 %r1, [%d11];", Fault::None);
  expectFault("st.global.u8 [%d11], %r11;\nld.global.u16 %h1, [%d11];", Fault::NeverWritten);
  expectFault("ld.shared.u32 %r1, [%r10];", Fault::NeverWritten);
  expectFault("st.shared.u32 [%r10], %r11;\nld.shared.u32 %r1, [%r10];", Fault::None);
}

TEST(EmulatedMemory, ConstantReadsOfWhatIsWritten) {
  expectFault("ld.global.nc.u32 %r1, [%d10];\nst.global.u32 [%d11], %r1;", Fault::None);
  expectFault("ld.global.nc.u32 %r1, [%d10];\nst.global.u32 [%d10+512], %r1;", Fault::None);
  expectFault("ld.global.nc.u32 %r1, [%d10];\nst.global.u32 [%d10], %r1;", Fault::ConstantWritten);
  expectFault("st.global.u32 [%d10], %r11;\nld.global.nc.u32 %r1, [%d10];", Fault::ConstantWritten);
}

TEST(EmulatedMemory, RacesInSharedMemory) {
  // Each thread reads the word of a thread in the other warp.
  std::string write = "st.shared.u32 [%r10], %r11;\n", other = "xor.b32 %r12, %r10, 128;\n",
              read = "ld.shared.u32 %r1, [%r12];\n", barrier = "bar.sync 0;\n";
  expectFault(write + other + barrier + read, Fault::None);
  for (Order order : orders) {
    Fault fault = run(write + other + read, order).fault;
    EXPECT_TRUE(fault == Fault::Race || fault == Fault::NeverWritten);
  }
  expectFault(write + other + barrier + read + write, Fault::Race);
  expectFault(write + other + barrier + read + barrier + write, Fault::None);
  expectFault("st.shared.u32 [s], %r11;", Fault::Race);
  expectFault("setp.lt.u32 %q1, %r11, 32;\n@%q1 st.shared.u32 [s], %r11;", Fault::None);
  // Halves of a word are places of their own.
  expectFault(
      "shl.b32 %r1, %r11, 1;\ncvt.u16.u32 %h1, %r1;\nmov.u32 %r2, s;\nadd.u32 %r2, %r2, %r1;\n"
      "add.u32 %r2, %r2, -62;\nsetp.ge.u32 %q1, %r11, 31;\n@%q1 st.shared.u16 [%r2], %h1;",
      Fault::None);
}

TEST(EmulatedMemory, RacesInGlobalMemory) {
  expectFault("st.global.u32 [%d11], %r11;", Fault::None, 3);
  expectFault("st.global.u32 [%p1], %r11;", Fault::Race, 1);
  expectFault("setp.eq.u32 %q1, %r11, 0;\n@%q1 st.global.u32 [%p1], %r11;", Fault::Race, 2);
  expectFault("setp.eq.u32 %q1, %r11, 0;\n@%q1 st.global.u32 [%p1], %r11;", Fault::None, 1);
  std::string exchange = "st.global.u32 [%d11], %r11;\nxor.b64 %d12, %d11, 128;\n";
  expectFault(exchange + "bar.sync 0;\nld.global.u32 %r1, [%d12];", Fault::None, 3);
  expectFault(
      "ld.global.u32 %r1, [%p0];\nsetp.eq.u32 %q1, %tid, 0;\n@%q1 st.global.u32 [%p0], %r1;",
      Fault::Race, 2);
  expectFault("ld.global.u32 %r1, [%d10];\nst.global.u32 [%d10], %r1;", Fault::None, 2);
  expectFault("atom.global.add.u32 %r1, [%p0], 1;", Fault::None, 2);
  expectFault("atom.global.add.u32 %r1, [%p0], 1;\nst.global.u32 [%p0], %r1;", Fault::Race, 2);
}

TEST(EmulatedMemory, BlocksMayShareWords) {
  // Blocks 2i and 2i + 1 write every other 16-bit value of a region, on several threads of the
  // host; then all words are read.
  TestDevice device;
  uint32_t words = 32 * 256 * 100;
  uint64_t out = device.reserve(words * 4);
  std::string body =
      "shr.u32 %r1, %ctid, 1;\nmul.lo.u32 %r1, %r1, 25600;\nmov.u32 %r2, %tid.x;\n"
      "add.u32 %r1, %r1, %r2;\nand.b32 %r3, %ctid, 1;\nmul.wide.u32 %d1, %r1, 4;\n"
      "mul.wide.u32 %d2, %r3, 2;\nadd.u64 %d1, %d1, %d2;\nadd.u64 %d1, %d1, %p0;\n"
      "mov.u32 %r4, 0;\n$loop:\ncvt.u16.u32 %h1, %r3;\nst.global.u16 [%d1], %h1;\n"
      "add.u64 %d1, %d1, 1024;\nadd.u32 %r4, %r4, 1;\nsetp.lt.u32 %q1, %r4, 100;\n@%q1 bra $loop;";
  EXPECT_EQ(device.run(kernelText(1, body), {64}, {256}, {out}).text, "");
  std::string read =
      "mul.wide.u32 %d1, %tid, 4;\nadd.u64 %d1, %d1, %p0;\nld.global.u32 %r1, [%d1];\n"
      "setp.ne.u32 %q1, %r1, 0x10000;\n@%q1 trap;";
  EXPECT_EQ(device.run(kernelText(1, read), {words / 256}, {256}, {out}).text, "");
}

TEST(EmulatedMemory, CopiesArriveWhenTheyAreWaitedFor) {
  std::string copy = "and.b32 %r1, %r11, 3;\nsetp.eq.u32 %q1, %r1, 0;\n"
                     "@%q1 cp.async.cg.shared.global [%r10], [%d10], 16;\ncp.async.commit_group;\n";
  std::string check = "ld.shared.u32 %r2, [%r10];\nsetp.ne.u32 %q2, %r2, %r11;\n@%q2 trap;";
  std::string barrier = "bar.sync 0;\n";
  expectFault(copy + "cp.async.wait_group 0;\n" + barrier + check, Fault::None);
  expectFault(copy + "cp.async.wait_all;\n" + barrier + check, Fault::None);
  expectFault(copy + barrier + check, Fault::NotArrived);
  expectFault(copy + "cp.async.wait_group 1;\n" + barrier + check, Fault::NotArrived);
  expectFault(copy + "cp.async.commit_group;\ncp.async.wait_group 1;\n" + barrier + check,
              Fault::None);
  // If the barrier is missing, another warp may not see the copy.
  FaultReport report =
      run(copy + "cp.async.wait_all;\nxor.b32 %r12, %r10, 128;\nld.shared.u32 %r2, [%r12];");
  EXPECT_NE(report.fault, Fault::None);
  // Bytes beyond the source are zero.
  expectFault(
      "setp.eq.u32 %q1, %r11, 0;\n@%q1 cp.async.ca.shared.global [%r10], [%d10+8], 8, 4;\n"
      "cp.async.wait_all;\n@%q1 ld.shared.v2.u32 {%r1, %r2}, [%r10];\n@!%q1 mov.u32 %r1, 2;\n"
      "@!%q1 mov.u32 %r2, 0;\nsetp.ne.u32 %q2, %r1, 2;\nsetp.ne.or.u32 %q2, %r2, 0, %q2;\n@%q2 "
      "trap;",
      Fault::None);
}

TEST(EmulatedMemory, SpacesAndVectors) {
  TestDevice device;
  uint64_t out = device.reserve(64 * 8);
  // Through local and dynamic shared memory, by generic addresses.
  std::string body =
      ".local .align 8 .b8 own[16];\nmov.u64 %d1, own;\ncvta.local.u64 %d2, %d1;\n"
      "cvt.u64.u32 %d5, %tid;\nst.u64 [%d2+8], %d5;\nld.local.v2.u32 {%r1, %r2}, [own+8];\n"
      "mov.u64 %d3, dynamic;\ncvta.shared.u64 %d4, %d3;\nmul.wide.u32 %d6, %tid, 2;\n"
      "add.u64 %d4, %d4, %d6;\nst.u16 [%d4], %r1;\nbar.sync 0;\ncvta.to.shared.u64 %d7, %d4;\n"
      "ld.shared.u16 %r3, [%d7];\nld.global.s8 %r4, [table+1];\nmul.wide.u32 %d8, %tid, 8;\n"
      "add.u64 %d8, %d8, %p0;\nst.global.v2.b32 [%d8], {%r3, %r4};";
  std::string outside =
      ".global .align 4 .b8 table[4] = {1, 255};\n.extern .shared .align 16 .b8 dynamic[];";
  EXPECT_EQ(device.run(kernelText(1, body, outside), {1}, {64}, {out}, 128).text, "");
  auto got = device.take<uint32_t>(out, 128);
  for (uint32_t i = 0; i < 64; ++i) {
    EXPECT_EQ(got[2 * i], i);
    EXPECT_EQ(got[2 * i + 1], ~0u);
  }
  EXPECT_EQ(device.run(kernelText(1, body, outside), {1}, {64}, {out}, 126).fault,
            Fault::OutOfBounds);
}

TEST(EmulatedMemory, AtomicOperations) {
  TestDevice device;
  std::vector<uint32_t> start = {0, 100, 0, 0, ~0u, 0x3f800000, 5};
  uint64_t words = device.give(start);
  EXPECT_EQ(
      device
          .run(kernelText(
                   1,
                   "red.global.add.u32 [%p0], 1;\natom.global.min.u32 %r1, [%p0+4], %tid;\n"
                   "atom.global.max.s32 %r1, [%p0+8], %tid;\natom.global.or.b32 %r1, [%p0+12], 6;\n"
                   "atom.global.and.b32 %r1, [%p0+16], 12;\nred.global.add.f32 [%p0+20], "
                   "0f3F800000;\n"
                   "atom.global.cas.b32 %r1, [%p0+24], 5, 77;"),
               {40}, {64}, {words})
          .text,
      "");
  std::vector<uint32_t> expected = {2560, 0, 2559, 6, 12, 0, 77};
  float sum = 2561;
  std::memcpy(&expected[5], &sum, 4);
  EXPECT_EQ(device.take<uint32_t>(words, 7), expected);
}

} // namespace
