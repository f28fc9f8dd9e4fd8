// reprise: tests of the JSON scanner, which builds no tree
#include "reprise/Json/JsonScanner.h"

#include "gtest/gtest.h"

using namespace reprise;

namespace {

std::string scan(std::string_view text) {
  JsonScanner scanner(text);
  scanner.skip();
  scanner.finish();
  return scanner.error();
}

TEST(JsonScanner, RefusesRepeatedKeys) {
  EXPECT_EQ(scan("{\"a\": {\"b\": 1},\n \"b\": 2, \"a\": 3}"),
            "the key 'a' is repeated at line 2, column 10");
  EXPECT_EQ(scan("[{\"a\": 1}, {\"a\": 1}]"), "");
  EXPECT_EQ(scan("{\"ä😀\": 1, \"\\u00e4\\ud83d\\ude00\": 2}"),
            "the key '\\u00e4\\ud83d\\ude00' is repeated at line 1, column 15");
  EXPECT_EQ(scan("{\"a/\\\"\": 1, \"\\u0061\\/\\u0022\": 2}").substr(0, 7), "the key");
  EXPECT_EQ(scan("{\"\\ud83d\": 1, \"\\ud83dx\": 2}"), "");
  EXPECT_NE(scan("{\"\\ud83d\": 1, \"\\ud83e\": 2}"), ""); // halves of pairs read alike
}

TEST(JsonScanner, RefusesRepeatedKeysOfLargeObjects) {
  for (int repeated : {0, 15, 16, 17, 999}) {
    std::string text = "{";
    for (int i = 0; i < 1000; ++i)
      text += "\"k" + std::to_string(i) + "\": 1,\n";
    EXPECT_EQ(scan(text + "\"k\": 1}"), "");
    std::string key = "k" + std::to_string(repeated);
    EXPECT_EQ(scan(text + "\"" + key + "\": 1}"),
              "the key '" + key + "' is repeated at line 1001, column 1");
  }
}

TEST(JsonScanner, RefusesByteOrderMarks) {
  JsonScanner scanner("\xEF\xBB\xBF{}");
  scanner.skip();
  EXPECT_EQ(scanner.errorText(), kByteOrderMark);
  EXPECT_EQ(scanner.errorPlace().column, 1);
}

} // namespace
