// reprise: tests of the bundle's file: round trip, damage of every kind, hostile manifests
#include "TestBundle.h"
#include "reprise/Runtime/HostFeatures.h"
#include "reprise/Support/Readable.h"

#include "gtest/gtest.h"
#include <functional>

using namespace reprise::runtime;
using namespace reprise::runtime::test;

namespace {

std::vector<uint8_t> bytesOf(const Bundle &bundle) {
  Expected<std::vector<uint8_t>> bytes = serializeBundle(bundle);
  EXPECT_TRUE(bool(bytes)) << bytes.message();
  return *bytes;
}

Expected<Bundle> parse(const std::vector<uint8_t> &bytes) {
  // A copy of the exact size, so that a sanitizer sees a read behind the end.
  std::vector<uint8_t> exact(bytes);
  exact.shrink_to_fit();
  return deserializeBundle(exact.data(), exact.size(), "m.rpb");
}

TEST(Bundle, RoundTrip) {
  Bundle bundle = trainingBundle(8);
  bundle.images[0].features = {"fma", "avx2"};
  bundle.images[0].target = "cpu:x86-64-v3";
  bundle.images.push_back({"cuda:sm_90", {"sm_90"}, {1, 2, 0}});
  bundle.hasBudget = true;
  bundle.budgetBytes = 12345;
  bundle.programs[0].commands.insert(bundle.programs[0].commands.begin(), repeat(2, 1));
  bundle.programs[0].commands[1].operands[0].strides = {-4};
  bundle.programs[0].commands[1].operands[0].buffer = argument(0, 28);
  bundle.programs[0].commands[1].operands[0].buffer.offset = 4;
  bundle.programs[0].commands[1].indexChecks = {{0, DType::I32, 3, 17, "tokens"}};
  bundle.replayChecks = {{"replay 1 of add", DType::F32, arena(0, 32), argument(1, 32)}};
  Expected<Bundle> again = parse(bytesOf(bundle));
  ASSERT_TRUE(bool(again)) << again.message();
  EXPECT_TRUE(*again == bundle);
  EXPECT_EQ(bytesOf(*again), bytesOf(bundle));
}

/// A bundle whose kernel differs on the second of three chips and on later ones.
Bundle bundleOfChips() {
  Bundle bundle = trainingBundle(8);
  bundle.images[0].target = "cuda:sm_80+sm_86+sm_90";
  bundle.images[0].features = {"sm_80", "sm_86", "sm_90"};
  bundle.images[0].bytes.back() = 0;
  for (Kernel &kernel : bundle.kernels)
    kernel.itemThreads = kernel.blockThreads = 32;
  bundle.kernels[0].chips = {{"sm_86", "add_sm_86", 32, 64}};
  return bundle;
}

TEST(Bundle, KernelsThatDifferFromChipToChip) {
  Bundle bundle = bundleOfChips();
  Expected<Bundle> again = parse(bytesOf(bundle));
  ASSERT_TRUE(bool(again)) << again.message();
  EXPECT_TRUE(*again == bundle);
  std::vector<uint8_t> whole = bytesOf(bundle);
  bundle.kernels[0].chips.clear();
  // The list has a count per kernel, and for the chip two texts and two numbers.
  size_t list = 8 * bundle.kernels.size() + (8 + 5) + (8 + 9) + 2 * 4;
  EXPECT_EQ(whole.size(), bytesOf(bundle).size() + list);
  for (size_t i = 64; i < whole.size(); ++i)
    for (uint8_t value : {0x01, 0xff}) {
      std::vector<uint8_t> bad = whole;
      bad[i] = value;
      stampBundle(bad);
      if (Expected<Bundle> read = parse(bad))
        EXPECT_FALSE(bool(validateBundle(*read)));
    }
}

TEST(Bundle, ChipsAreThoseOfTheTargetBehindTheFirst) {
  auto messageFor = [](std::vector<ChipKernel> chips) {
    Bundle bundle = bundleOfChips();
    bundle.kernels[0].chips = std::move(chips);
    return validateBundle(bundle).message();
  };
  const std::string chips = "kernel 'add' has other chips than its target";
  EXPECT_EQ(messageFor({{"sm_86", "a", 32, 32}, {"sm_90", "b", 8, 64}}), "");
  EXPECT_EQ(messageFor({{"sm_80", "a", 32, 32}}), chips);
  EXPECT_EQ(messageFor({{"sm_100", "a", 32, 32}}), chips);
  EXPECT_EQ(messageFor({{"sm_90", "a", 32, 32}, {"sm_86", "b", 32, 32}}), chips);
  EXPECT_EQ(messageFor({{"sm_86", "", 32, 32}}), chips);
  EXPECT_EQ(messageFor({{"sm_86", "a", 32, 48}}),
            "kernel 'add' has other threads than its target allows");
}

TEST(Bundle, RoundTripThroughAFile) {
  TemporaryFolder folder;
  Bundle bundle = trainingBundle(8);
  ASSERT_FALSE(bool(writeBundle(bundle, folder.file("m.rpb"))));
  Expected<Bundle> again = readBundle(folder.file("m.rpb"));
  ASSERT_TRUE(bool(again)) << again.message();
  EXPECT_TRUE(*again == bundle);
  EXPECT_EQ(folder.entries(), std::vector<std::string>{"m.rpb"});
}

TEST(Bundle, EveryChangedBitIsFound) {
  std::vector<uint8_t> good = bytesOf(trainingBundle(4));
  for (size_t i = 0; i < good.size(); ++i)
    for (unsigned bit : {0, 3, 7}) {
      std::vector<uint8_t> bad = good;
      bad[i] ^= 1u << bit;
      EXPECT_FALSE(bool(parse(bad))) << "byte " << i << " bit " << bit;
    }
}

TEST(Bundle, EveryTruncationIsFound) {
  std::vector<uint8_t> good = bytesOf(trainingBundle(4));
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(bool(parse({good.begin(), good.begin() + size}))) << size << " bytes";
  good.push_back(0);
  EXPECT_FALSE(bool(parse(good)));
}

TEST(Bundle, MessagesNameTheFileAndTheFault) {
  std::vector<uint8_t> good = bytesOf(trainingBundle(4)), bad = good;
  EXPECT_EQ(parse({'h', 'i'}).message(), "m.rpb: is not a Reprise bundle");
  bad.resize(bad.size() - 1);
  EXPECT_EQ(parse(bad).message(),
            "m.rpb: the bundle is truncated: " + reprise::groupDigits(int64_t(bad.size())) +
                " of " + reprise::groupDigits(int64_t(good.size())) + " bytes");
  bad = good;
  bad.back() ^= 1;
  EXPECT_EQ(parse(bad).message(), "m.rpb: the bundle was changed: its checksum does not match");
  bad = good;
  ASSERT_EQ(good[8], bundleVersion);
  for (uint8_t other : {0, 4, 10, 12, 255}) {
    bad[8] = other;
    stampBundle(bad);
    EXPECT_EQ(parse(bad).message(), "m.rpb: the bundle has version " + std::to_string(other) +
                                        ", this runtime reads version 11: compile the model again");
  }
  EXPECT_EQ(readBundle("/nowhere/m.rpb").message(),
            "cannot read '/nowhere/m.rpb': No such file or directory");
}

// The checksum is corrected, so that every reader and check behind it sees hostile content.
TEST(Bundle, HostileContentNeverCrashes) {
  std::vector<uint8_t> good = bytesOf(trainingBundle(4));
  unsigned accepted = 0;
  for (size_t i = 0; i < good.size(); ++i)
    for (uint8_t value : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
      std::vector<uint8_t> bad = good;
      bad[i] = value;
      stampBundle(bad);
      Expected<Bundle> bundle = parse(bad);
      if (!bundle)
        continue;
      ++accepted;
      EXPECT_FALSE(bool(validateBundle(*bundle)));
    }
  EXPECT_GT(accepted, 0u); // names and kernel bytes may be anything
}

TEST(Bundle, HostileTruncationsNeverCrash) {
  std::vector<uint8_t> good = bytesOf(trainingBundle(4));
  for (size_t size = 0; size < good.size(); ++size) {
    std::vector<uint8_t> bad(good.begin(), good.begin() + size);
    stampBundle(bad);
    EXPECT_FALSE(bool(parse(bad))) << size << " bytes";
  }
}

struct Defect {
  const char *message;
  std::function<void(Bundle &)> make;
};

TEST(Bundle, DefectsAreNamed) {
  const Defect defects[] = {
      {"the bundle has no program 'step'", [](Bundle &b) { b.programs.clear(); }},
      {"command 0 of program 'step': a buffer of 16 bytes at 64 lies outside its space of 72",
       [](Bundle &b) {
         b.programs[0].arenaBytes = 72;
         b.programs[0].commands[0].operands[2].buffer.offset = 64;
       }},
      {"command 1 of program 'step': there is no buffer 9",
       [](Bundle &b) { b.programs[0].commands[1].operands[1].buffer.index = 9; }},
      {"command 0 of program 'step': there is no kernel 77",
       [](Bundle &b) { b.programs[0].commands[0].kernel = 77; }},
      {"command 0 of program 'step': a constant is written",
       [](Bundle &b) {
         b.programs[0].commands[0].operands[2].buffer = {Space::Constant, 0, 0, 4};
       }},
      {"command 0 of program 'step': the number of items is out of range",
       [](Bundle &b) { b.programs[0].commands[0].items = -1; }},
      {"command 0 of program 'step': an index check reads past the end of its operand",
       [](Bundle &b) { b.programs[0].commands[0].indexChecks = {{0, DType::I64, 3, 8, "x"}}; }},
      {"command 0 of program 'step': a body without a repeat",
       [](Bundle &b) { b.programs[0].commands[0].body = 1; }},
      {"the bundle has no image", [](Bundle &b) { b.images.clear(); }},
      {"two images have the name 'cpu'", [](Bundle &b) { b.images.push_back(b.images[0]); }},
      {"kernel 'add' belongs to no image", [](Bundle &b) { b.kernels[0].image = 1; }},
      {"kernel 'add' lies outside the image",
       [](Bundle &b) { b.kernels[0].imageOffset = b.images[0].bytes.size(); }},
      {"kernel 'add' needs more workspace than the bundle has",
       [](Bundle &b) { b.kernels[0].workspaceBytes = 65; }},
      {"kernel 'add' has other threads than its target allows",
       [](Bundle &b) { b.kernels[0].blockThreads = 256; }},
      {"kernel 'add' has other threads than its target allows",
       [](Bundle &b) { b.images[0].target = "cuda:sm_90"; }},
      {"kernel 'add' has other threads than its target allows",
       [](Bundle &b) {
         b.images[0].target = "cuda:sm_90";
         b.kernels[0].itemThreads = 32;
         b.kernels[0].blockThreads = 48;
       }},
      {"the text of the last kernel has no terminator",
       [](Bundle &b) {
         b.images[0].target = "cuda:sm_90";
         for (Kernel &kernel : b.kernels)
           kernel.itemThreads = kernel.blockThreads = 32;
         b.images[0].bytes.back() = 1;
       }},
      {"argument 'w' has other bytes than its type", [](Bundle &b) { b.arguments[0].bytes = 15; }},
      {"argument 'w' has other bytes than its type",
       [](Bundle &b) { b.arguments[0].shape = {int64_t(1) << 40, int64_t(1) << 40}; }},
      {"argument 'seed' is not an i64 scalar", [](Bundle &b) { b.arguments[2].shape = {1}; }},
      {"two arguments have the name 'w'", [](Bundle &b) { b.arguments[1].name = "w"; }},
      {"result 'loss' has other bytes than its type", [](Bundle &b) { b.results[0].shape = {2}; }},
      {"result 'w' differs from the argument that it replaces",
       [](Bundle &b) { b.results[1].argument = 1; }},
      {"result 'offset' is not where its argument lies",
       [](Bundle &b) { b.results[3].buffer = arena(0, 8); }},
      {"result 'loss': a buffer is not aligned", [](Bundle &b) { b.results[0].buffer.offset = 4; }},
      {"comparison of 'sum': a buffer of 16 bytes at 128 lies outside its space of 136",
       [](Bundle &b) { b.replayChecks = {{"sum", DType::F32, arena(0, 16), arena(128, 16)}}; }},
      {"thread count 0 is out of range", [](Bundle &b) { b.threads = 0; }},
      {"a step takes 264 bytes, more than the budget of 263",
       [](Bundle &b) {
         b.hasBudget = true;
         b.budgetBytes = 263;
       }},
  };
  ASSERT_FALSE(bool(validateBundle(trainingBundle(4))));
  for (const Defect &defect : defects) {
    Bundle bundle = trainingBundle(4);
    defect.make(bundle);
    Error error = validateBundle(bundle);
    ASSERT_TRUE(bool(error)) << defect.message;
    EXPECT_EQ(error.message(), defect.message);
    EXPECT_FALSE(bool(serializeBundle(bundle)));
  }
}

Operand moving(BufferRef buffer, std::vector<int64_t> strides, Access access = Read) {
  return {buffer, access, std::move(strides)};
}

/// Makes a bundle with four iterations of sum[i] = w + x over rows of four bytes.
Bundle repeating() {
  Bundle bundle = trainingBundle(4);
  Command add = command(Add, 1, {}, {});
  add.operands = {moving(argument(0, 4), {4}), moving(argument(1, 4), {4}),
                  moving(arena(12, 4), {-4}, Write)};
  bundle.programs[0].commands = {repeat(4, 1), add};
  return bundle;
}

TEST(Bundle, DefectsOfRepeatsAndCopiesAreNamed) {
  const Defect defects[] = {
      {"command 0 of program 'step': the number of iterations is out of range",
       [](Bundle &b) { b.programs[0].commands[0].items = 0; }},
      {"command 0 of program 'step': a repeat of 2 commands, but only 1 follow",
       [](Bundle &b) { b.programs[0].commands[0].body = 2; }},
      {"command 0 of program 'step': a repeat of 0 commands, but only 1 follow",
       [](Bundle &b) { b.programs[0].commands[0].body = 0; }},
      {"command 1 of program 'step': a repeat of 1 commands, but only 0 follow",
       [](Bundle &b) {
         std::vector<Command> &commands = b.programs[0].commands;
         commands = {repeat(2, 1), repeat(2, 1), commands[1]};
       }},
      {"command 0 of program 'step': a repeat has operands",
       [](Bundle &b) { b.programs[0].commands[0].operands = {moving(arena(0, 4), {})}; }},
      {"command 1 of program 'step': the repeats run too often",
       [](Bundle &b) {
         std::vector<Command> &commands = b.programs[0].commands;
         commands = {repeat(1 << 20, 2), repeat(1 << 20, 1), commands[1]};
       }},
      {"program 'step' runs too many commands",
       [](Bundle &b) {
         Program &step = b.programs[0];
         step.commands[0].items = 1 << 24;
         step.commands[1].operands.clear();
         step.commands.push_back(step.commands[1]);
       }},
      {"command 1 of program 'step': an operand moves with a repeat that is not around it",
       [](Bundle &b) { b.programs[0].commands[1].operands[0].strides = {4, 4}; }},
      {"command 1 of program 'step': a buffer of 4 bytes at 24 lies outside its space of 16",
       [](Bundle &b) { b.programs[0].commands[1].operands[0].strides = {8}; }},
      {"command 1 of program 'step': a buffer of 4 bytes at 18446744073709551604 lies outside its "
       "space of 136",
       [](Bundle &b) { b.programs[0].commands[1].operands[2].strides = {-8}; }},
      {"command 1 of program 'step': an operand moves out of range",
       [](Bundle &b) { b.programs[0].commands[1].operands[2].strides = {INT64_MIN}; }},
      {"command 0 of program 'step': a copy is from one buffer to another of its size",
       [](Bundle &b) { b.programs[0].commands = {copy(arena(0, 16), arena(64, 4))}; }},
      {"command 0 of program 'step': a copy between buffers that overlap",
       [](Bundle &b) { b.programs[0].commands = {copy(arena(0, 16), arena(8, 16))}; }},
      {"command 1 of program 'step': a copy between buffers that overlap",
       [](Bundle &b) {
         Command rows = copy(arena(0, 4), arena(8, 4));
         rows.operands[0].strides = rows.operands[1].strides = {4};
         b.programs[0].commands = {repeat(4, 1), rows};
       }},
      {"command 0 of program 'step': a constant is written",
       [](Bundle &b) { b.programs[0].commands = {copy(arena(0, 4), {Space::Constant, 0, 0, 4})}; }},
  };
  ASSERT_FALSE(bool(validateBundle(repeating())));
  for (const Defect &defect : defects) {
    Bundle bundle = repeating();
    defect.make(bundle);
    Error error = validateBundle(bundle);
    ASSERT_TRUE(bool(error)) << defect.message;
    EXPECT_EQ(error.message(), defect.message);
  }
}

TEST(Bundle, RepeatsNest) {
  Program program{
      "step", {repeat(2, 4), copy({}, {}), repeat(3, 1), copy({}, {}), copy({}, {})}, 0};
  program.commands.push_back(copy({}, {}));
  std::vector<std::string> seen;
  forEachExecution(program, [&](uint32_t number, const std::vector<int64_t> &iterations) {
    std::string text = std::to_string(number);
    for (int64_t iteration : iterations)
      text += "." + std::to_string(iteration);
    seen.push_back(text);
  });
  EXPECT_EQ(seen, (std::vector<std::string>{"1.0", "3.0.0", "3.0.1", "3.0.2", "4.0", "1.1", "3.1.0",
                                            "3.1.1", "3.1.2", "4.1", "5"}));
  EXPECT_EQ(program.executions(), seen.size());
}

TEST(Bundle, FailedWriteLeavesNothing) {
  TemporaryFolder folder;
  Bundle bundle = trainingBundle(4);
  bundle.threads = 0;
  EXPECT_TRUE(bool(writeBundle(bundle, folder.file("m.rpb"))));
  EXPECT_TRUE(folder.entries().empty());
  EXPECT_EQ(writeBundle(trainingBundle(4), folder.file("none/m.rpb")).message(),
            "cannot write '" + folder.file("none/m.rpb") + "': No such file or directory");
}

TEST(HostFeatures, KnowsThisMachine) {
  EXPECT_TRUE(hostHasFeature("sse4.2"));
  EXPECT_FALSE(hostHasFeature("warp-drive"));
  for (const std::string &name : hostFeatures())
    EXPECT_TRUE(hostHasFeature(name));
  // The compiler has its own tests of the same processor.
  EXPECT_EQ(hostHasFeature("avx2"), bool(__builtin_cpu_supports("avx2")));
  EXPECT_EQ(hostHasFeature("fma"), bool(__builtin_cpu_supports("fma")));
  EXPECT_EQ(hostHasFeature("avx512f"), bool(__builtin_cpu_supports("avx512f")));
  EXPECT_EQ(hostHasFeature("avx512vnni"), bool(__builtin_cpu_supports("avx512vnni")));
  EXPECT_EQ(hostHasFeature("avx512bf16"), bool(__builtin_cpu_supports("avx512bf16")));
  EXPECT_EQ(hostHasFeature("gfni"), bool(__builtin_cpu_supports("gfni")));
  EXPECT_EQ(hostHasFeature("x86-64-v3"), bool(__builtin_cpu_supports("x86-64-v3")));
  EXPECT_EQ(hostHasFeature("x86-64-v4"), bool(__builtin_cpu_supports("x86-64-v4")));
  EXPECT_EQ(missingFeatures({"sse3", "warp-drive", "sse4.1"}),
            std::vector<std::string>{"warp-drive"});
}

} // namespace
