// reprise: tests of readable bytes and messages
#include "reprise/Support/Readable.h"

#include "gtest/gtest.h"

using namespace reprise;

TEST(Readable, Bytes) {
  EXPECT_EQ(groupDigits(0), "0");
  EXPECT_EQ(groupDigits(-1234567), "-1,234,567");
  EXPECT_EQ(groupDigits(129284176), "129,284,176");
  EXPECT_EQ(showBytes(1023), "1023 B");
  EXPECT_EQ(showBytes(11844), "11.6 KiB");
  EXPECT_EQ(showBytes(129284176), "123.3 MiB");
  EXPECT_EQ(showBytes(int64_t(3) << 40), "3.0 TiB");
  EXPECT_EQ(showBytesExactly(512), "512 bytes");
  EXPECT_EQ(showBytesExactly(129284176), "123.3 MiB (129,284,176 bytes)");
}

TEST(Readable, LongTextsLoseTheirMiddle) {
  std::string name(200000, 'n');
  std::string shown = shortenMessage("unknown entry '" + name + "', expected 'train'");
  EXPECT_EQ(shown.find("unknown entry 'nnn"), 0u);
  EXPECT_NE(shown.find("bytes …]nnn"), std::string::npos);
  EXPECT_NE(shown.find("n', expected 'train'"), std::string::npos);
  EXPECT_LT(shown.size(), 600u);
  std::string list;
  for (int i = 0; i < 100000; ++i)
    list += "'ä" + std::to_string(i) + "', ";
  shown = shortenMessage(list);
  EXPECT_LE(shown.size(), 4000u);
  EXPECT_EQ(shortenMessage(shown), shown);
  EXPECT_EQ(shortenMessage("two words\nand a line"), "two words\nand a line");
}

TEST(Readable, CharactersStayWhole) {
  for (size_t shift = 0; shift < 4; ++shift) {
    std::string shown = cutMiddle(
        std::string(shift, 'a') +
            [] {
              std::string text;
              for (int i = 0; i < 400; ++i)
                text += "€";
              return text;
            }(),
        500);
    size_t euros = 0, at = shift;
    for (; shown.compare(at, 3, "€") == 0; at += 3)
      ++euros;
    EXPECT_GT(euros, 50u);
    EXPECT_EQ(shown.compare(at, 4, "[…"), 0) << shown;
    at = shown.find("…]") + 4;
    EXPECT_EQ((shown.size() - at) % 3, 0u);
    EXPECT_EQ(shown.compare(at, 3, "€"), 0);
  }
}

TEST(Readable, ControlCharactersAreEscaped) {
  EXPECT_EQ(shortenMessage("a\x07\x1b[31m b"), "a\\x07\\x1b[31m b");
}
