// reprise: tests of bundles that store common parts of commands once
#include "../../../lib/reprise/Runtime/CommandTable.h"

#include "TestBundle.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <cstring>

using namespace reprise::runtime;
using namespace reprise::runtime::test;

namespace {

/// Makes trainingBundle's step with `rounds` additions before it, each between different places.
Bundle repeatedBundle(uint64_t rounds) {
  Bundle bundle = trainingBundle(8);
  Program &step = bundle.programs[0];
  std::vector<Command> added;
  for (uint64_t i = 0; i < rounds; ++i) {
    added.push_back(
        command(Add, 8, {argument(0, 32), argument(1, 32)}, {arena(64 * (i * 7 % rounds), 32)}));
    added.back().label = "add at a place with a name of some length";
  }
  step.commands.insert(step.commands.begin(), added.begin(), added.end());
  step.arenaBytes = std::max(step.arenaBytes, 64 * (rounds - 1) + 32);
  return bundle;
}

Expected<Bundle> parse(const std::vector<uint8_t> &bytes) {
  return deserializeBundle(bytes.data(), bytes.size(), "m.rpb");
}

TEST(CommandTable, HoldsWhatIsCommonOnce) {
  Bundle bundle = repeatedBundle(100);
  CommandTable table(bundle);
  EXPECT_EQ(table.numbers.size(), table.common.size() + 99);
  // Another size makes another command.
  bundle.programs[0].commands[3].operands[2].buffer.bytes = 28;
  EXPECT_EQ(CommandTable(bundle).common.size(), table.common.size() + 1);
}

TEST(CommandTable, FilesGrowByPlacesOnly) {
  std::vector<uint8_t> few = *serializeBundle(repeatedBundle(100)),
                       many = *serializeBundle(repeatedBundle(200));
  EXPECT_LE(many.size() - few.size(), 100u * 8);
  for (const std::vector<uint8_t> &file : {few, many}) {
    Expected<Bundle> again = parse(file);
    ASSERT_TRUE(bool(again)) << again.message();
    EXPECT_EQ(*serializeBundle(*again), file);
  }
  EXPECT_TRUE(*parse(few) == repeatedBundle(100));
}

TEST(CommandTable, EventsAreNumbersOfTheirOwn) {
  Bundle bundle = twoDeviceBundle(8);
  std::vector<Command> &commands = bundle.programs[0].commands;
  for (uint32_t event = 100; event < 140; ++event) {
    commands.push_back(record(event));
    commands.push_back(waitFor(event));
  }
  std::vector<uint8_t> file = *serializeBundle(bundle);
  Expected<Bundle> again = parse(file);
  ASSERT_TRUE(bool(again)) << again.message();
  EXPECT_TRUE(*again == bundle);
}

TEST(CommandTable, HostileContentNeverCrashes) {
  std::vector<uint8_t> good = *serializeBundle(repeatedBundle(40));
  size_t refused = 0;
  for (size_t i = 8; i < good.size(); ++i)
    for (uint8_t value : {0, 1, 2, 3, 64, 127, 128, 255}) {
      std::vector<uint8_t> bad = good;
      bad[i] = value;
      stampBundle(bad);
      refused += !parse(bad);
    }
  EXPECT_GT(refused, good.size());
  for (size_t size = 64; size < good.size(); ++size) {
    std::vector<uint8_t> bad(good.begin(), good.begin() + std::ptrdiff_t(size));
    stampBundle(bad);
    EXPECT_FALSE(bool(parse(bad))) << size;
  }
}

/// A few bytes per command may not become a long text each.
TEST(CommandTable, SmallFilesStaySmall) {
  std::vector<uint8_t> file = *serializeBundle(repeatedBundle(1100));
  const std::string label = "add at a place with a name of some length", text(1 << 20, 'x');
  auto found = std::search(file.begin(), file.end(), label.begin(), label.end());
  ASSERT_NE(found, file.end());
  uint64_t size = text.size(), manifest = 0;
  std::memcpy(&*found - sizeof size, &size, sizeof size);
  file.insert(file.erase(found, found + std::ptrdiff_t(label.size())), text.begin(), text.end());
  // Position of the size in the header.
  constexpr size_t manifestBytes = 32;
  std::memcpy(&manifest, &file[manifestBytes], sizeof manifest);
  manifest += text.size() - label.size();
  std::memcpy(&file[manifestBytes], &manifest, sizeof manifest);
  stampBundle(file);
  EXPECT_EQ(parse(file).message(), "m.rpb: the bundle is malformed: its manifest cannot be read");
}

} // namespace
