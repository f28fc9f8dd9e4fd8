// reprise: Philox against the known answers of Random123 and of cuRAND.
#include "common/Philox.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

using namespace reprise;

namespace {

std::string dataPath(const char *name) { return std::string(REPRISE_TEST_DATA "/philox/") + name; }

/// Words 0 to 3 of a block are known for the zero counter and key; this one is checked by the
/// compiler itself.
static_assert(philoxWord(0, 0, 0, 0) == 0x6627e8d5u && philoxWord(0, 0, 0, 3) == 0x9b00dbd8u,
              "Philox of zero is known");

/// Checks every line `philox4x32 10 counter[4] key[2] words[4]` of a Random123 file; returns the
/// number of lines.
int checkKnownAnswers(const char *name) {
  std::ifstream file(dataPath(name));
  EXPECT_TRUE(file.good()) << name;
  int count = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#')
      continue;
    std::istringstream fields(line);
    std::string generator;
    int rounds = 0;
    uint32_t value[10] = {};
    fields >> generator >> rounds >> std::hex;
    for (uint32_t &word : value)
      fields >> word;
    EXPECT_FALSE(fields.fail()) << line;
    EXPECT_EQ(rounds, philoxRounds);
    PhiloxBlock drawn = philoxBlock(PhiloxBlock{{value[0], value[1], value[2], value[3]}},
                                    value[4] | static_cast<uint64_t>(value[5]) << 32);
    for (int i = 0; i < 4; ++i)
      EXPECT_EQ(drawn.words[i], value[6 + i]) << line;
    ++count;
  }
  return count;
}

/// The rows of a CSV file below its heading, split at the commas.
std::vector<std::vector<std::string>> readRows(const char *name) {
  std::ifstream file(dataPath(name));
  std::string line;
  EXPECT_TRUE(std::getline(file, line)) << name;
  std::vector<std::vector<std::string>> rows;
  while (std::getline(file, line)) {
    std::istringstream cells(line);
    rows.emplace_back();
    for (std::string cell; std::getline(cells, cell, ',');)
      rows.back().push_back(cell);
  }
  return rows;
}

uint64_t decimal(const std::string &text) { return std::stoull(text, nullptr, 10); }
uint32_t hexadecimal(const std::string &text) {
  return static_cast<uint32_t>(std::stoul(text, nullptr, 16));
}

TEST(Philox, MatchesRandom123) {
  EXPECT_EQ(checkKnownAnswers("kat_philox4x32_10.txt"), 3);
  EXPECT_EQ(checkKnownAnswers("old_kat_philox4x32_10.txt"), 52);
}

TEST(Philox, DrawsWhatCurandsDeviceFunctionsDraw) {
  auto rows = readRows("curand_reference.csv");
  ASSERT_EQ(rows.size(), 160u);
  for (const auto &row : rows) {
    ASSERT_GE(row.size(), 12u);
    uint64_t seed = decimal(row[0]), stream = decimal(row[1]), offset = decimal(row[2]);
    EXPECT_EQ(philoxWord(seed, stream, offset, decimal(row[3])), hexadecimal(row[11]))
        << "seed " << seed << ", subsequence " << stream << ", offset " << offset;
  }
}

TEST(Philox, DrawsWhatCurandsHostGeneratorDraws) {
  // The host generator deals blocks to 65,536 subsequences in turn.
  auto rows = readRows("curand_hostapi_reference.csv");
  ASSERT_EQ(rows.size(), 72u);
  for (const auto &row : rows) {
    ASSERT_GE(row.size(), 4u);
    uint64_t element = decimal(row[1]) + decimal(row[2]);
    uint64_t subsequence = (element / 4) % 65536, block = (element / 4) / 65536;
    EXPECT_EQ(philoxWord(decimal(row[0]), subsequence, 4 * block, element % 4), hexadecimal(row[3]))
        << "element " << element;
  }
}

TEST(Philox, AWordDependsOnItsPositionAlone) {
  // Sliced, shifted and shuffled readers get the words of a sequential reader.
  const uint64_t seed = 0x123456789abcdef0u, stream = 42, offset = (uint64_t(1) << 34) - 8;
  std::vector<uint32_t> sequential;
  for (uint64_t block = 0; block < 64; ++block)
    for (uint32_t word : philoxStreamBlock(seed, stream, offset / 4 + block).words)
      sequential.push_back(word);
  std::vector<uint64_t> order(sequential.size());
  for (uint64_t i = 0; i < order.size(); ++i)
    order[i] = i;
  std::shuffle(order.begin(), order.end(), std::mt19937(1));
  for (uint64_t i : order) {
    EXPECT_EQ(philoxWord(seed, stream, offset, i), sequential[i]);
    uint64_t moved = std::min<uint64_t>(i, 4);
    EXPECT_EQ(philoxWord(seed, stream, offset + moved, i - moved), sequential[i]);
  }
}

TEST(Philox, EveryPartOfTheStateMatters) {
  const uint32_t word = philoxWord(7, 1, 0, 0);
  for (int bit = 0; bit < 64; ++bit) {
    uint64_t flip = uint64_t(1) << bit;
    EXPECT_NE(philoxWord(7 ^ flip, 1, 0, 0), word) << "seed bit " << bit;
    EXPECT_NE(philoxWord(7, 1 ^ flip, 0, 0), word) << "stream bit " << bit;
    EXPECT_NE(philoxWord(7, 1, flip, 0), word) << "offset bit " << bit;
    EXPECT_EQ(philoxWord(7, 1, flip, 4), philoxWord(7, 1, 4, flip)) << "index bit " << bit;
  }
}

} // namespace
